package controller

import (
	"runtime"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// A hook that ended its goroutine at the end of a reconcile would keep a range from passing to another replica.
func TestEveryGateIsLeftAtTheEndOfAReconcile(t *testing.T) {
	for name, end := range map[string]func(){"return": func() {}, "Goexit": runtime.Goexit, "panic": func() { panic("x") }} {
		t.Run(name, func(t *testing.T) {
			var left []string
			leave := func(gate string) func() {
				return func() {
					left = append(left, gate)
					end()
				}
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				v := &visit[meta.Key]{leaves: []func(){leave("shards"), leave("hooks"), leave("timeout")}}
				defer v.leave(0)
				v.leave(2)
			}()
			<-done
			if want := []string{"timeout", "hooks", "shards"}; !slices.Equal(left, want) {
				t.Errorf("left %q, want %q", left, want)
			}
		})
	}
}

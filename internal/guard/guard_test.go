package guard

import (
	"runtime"
	"slices"
	"testing"
)

func TestCallSaysHowACallEnded(t *testing.T) {
	for _, test := range []struct {
		name   string
		f      func()
		left   []any
		goesOn bool
	}{
		{"it returns", func() {}, nil, true},
		{"it panics", func() { panic("a") }, []any{"a"}, true},
		{"it ends its goroutine", runtime.Goexit, []any{nil}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var left []any
			goesOn := false
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				Call(test.f, func(value any) { left = append(left, value) })
				goesOn = true
			}()
			<-ended
			if !slices.Equal(left, test.left) || goesOn != test.goesOn {
				t.Errorf("left %v, and Call returned: %v; want %v, %v", left, goesOn, test.left, test.goesOn)
			}
		})
	}
}

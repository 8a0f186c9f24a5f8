package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

func TestTheHookCanListTheKeysOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{ name string } // no type that the hook knows
		var run controller.RunInfo
		hooks := controller.Hooks{Run: func(_ context.Context, r controller.RunInfo) func() {
			run = r
			return nil
		}}
		keys, hold := make(chan key), make(chan struct{})
		ctl := controller.New("web", controller.Options{Workers: 1, Hooks: hooks, MinBackoff: time.Hour, MaxBackoff: time.Hour, OnError: func(error) {}},
			func(_ context.Context, k key) (controller.Result, error) {
				switch k.name {
				case "bad", "worse":
					return controller.Result{}, errFailed
				case "slow":
					<-hold
				}
				return controller.Result{}, nil
			}, controller.Chan(keys))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- ctl.Run(ctx) }()
		for _, name := range []string{"bad", "worse", "slow", "next"} {
			keys <- key{name}
			synctest.Wait()
		}
		time.Sleep(time.Second)
		var got []string
		for k := range run.Keys() {
			got = append(got, fmt.Sprintf("%s %v %v %d %v", k.Key.(key).name, k.Pending, !k.Started.IsZero(), k.Failures, k.LastError))
		}
		slices.Sort(got)
		want := []string{"bad delayed false 1 failed", "next ready false 0 <nil>", "slow not pending true 0 <nil>", "worse delayed false 1 failed"}
		if !slices.Equal(got, want) {
			t.Errorf("the keys are %q, want %q", got, want)
		}
		for k := range run.Keys() { // a loop can be left
			if k.Started.IsZero() || k.Pending != workqueue.NotPending {
				t.Errorf("the first key is %v", k)
			}
			break
		}
		if n := ctl.Status().Failing; n != 2 {
			t.Errorf("%d keys are failing, want 2", n)
		}
		close(hold)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

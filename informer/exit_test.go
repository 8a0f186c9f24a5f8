package informer_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/informer"
)

// A function that ended the goroutine which follows a collection left an informer that ran and followed nothing.
func TestAFunctionThatEndsItsGoroutineEndsTheInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		inf := informer.New(r.things, informer.Options{Namespace: "default"})
		cache.NewIndex(inf.Reader(), func(*Thing) []string {
			runtime.Goexit()
			return nil
		})
		ctx, cancel := timeout(r, time.Hour)
		defer cancel()
		r.says(inf.Run(ctx), "follow configmaps.v1 in default: an index function, a Filter or OnError called runtime.Goexit instead of returning")
	})
}

func TestARunnerThatEndsItsGoroutineEndsTheOthers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.says(informer.Run(r.Context(), informer.New(r.things, informer.Options{}), informer.RunnerFunc(func(context.Context) error {
			runtime.Goexit()
			return nil
		})), "informer_test.TestARunnerThatEndsItsGoroutineEndsTheOthers.func1.1: called runtime.Goexit instead of returning")
	})
}

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/clustering"
)

// A reconcile whose cluster was removed counted as one that succeeded.
func TestAnInterruptionIsNeitherAFailureNorASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errRemoved := errors.New("the cluster has been removed")
		results := []error{errFailed, fmt.Errorf("reconcile: %w", &clustering.Interruption{Err: errRemoved})}
		var ends []controller.ReconcileEnd
		l := logged{newLog()}
		c := controller.New("c", controller.Options{
			Logger: l.logger(), OnError: func(error) {},
			Hooks: controller.Hooks{Reconcile: func(ctx context.Context, _ controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
				return ctx, func(end controller.ReconcileEnd) { ends = append(ends, end) }
			}},
		}, func(context.Context, string) (controller.Result, error) {
			err := results[0]
			results = results[1:]
			return controller.Result{}, err
		}, keys{names: []string{"a"}})
		stop := run(t, c)
		sleep(time.Hour)
		if s := c.Status(); s.Reconciles != 2 || s.Errors != 1 || s.Failing != 0 || s.Queue.Delayed != 0 {
			t.Errorf("the status is %v", s)
		}
		if len(ends) != 2 || ends[1].Outcome != controller.Interrupted || ends[1].Err != errRemoved {
			t.Errorf("the reconciles ended with %+v", ends)
		}
		mustStop(t, stop)
	})
}

// The range of a key that passes to another replica interrupts its reconcile.
func TestARangeThatPassesInterruptsAReconcile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, share := newPods(t), newShare(meta.ShardByNamespace)
		var ends []controller.Outcome
		c := controller.New("c", controller.Options{
			Shards: share, OnError: func(err error) { t.Error(err) },
			Hooks: controller.Hooks{Reconcile: func(ctx context.Context, _ controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
				return ctx, func(end controller.ReconcileEnd) { ends = append(ends, end.Outcome) }
			}},
		}, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
			<-ctx.Done()
			return controller.Result{}, context.Cause(ctx)
		}, controller.Watch(s.Reader()))
		stop := run(t, c)
		s.list(newPod("ns", "a", "1"))
		share.set(meta.AllRanges(), meta.Ranges{})
		share.set(meta.Ranges{}, meta.Ranges{})
		sleep(time.Hour)
		if st := c.Status(); len(ends) != 1 || ends[0] != controller.Interrupted || st.Errors != 0 || st.Failing != 0 || st.Elsewhere == 0 {
			t.Errorf("the reconciles ended with %v; the status is %v", ends, st)
		}
		mustStop(t, stop)
	})
}

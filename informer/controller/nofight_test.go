package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

func TestNoFight(t *testing.T) {
	heartbeat := func(a *arena) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := a.scaler.Status().Modify(ctx, web, func(d *workload) error { d.Status.ObservedGeneration++; return nil })
			return err
		}
	}
	nobody := func(*arena) func(context.Context) error {
		return func(context.Context) error { return nil }
	}
	turn := 0
	for _, test := range []struct {
		name         string
		ours, theirs func(a *arena) func(ctx context.Context) error
		every        time.Duration // that they write, 100 times
		timed        bool          // we reconcile as often, whatever changes
		reads        int           // of ours, at most; -1 if we read ourselves
	}{
		{
			"we alternate two values",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error { turn++; return merge(a.mirror, replicas(turn%2))(ctx) }
			},
			nobody, time.Minute, true, 0,
		},
		{
			"we go through three values, and somebody else writes the status",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error { turn++; return merge(a.mirror, replicas(turn%3))(ctx) }
			},
			heartbeat, time.Second, true, 0,
		},
		{
			"we apply the same, and somebody else writes the status",
			func(a *arena) func(context.Context) error { return apply(a.mirror, replicas(3)) },
			heartbeat, 5 * time.Second, false, 8,
		},
		{
			"we merge the same, and somebody else writes other labels",
			func(a *arena) func(context.Context) error { return merge(a.mirror, labelled("a")) },
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					turn++
					return merge(a.scaler, map[string]any{"metadata": map[string]any{"labels": map[string]any{"n": fmt.Sprint(turn)}}})(ctx)
				}
			},
			3 * time.Second, false, 8,
		},
		{
			"we keep a condition, and somebody else writes another one",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					_, err := a.mirror.Status().Apply(ctx, web, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "status": map[string]any{
						"conditions": []any{map[string]any{"type": "Mirrored", "status": "True"}},
					}}, client.ApplyOptions{Force: true})
					return err
				}
			},
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					turn++
					_, err := a.scaler.Status().Apply(ctx, web, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "status": map[string]any{
						"conditions": []any{map[string]any{"type": "Scaled", "status": []string{"True", "False"}[turn%2]}},
					}}, client.ApplyOptions{Force: true})
					return err
				}
			},
			3 * time.Second, false, 8,
		},
		{
			"two steps in each reconcile",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := ready(a.mirror, "False")(ctx); err != nil {
						return err
					}
					return ready(a.mirror, "True")(ctx)
				}
			},
			heartbeat, 7 * time.Second, true, -1,
		},
		{
			"conflicts that are retried",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					d, ok := a.inf.Reader().Get(web)
					if !ok {
						return nil
					}
					turn++
					_, err := a.mirror.Patch(ctx, web, patch.Merge(map[string]any{"metadata": map[string]any{
						"resourceVersion": d.ResourceVersion, "annotations": map[string]any{"n": fmt.Sprint(turn / 10)},
					}}))
					return err
				}
			},
			heartbeat, 50 * time.Millisecond, true, -1,
		},
		{
			"writes that change nothing",
			func(a *arena) func(context.Context) error { return apply(a.mirror, replicas(3)) },
			nobody, time.Minute, true, 0,
		},
		{
			"objects of the same name",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if _, ok := a.inf.Reader().Get(web); !ok {
						return nil
					}
					return merge(a.mirror, replicas(3))(ctx)
				}
			},
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := a.scaler.Delete(ctx, web, client.DeleteOptions{}); err != nil {
						return err
					}
					return a.create(ctx)
				}
			},
			3 * time.Second, false, 0,
		},
		{
			"a person who tries it three times",
			func(a *arena) func(context.Context) error { return apply(a.mirror, replicas(3)) },
			func(a *arena) func(context.Context) error {
				tries := 0
				return func(ctx context.Context) error {
					if tries++; tries > 3 {
						return nil
					}
					return merge(a.scaler, replicas(5))(ctx)
				}
			},
			20 * time.Second, true, 8,
		},
		{
			"two controllers that pass an object to and fro every five minutes",
			func(a *arena) func(context.Context) error { return merge(a.mirror, labelled("ours")) },
			func(a *arena) func(context.Context) error { return merge(a.scaler, labelled("theirs")) },
			5 * time.Minute, false, 100,
		},
		{
			"somebody locks the object while we apply the same",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					sleepIn(ctx, 300*time.Millisecond)
					return apply(a.mirror, replicas(3))(ctx)
				}
			},
			locks, 5 * time.Second, false, 400,
		},
		{
			"somebody locks the object while we patch the same",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					sleepIn(ctx, 300*time.Millisecond)
					return merge(a.mirror, replicas(3))(ctx)
				}
			},
			locks, 5 * time.Second, false, 400,
		},
		{
			"somebody locks the object while we patch the same, for the version that we have read",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					sleepIn(ctx, 300*time.Millisecond)
					d, err := a.mirror.Get(ctx, web)
					if err != nil {
						return err
					}
					return merge(a.mirror, map[string]any{"metadata": map[string]any{"resourceVersion": d.ResourceVersion}, "spec": map[string]any{"replicas": 3}})(ctx)
				}
			},
			locks, 5 * time.Second, false, 400,
		},
		{
			"a writer of our name locks the object while we patch the same",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					sleepIn(ctx, 300*time.Millisecond)
					return merge(a.mirror, replicas(3))(ctx)
				}
			},
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := merge(a.mirror, annotated("locked"))(ctx); err != nil {
						return err
					}
					sleepIn(ctx, 200*time.Millisecond)
					return merge(a.mirror, annotated("free"))(ctx)
				}
			},
			5 * time.Second, false, 400,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inArena(t, func(a *arena) {
				ours, theirs := test.ours(a), test.theirs(a)
				runs := 0
				var from []controller.Source[meta.Key]
				if test.timed {
					from = append(from, controller.Every(test.every, web), controller.Reads[meta.Key](a.inf))
				}
				ctl := a.reconciles(controller.Options{
					OnError: func(err error) {
						if !strings.Contains(err.Error(), "Conflict") && !strings.Contains(err.Error(), "NotFound") {
							a.tell("%v", err)
						}
					},
				}, func(ctx context.Context) error { runs++; return ours(ctx) }, from...)
				a.every(test.every, theirs)
				sleep(time.Second)
				before := a.reads.Load()
				sleep(100 * test.every)
				if told, s := a.all(), ctl.Status(); len(told) > 0 || s.FightsNoticed > 0 || s.Queue.Held > 0 {
					a.Errorf("told %q, the status is %v", told, s)
				}
				if runs < 30 {
					a.Errorf("%d reconciles", runs)
				}
				if n := a.reads.Load() - before; test.reads >= 0 && n > int64(test.reads) {
					a.Errorf("%d reads, want at most %d", n, test.reads)
				}
			})
		})
	}
}

// locks returns a function that holds a lock, as an annotation, for a moment.
func locks(a *arena) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := merge(a.scaler, annotated("locked"))(ctx); err != nil {
			return err
		}
		sleepIn(ctx, 200*time.Millisecond)
		return merge(a.scaler, annotated(nil))(ctx)
	}
}

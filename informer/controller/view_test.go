package controller_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Work is divided by a label, and the object gets another one while its key waits. The reconcile that read the whole cache, because a view
// could not be read, found the object and went on for ever.
func TestAKeyEndsWhenItsObjectLeavesTheView(t *testing.T) {
	for _, test := range []struct {
		name  string
		leave func(t *testing.T, r *livePods)
		after string // the reconciles then
	}{
		{"by a label", func(t *testing.T, r *livePods) { r.label(t, "a", "shard", "two") }, "absent"},
		{"by its deletion", func(t *testing.T, r *livePods) { r.delete(t, "a") }, "absent"},
		{"and comes back", func(t *testing.T, r *livePods) {
			r.label(t, "a", "shard", "two")
			time.Sleep(time.Minute)
			r.label(t, "a", "shard", "one")
		}, "absent present present"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				inf := informer.New(maps, informer.Options{})
				mine := inf.Reader().Where(func(p *pod) bool { return p.Labels["shard"] == "one" })
				l := newLog()
				ctl := controller.New("x", controller.Options{}, func(_ context.Context, k meta.Key) (controller.Result, error) {
					if _, found := mine.Get(k); !found {
						l.add("absent")
						return controller.Result{}, nil
					}
					l.add("present")
					return controller.Result{RequeueAfter: time.Hour}, nil
				}, controller.Watch(mine), controller.EveryObject(mine, 1000*time.Hour))
				stop := runAll(t, ctl)
				r := &livePods{maps}
				create(t, maps, "a")
				r.label(t, "a", "shard", "one")
				synctest.Wait()
				l.lines = nil // nothing reconciles now
				test.leave(t, r)
				time.Sleep(90 * time.Minute)
				synctest.Wait()
				var got []string
				for _, line := range l.lines {
					_, what, _ := strings.Cut(line, " ")
					got = append(got, what)
				}
				if strings.Join(got, " ") != test.after {
					t.Errorf("reconciled %q, want %q", l.lines, test.after)
				}
				mustStop(t, stop)
			})
		})
	}
}

// EveryObject names the objects of a view, and stops when they leave it.
func TestEveryObjectOfAView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		r := &livePods{maps}
		create(t, maps, "a")
		create(t, maps, "b")
		r.label(t, "a", "shard", "one")
		inf := informer.New(maps, informer.Options{})
		seen := &counting{}
		ctl := controller.New("x", controller.Options{}, seen.reconcile,
			controller.EveryObject(inf.Reader().Where(func(p *pod) bool { return p.Labels["shard"] == "one" }), time.Minute))
		stop := runAll(t, ctl)
		time.Sleep(time.Minute)
		if got := seen.take(); got != "a" {
			t.Errorf("named %q, want a", got)
		}
		r.label(t, "a", "shard", "two")
		r.label(t, "b", "shard", "one")
		time.Sleep(time.Minute)
		if got := seen.take(); got != "b" {
			t.Errorf("named %q, want b", got)
		}
		mustStop(t, stop)
	})
}

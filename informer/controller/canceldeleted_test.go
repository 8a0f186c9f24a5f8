package controller_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// A reconcile that took ten minutes went on although its object was gone.
func TestADeletionEndsTheReconcileOfItsObject(t *testing.T) {
	deleting := func(p *pod) *pod {
		p = meta.Clone(p)
		p.ResourceVersion += "1"
		p.DeletionTimestamp = &meta.Time{Time: time.Now()}
		return p
	}
	label := func(p *pod) *pod {
		p = meta.Clone(p)
		p.ResourceVersion += "1"
		p.Labels = map[string]string{"a": "b"}
		return p
	}
	watch := func(s controller.Subscriber[*pod]) controller.Source[meta.Key] { return controller.Watch(s) }
	for _, test := range []struct {
		name   string
		source func(s controller.Subscriber[*pod]) controller.Source[meta.Key]
		event  func(s pods, p *pod)
		want   []string
	}{
		{"the object goes", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(s))
		}, func(s pods, p *pod) { s.delete(p) }, []string{"0s begin", `1s ended: the object of "ns/a" has been deleted`, "1s begin"}},
		{"its deletion begins", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(s))
		}, func(s pods, p *pod) { s.set(deleting(p)) }, []string{"0s begin", `1s ended: the object of "ns/a" has been deleted`, "1s begin"}},
		{"it is created again", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(s))
		}, func(s pods, p *pod) {
			p = meta.Clone(p)
			p.UID, p.ResourceVersion = "another", "9"
			s.set(p)
		}, []string{"0s begin", `1s ended: the object of "ns/a" has been deleted`, "1s begin"}},
		{"it changes", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(s))
		}, func(s pods, p *pod) { s.set(label(p)) }, []string{"0s begin", "10s done", "10s begin"}},
		{"another object goes", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(s))
		}, func(s pods, _ *pod) { s.delete(newPod("ns", "b", "1")) }, []string{"0s begin", "10s done"}},
		{"nobody asks for it", watch, func(s pods, p *pod) { s.delete(p) }, []string{"0s begin", "10s done", "10s begin"}},
		{"within Changed, which leaves the update out", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.Changed(controller.CancelDeleted(s), controller.LabelsChanged))
		}, func(s pods, p *pod) { s.set(deleting(p)) }, []string{"0s begin", `1s ended: the object of "ns/a" has been deleted`, "1s begin"}},
		{"within Changed, which leaves out a change", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.Changed(controller.CancelDeleted(s), controller.AnnotationsChanged))
		}, func(s pods, p *pod) { s.set(label(p)) }, []string{"0s begin", "10s done"}},
		{"around Changed", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return watch(controller.CancelDeleted(controller.Changed(s, controller.DeletionBegan)))
		}, func(s pods, p *pod) { s.set(deleting(p)) }, []string{"0s begin", `1s ended: the object of "ns/a" has been deleted`, "1s begin"}},
		{"a source by other keys", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return controller.Map(controller.CancelDeleted(s), func(p *pod) []meta.Key {
				return []meta.Key{{Name: "of-" + p.Name}}
			})
		}, func(s pods, p *pod) { s.delete(p) }, []string{"0s begin", `1s ended: the object of "of-a" has been deleted`, "1s begin"}},
		{"a source with keys that were made others", func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return controller.MapKeys("", watch(controller.CancelDeleted(s)), func(k meta.Key) meta.Key {
				return meta.Key{Name: "of-" + k.Name}
			}, nil)
		}, func(s pods, p *pod) { s.delete(p) }, []string{"0s begin", `1s ended: the object of "of-a" has been deleted`, "1s begin"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPods(t)
				a := newPod("ns", "a", "1")
				a.Generation = 1
				l := newLog()
				c := controller.New("c", controller.Options{OnError: func(err error) { l.add("reported %v", err) }},
					func(ctx context.Context, k meta.Key) (controller.Result, error) {
						if k.Name != "a" && k.Name != "of-a" {
							return controller.Result{}, nil
						}
						l.add("begin")
						if len(l.lines) > 1 {
							return controller.Result{}, nil
						}
						select {
						case <-time.After(10 * time.Second):
							l.add("done")
							return controller.Result{}, nil
						case <-ctx.Done():
						}
						if want := fmt.Sprintf("the object of %q has been deleted", k.String()); context.Cause(ctx).Error() != want {
							t.Errorf("the cause is %v", context.Cause(ctx))
						}
						l.add("ended: %v", context.Cause(ctx))
						return controller.Result{}, ctx.Err()
					}, test.source(s.Reader()))
				s.list(newPod("ns", "b", "1"))
				stop := run(t, c)
				l.mu.Lock()
				l.start = time.Now()
				l.mu.Unlock()
				s.set(a)
				time.Sleep(time.Second)
				test.event(s, a)
				time.Sleep(time.Minute)
				mustStop(t, stop)
				l.want(t, test.want...)
				if s := c.Status(); s.Errors != 0 || s.Queue.Delayed != 0 {
					t.Errorf("status is %v, want no error, and no retry", s)
				}
			})
		})
	}
}

// A reconcile may ignore the end of its context, or fail for another reason.
func TestOnlyOtherErrorsAreReportedAfterADeletion(t *testing.T) {
	for _, test := range []struct {
		name     string
		returns  func(ctx context.Context) error
		reported int
		runs     int
	}{
		{"the error of its context", func(ctx context.Context) error { return fmt.Errorf("get: %w", ctx.Err()) }, 0, 2},
		{"its cause", context.Cause, 0, 2},
		{"nothing", func(context.Context) error { return nil }, 0, 2},
		{"another error", func(context.Context) error { return errFailed }, 1, 2},
		{"a panic", func(ctx context.Context) error { panic(ctx.Err()) }, 1, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPods(t)
				a := newPod("ns", "a", "1")
				s.list(a)
				reported, runs := 0, 0
				c := controller.New("c", controller.Options{Timeout: time.Hour, MinBackoff: time.Minute, OnError: func(error) { reported++ }},
					func(ctx context.Context, _ meta.Key) (controller.Result, error) {
						if runs++; runs > 1 {
							return controller.Result{}, nil
						}
						<-ctx.Done()
						return controller.Result{}, test.returns(ctx)
					}, controller.Watch(controller.CancelDeleted(s.Reader())))
				stop := run(t, c)
				s.delete(a)
				time.Sleep(time.Second)
				if s := c.Status(); reported != test.reported || runs != test.runs || s.Timeouts != 0 || s.Queue.Delayed != 0 {
					t.Errorf("%d reports, %d runs, status %v", reported, runs, s)
				}
				mustStop(t, stop)
			})
		})
	}
}

func TestCancelDeletedActsAsTheSourceThatItWraps(t *testing.T) {
	var none controller.Subscriber[*pod]
	if err := controller.Watch(controller.CancelDeleted(none)).Run(t.Context(), func(meta.Key) {}, func() {}); err == nil {
		t.Error("it runs")
	}
	filler := fillerFunc(func(context.Context) error { return nil })
	r := storetest.New[*pod]().ReaderOf(filler)
	if got, want := fmt.Sprint(controller.Watch(controller.CancelDeleted(r))), fmt.Sprint(controller.Watch(r)); got != want {
		t.Errorf("it is called %s, want %s", got, want)
	}
	c := controller.New("c", controller.Options{}, nil, controller.Watch(controller.CancelDeleted(r)))
	if n := len(c.Runners()); n != 1 {
		t.Errorf("%d runners", n)
	}
	// Alone, without a controller, the source names keys like others.
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		s.list(newPod("ns", "a", "1"))
		take, stop := adds(t, controller.Watch(controller.CancelDeleted(s.Reader())))
		synctest.Wait()
		s.delete(newPod("ns", "a", "1"))
		if got := take(); len(got) != 2 {
			t.Errorf("it added %v", got)
		}
		stop()
	})
}

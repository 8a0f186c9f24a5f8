package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

// added is a source that adds keys with options, each after a time.
type added []struct {
	after time.Duration
	key   string
	workqueue.AddOptions
}

func (added) Run(context.Context, func(string), func()) error {
	panic("a source with RunWith is run by that")
}

func (a added) RunWith(ctx context.Context, add func(string, workqueue.AddOptions), synced func()) error {
	synced()
	start := time.Now()
	for _, one := range a {
		select {
		case <-time.After(time.Until(start.Add(one.after))):
		case <-ctx.Done():
			return nil
		}
		add(one.key, one.AddOptions)
	}
	<-ctx.Done()
	return nil
}

// behaviour 302: after a restart, a change is reconciled before the backlog of all objects.
func TestChangesOvertakeTheObjectsOfTheFirstList(t *testing.T) {
	for name, source := range map[string]func(s controller.Subscriber[*pod]) controller.Source[meta.Key]{
		"Watch": func(s controller.Subscriber[*pod]) controller.Source[meta.Key] { return controller.Watch(s) },
		"Map": func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return controller.Map(controller.Changed(s, controller.VersionChanged), func(p *pod) []meta.Key { return []meta.Key{p.Key()} })
		},
		"Watch of CancelDeleted": func(s controller.Subscriber[*pod]) controller.Source[meta.Key] {
			return controller.Watch(controller.CancelDeleted(s))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPods(t)
				list := make([]*pod, 10)
				for i := range list {
					list[i] = newPod("ns", fmt.Sprint("old", i), "1")
				}
				s.list(list...)
				l := newLog()
				c := controller.New("c", controller.Options{}, func(_ context.Context, k meta.Key) (controller.Result, error) {
					l.add("%s", k.Name)
					time.Sleep(time.Second)
					return controller.Result{}, nil
				}, source(s.Reader()))
				stop := run(t, c)
				s.set(newPod("ns", "new", "2"))
				last := l.lines[0] // one of the ten is in progress
				for _, p := range list {
					if !strings.HasSuffix(last, p.Name) {
						p = meta.Clone(p)
						p.ResourceVersion = "2"
						s.set(p)
						last = p.Name
						break
					}
				}
				s.delete(newPod("ns", "old9", "1"))
				time.Sleep(time.Minute)
				mustStop(t, stop)
				changed := []string{"new", "old9", last}
				for i, line := range l.lines {
					_, name, _ := strings.Cut(line, " ")
					if slices.Contains(changed, name) != (i >= 1 && i <= 3) {
						t.Errorf("reconciled %q, want %q as the second to fourth", l.lines, changed)
						break
					}
				}
				if n := len(l.lines); n != 11 {
					t.Errorf("%d reconciles, want one of each", n)
				}
			})
		})
	}
}

// Ageing bounds how long a key of the first list waits while others come all the time.
func TestTheFirstListIsNotStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		source := added{{0, "first", workqueue.AddOptions{}}, {0, "old", workqueue.AddOptions{Priority: workqueue.LowPriority}}}
		for i := range 600 { // twice as fast as they are reconciled
			source = append(source, added{{time.Duration(i) * 500 * time.Millisecond, fmt.Sprint(i), workqueue.AddOptions{}}}...)
		}
		c := controller.New("c", controller.Options{Ageing: time.Second}, func(_ context.Context, k string) (controller.Result, error) {
			if k == "old" {
				l.add("%s", k)
			}
			time.Sleep(time.Second)
			return controller.Result{}, nil
		}, source)
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		// The key has priority -100. It comes after those that became ready within 100 s, which take 200 s.
		if len(l.lines) != 1 || !slices.Contains([]string{"3m20s old", "3m21s old", "3m22s old"}, l.lines[0]) {
			t.Errorf("reconciled %q", l.lines)
		}
	})
}

// behaviour 302
func TestThePriorityOfAKeyIsKept(t *testing.T) {
	low, high := workqueue.AddOptions{Priority: workqueue.LowPriority}, workqueue.AddOptions{Priority: 10}
	for _, test := range []struct {
		name    string
		options workqueue.AddOptions // of the key
		first   func() (controller.Result, error)
		want    string
	}{
		{"over a requeue", low, func() (controller.Result, error) {
			return controller.Result{RequeueAfter: 4 * time.Second}, nil
		}, "key block normal key"},
		{"over an error", low, func() (controller.Result, error) { return controller.Result{}, errFailed }, "key block normal key"},
		{"over a panic", low, func() (controller.Result, error) { panic("oh") }, "key block normal key"},
		{"of a normal key", workqueue.AddOptions{}, func() (controller.Result, error) {
			return controller.Result{RequeueAfter: 4 * time.Second}, nil
		}, "key block key normal"},
		{"if it is high", high, func() (controller.Result, error) {
			return controller.Result{RequeueAfter: 8 * time.Second}, nil
		}, "key block key normal"},
		{"unless the reconcile chooses a higher one", low, func() (controller.Result, error) {
			return controller.Result{RequeueAfter: 4 * time.Second, Priority: 1}, nil
		}, "key block key normal"},
		{"unless the reconcile chooses a lower one", workqueue.AddOptions{}, func() (controller.Result, error) {
			return controller.Result{RequeueAfter: 4 * time.Second, Priority: workqueue.LowPriority}, nil
		}, "key block normal key"},
		{"for one run only", low, func() (controller.Result, error) { return controller.Result{Priority: 1}, nil }, "key block normal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				c := controller.New("c", controller.Options{MinBackoff: 4 * time.Second, OnError: func(error) {}},
					func(_ context.Context, k string) (controller.Result, error) {
						l.add("%s", k)
						if k == "block" {
							time.Sleep(time.Minute)
						}
						if len(l.lines) == 1 {
							return test.first()
						}
						return controller.Result{}, nil
					}, added{{0, "key", test.options}, {time.Second, "block", low}, {6 * time.Second, "normal", workqueue.AddOptions{}}})
				stop := run(t, c)
				time.Sleep(time.Hour)
				mustStop(t, stop)
				var got []string
				for _, line := range l.lines {
					got = append(got, strings.Fields(line)[1])
				}
				if s := strings.Join(got, " "); s != test.want {
					t.Errorf("reconciled %q, want %s", l.lines, test.want)
				}
			})
		})
	}
}

func TestEveryObjectIsReconciledAfterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		s.list(newPod("ns", "object", "1"))
		l := newLog()
		c := controller.New("c", controller.Options{}, func(_ context.Context, k meta.Key) (controller.Result, error) {
			l.add("%s", k.Name)
			if k.Name == "block" {
				time.Sleep(10 * time.Second)
			}
			return controller.Result{}, nil
		}, controller.EveryObject(s.Reader(), time.Second), keysAt{{500 * time.Millisecond, "block"}, {5 * time.Second, "late"}})
		stop := run(t, c)
		time.Sleep(time.Minute)
		mustStop(t, stop)
		if got := l.lines[:3]; !slices.Equal(got, []string{"500ms block", "10.5s late", "10.5s object"}) {
			t.Errorf("reconciled %q", got)
		}
	})
}

// keysAt is a source that names keys, each at a time.
type keysAt []struct {
	at   time.Duration
	name string
}

func (a keysAt) Run(ctx context.Context, add func(meta.Key), synced func()) error {
	synced()
	start := time.Now()
	for _, one := range a {
		select {
		case <-time.After(time.Until(start.Add(one.at))):
			add(meta.Key{Name: one.name})
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// A cache may deliver before Subscribe has returned.
func TestASourceThatIsCalledEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPods(t)
		take, stop := adds(t, controller.Watch(early{s.Reader()}))
		s.list(newPod("ns", "a", "1"))
		if got := take(); len(got) != 2 {
			t.Errorf("added %v", got)
		}
		stop()
	})
}

// early calls the handler before it subscribes it.
type early struct{ cache.Reader[*pod] }

func (e early) Subscribe(h cache.Handler[*pod]) *cache.Subscription {
	h.OnAdd(newPod("ns", "early", "1"))
	return e.Reader.Subscribe(h)
}

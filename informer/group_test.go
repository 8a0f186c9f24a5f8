package informer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// diary is what has happened, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (h *diary) add(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

// runs is a Runner that runs until its context ends, and a second longer.
func (h *diary) runs(name string) informer.RunnerFunc {
	return func(ctx context.Context) error {
		h.add(name + " begins")
		<-ctx.Done()
		<-time.After(time.Second)
		h.add(name + " ends")
		return nil
	}
}

// election is an Elector: it leads after a time, until a time after that.
type election struct {
	*diary
	after, until time.Duration // until 0 means without an end
	err          error         // after until
}

func (e election) Run(ctx context.Context, lead func(context.Context) error) error {
	e.add("election begins")
	defer e.add("election ends")
	select {
	case <-time.After(e.after):
	case <-ctx.Done():
		return nil
	}
	leading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if e.until > 0 {
		defer time.AfterFunc(e.until, func() { cancel(e.err) }).Stop()
	}
	err := lead(leading)
	if ctx.Err() == nil && e.until > 0 {
		return e.err
	}
	return err
}

// prepares is a Runner that takes a second to prepare itself.
type prepares struct {
	*diary
	err     error         // in place of being prepared
	lingers time.Duration // after its work
}

func (p prepares) Run(context.Context) error {
	return errors.New("Run of what can prepare itself was called")
}

func (p prepares) RunLed(ctx context.Context, lead func(context.Context, func(context.Context) error) error) error {
	p.add("sources begin")
	defer p.add("sources end")
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil
	}
	if p.err != nil {
		return p.err
	}
	p.add("prepared")
	err := lead(ctx, func(ctx context.Context) error {
		p.add("work begins")
		defer p.add("work ends")
		<-ctx.Done()
		return nil
	})
	<-time.After(p.lingers)
	return err
}

// cached has a complete list from the beginning.
type cached struct{ informer.RunnerFunc }

func (cached) WaitSynced(context.Context) error { return nil }

// behaviour 304
func TestAGroupBeginsInOrderAndEndsInReverse(t *testing.T) {
	errLost := errors.New("lost")
	for _, test := range []struct {
		name  string
		group func(h *diary) *informer.Group
		after time.Duration // until the context ends
		want  []string
		err   error
	}{
		{"without a leader", func(h *diary) *informer.Group {
			return &informer.Group{Services: []informer.Runner{h.runs("service")}, Runners: []informer.Runner{cached{h.runs("cache")}, h.runs("runner")}}
		}, time.Minute, []string{"runner ends", "service ends", "cache ends"}, nil},
		{"with a leader", func(h *diary) *informer.Group {
			return &informer.Group{
				Services: []informer.Runner{h.runs("service")}, Leader: election{diary: h, after: 10 * time.Second},
				Runners: []informer.Runner{cached{h.runs("cache")}, h.runs("runner"), prepares{diary: h}},
			}
		}, time.Minute, []string{
			"prepared", "election begins", "work begins+runner begins", "sources end+work ends", "runner ends", "election ends", "service ends", "cache ends",
		}, nil},
		{"the lease is lost", func(h *diary) *informer.Group {
			return &informer.Group{
				Services: []informer.Runner{h.runs("service")}, Leader: election{diary: h, after: time.Second, until: 10 * time.Second, err: errLost},
				Runners: []informer.Runner{h.runs("runner"), prepares{diary: h}},
			}
		}, time.Minute, []string{
			"prepared", "election begins", "work begins+runner begins", "sources end+work ends", "runner ends", "election ends", "service ends",
		}, errLost},
		{"sources that end slowly do not hold the lease", func(h *diary) *informer.Group {
			return &informer.Group{
				Leader:  election{diary: h, after: time.Second, until: 10 * time.Second, err: errLost},
				Runners: []informer.Runner{prepares{diary: h, lingers: time.Second}},
			}
		}, time.Minute, []string{"prepared", "election begins", "work begins", "work ends", "election ends", "sources end"}, errLost},
		{"the end comes before the process leads", func(h *diary) *informer.Group {
			return &informer.Group{
				Leader:  election{diary: h, after: time.Hour},
				Runners: []informer.Runner{h.runs("runner"), prepares{diary: h}},
			}
		}, time.Minute, []string{"sources begin", "prepared", "election begins", "election ends+sources end"}, nil},
		{"the end comes before all are prepared", func(h *diary) *informer.Group {
			return &informer.Group{Leader: election{diary: h}, Runners: []informer.Runner{prepares{diary: h}}}
		}, time.Second / 2, []string{"sources begin", "sources end"}, nil},
		{"one cannot be prepared", func(h *diary) *informer.Group {
			return &informer.Group{
				Leader:   election{diary: h},
				Services: []informer.Runner{h.runs("service")},
				Runners:  []informer.Runner{prepares{diary: h, err: errLost}, h.runs("runner")},
			}
		}, time.Minute, []string{"service begins+sources begin", "sources end", "service ends"}, errLost},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.after)
				defer cancel()
				h := &diary{}
				if err := test.group(h).Run(ctx); err != test.err {
					t.Errorf("Run returned %v, want %v", err, test.err)
				}
				at := 0 // in the history
				for _, want := range test.want {
					together := strings.Split(want, "+")
					last := at
					for _, line := range together {
						i := slices.Index(h.lines, line)
						if i < at || slices.Contains(h.lines[i+1:], line) {
							t.Fatalf("%q is not once after what comes before it in %q", line, h.lines)
						}
						last = max(last, i+1)
					}
					at = last
				}
				if at != len(h.lines) {
					t.Errorf("after %q there is more in %q", test.want, h.lines)
				}
			})
		})
	}
}

// A source whose cache ends fails at the same moment as the runner of the cache. Whichever comes first, the runner's
// error says why.
func TestAGroupReturnsTheErrorOfTheCacheAndNotThatOfItsSource(t *testing.T) {
	cause := errors.New("the cache is refused")
	closed := storetest.New[*storetest.Thing]().Reader().Subscribe(nil)
	closed.Close()
	source := informer.RunnerFunc(closed.WaitSynced)
	for name, ended := range map[string]informer.RunnerFunc{
		"the source is first": func(ctx context.Context) error { <-ctx.Done(); return cause },
		"the cache is first":  func(context.Context) error { return cause },
	} {
		t.Run(name, func(t *testing.T) {
			if err := informer.Run(t.Context(), source, ended); !errors.Is(err, cause) {
				t.Errorf("Run returned %v, want that %v", err, cause)
			}
		})
	}
	if err := informer.Run(t.Context(), source); err == nil || !strings.Contains(err.Error(), "the subscription is closed") {
		t.Errorf("alone: Run returned %v", err)
	}
}

func TestAnInvalidGroupIsRefused(t *testing.T) {
	bubble(t, func(r *rig) {
		named := func(name string) informer.Runner {
			return controller.New(name, controller.Options{}, newReconciled().reconcile, controller.Watch(informer.New(r.things, informer.Options{})))
		}
		fine := informer.RunnerFunc(func(context.Context) error { return errors.New("it ran") })
		for _, test := range []struct {
			group *informer.Group
			want  string
		}{
			{&informer.Group{Runners: []informer.Runner{fine, nil}}, "informer.Group: Runners[1] must not be nil"},
			{&informer.Group{Runners: []informer.Runner{fine, informer.RunnerFunc(nil)}}, "informer.Group: Runners[1] must not be nil"},
			{&informer.Group{Services: []informer.Runner{(*informer.Informer[*Thing])(nil)}}, "informer.Group: Services[0] must not be nil"},
			{&informer.Group{Runners: []informer.Runner{named("a"), fine, named("b"), named("a")}}, `informer.Group: two runners are named controller "a"; names must be unique`},
			{&informer.Group{Runners: []informer.Runner{named("a")}, Services: []informer.Runner{fine, named("a")}}, `informer.Group: two runners are named controller "a"`},
			{&informer.Group{Runners: []informer.Runner{fine}, StopTimeout: -1}, "informer.Group: StopTimeout must be 0 or more, got -1ns"},
		} {
			r.says(test.group.Run(r.Context()), test.want)
		}

		g := &informer.Group{Runners: []informer.Runner{informer.RunnerFunc(func(ctx context.Context) error { <-ctx.Done(); return nil })}}
		first := r.running(g)
		synctest.Wait()
		r.says(g.Run(r.Context()), "informer.Group: already running")
		first.stop()
		r.running(g).stop() // it may run again
	})
}

// A program that did not end said nothing, and was killed in the end.
func TestAGroupNamesWhatHangsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, errFirst := make(chan struct{}), errors.New("first")
		defer func() { close(free); <-time.After(time.Minute) }() // for the services
		logged := &said{}
		ctx := logr.NewContext(t.Context(), logged.logger())
		h := &diary{}
		g := &informer.Group{
			StopTimeout: time.Minute,
			Services:    []informer.Runner{h.runs("service")},
			Runners: []informer.Runner{
				informer.RunnerFunc(func(context.Context) error { return errFirst }),
				controller.New("stubborn", controller.Options{}, func(context.Context, string) (controller.Result, error) {
					<-free
					return controller.Result{}, nil
				}, controller.Every(time.Hour, "key")),
			},
		}
		g.Runners[0] = informer.RunnerFunc(func(context.Context) error { <-time.After(time.Second); return errFirst })
		began := time.Now()
		err := g.Run(ctx)
		if took := time.Since(began); took != time.Minute+time.Second {
			t.Errorf("Run took %v", took)
		}
		stop := (*informer.StopError)(nil)
		if !errors.As(err, &stop) || !slices.Equal(stop.Running, []string{`controller "stubborn"`}) || !errors.Is(err, errFirst) {
			t.Fatalf("the error is %v", err)
		}
		if got, want := err.Error(), `stop informer.Group: still running after 1m0s: controller "stubborn"; stopped because of: first`; got != want {
			t.Errorf("the error is %q, want %q", got, want)
		}
		if lines := logged.with(`stop informer.Group: still running: controller "stubborn"`); len(lines) != 2 { // after 5 s and 20 s
			t.Errorf("it said %q", logged.with(""))
		}
		h.mu.Lock() // the service runs on
		ended := slices.Contains(h.lines, "service ends")
		h.mu.Unlock()
		if ended {
			t.Error("a service ended before the runners")
		}
	})
}

// A leader's context has its values and its end; the caches outlive it.
func TestAControllerOfALeaderWorksWithTheContextOfTheLease(t *testing.T) {
	bubble(t, func(r *rig) {
		type lease struct{}
		inf := informer.New(r.things, informer.Options{})
		r.put("a")
		worked := make(chan any, 10)
		ctl := controller.New("c", controller.Options{}, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
			worked <- ctx.Value(lease{})
			return controller.Result{}, nil
		}, controller.Watch(inf))
		leads := make(chan struct{})
		run := r.running(&informer.Group{Runners: []informer.Runner{ctl}, Leader: elector(func(ctx context.Context, lead func(context.Context) error) error {
			select {
			case <-leads:
				return lead(context.WithValue(ctx, lease{}, "mine"))
			case <-ctx.Done():
				return nil
			}
		})})
		r.pass(time.Hour)
		if len(worked) > 0 {
			r.Error("it worked before it led")
		}
		if err := inf.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		close(leads)
		synctest.Wait() // at once: nothing is listed now
		if len(worked) != 1 || <-worked != "mine" {
			r.Error("it did not work with the context of the lease")
		}
		run.stop()
	})
}

type elector func(ctx context.Context, lead func(context.Context) error) error

func (e elector) Run(ctx context.Context, lead func(context.Context) error) error {
	return e(ctx, lead)
}

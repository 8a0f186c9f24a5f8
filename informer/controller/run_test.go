package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// led runs a controller with RunLed in the bubble of t; stop ends its context and returns its error.
func led[K comparable](t *testing.T, c *controller.Controller[K], lead func(ctx context.Context, work func(context.Context) error) error) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.RunLed(ctx, lead) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-ended
	}
}

func TestAnElectionAndShardsExcludeEachOther(t *testing.T) {
	s := storetest.New[*pod]()
	c := controller.New("c", controller.Options{Shards: newShare(meta.ShardByNamespace)}, func(context.Context, meta.Key) (controller.Result, error) {
		return controller.Result{}, nil
	}, controller.Watch(s.Reader()))
	err := c.RunLed(ended(t), func(context.Context, func(context.Context) error) error {
		t.Error("lead is called")
		return nil
	})
	check(t, err, `run controller "c": controller.RunLed: an election and Options.Shards exclude each other`)
	check(t, c.Run(ended(t)), "")
}

// behaviour 304: sources run before this replica leads, so the queue is full when it does.
func TestTheQueueFillsBeforeTheReplicaLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		names := make(chan string)
		type value struct{}
		c := controller.New("c", controller.Options{}, func(ctx context.Context, k string) (controller.Result, error) {
			l.add("%s by %v", k, ctx.Value(value{}))
			return controller.Result{}, nil
		}, keys{names: []string{"a"}, after: time.Minute}, controller.Chan(names))
		elected := make(chan struct{})
		stop := led(t, c, func(ctx context.Context, work func(context.Context) error) error {
			l.add("delivered")
			<-elected
			return work(context.WithValue(ctx, value{}, "the leader"))
		})
		time.Sleep(30 * time.Second)
		if s := c.Status(); s.State != controller.Syncing {
			t.Errorf("state is %v", s.State)
		}
		time.Sleep(time.Minute)
		for range 3 {
			names <- "b"
		}
		synctest.Wait()
		if s := c.Status(); s.State != controller.Standby || s.Queue.Ready != 2 || s.Reconciles != 0 {
			t.Errorf("status is %v, want it on standby, two keys ready", s)
		}
		close(elected)
		synctest.Wait()
		if s := c.Status(); s.State != controller.Running || s.Reconciles != 2 {
			t.Errorf("status is %v, want it running, after two reconciles", s)
		}
		mustStop(t, stop)
		l.want(t, "1m0s delivered", "1m30s a by the leader", "1m30s b by the leader")
	})
}

// behaviour 304: reconciles of a replica that no longer leads must not have their grace, as another one may reconcile the
// same key now.
func TestTheLossOfLeadershipEndsReconcilesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		errLost := errors.New("the lease is lost")
		var c *controller.Controller[string]
		c = controller.New("c", controller.Options{Grace: time.Hour, OnError: func(err error) { l.add("reported %v", err) }},
			func(ctx context.Context, k string) (controller.Result, error) {
				if c.Status().Reconciles > 0 {
					l.add("%s again", k)
					return controller.Result{}, nil
				}
				<-ctx.Done()
				l.add("%s: %v", k, context.Cause(ctx))
				time.Sleep(time.Minute)
				return controller.Result{}, context.Cause(ctx)
			}, keys{names: []string{"a"}})
		again := make(chan struct{})
		stop := led(t, c, func(ctx context.Context, work func(context.Context) error) error {
			leading, lose := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { lose(errLost) })
			l.add("work returned %v", work(leading))
			if s := c.Status(); s.State != controller.Standby || s.Queue.Delayed != 1 || s.Errors != 0 {
				t.Errorf("status is %v, want it on standby, with the interrupted key", s)
			}
			<-again
			return work(ctx) // elected again
		})
		time.Sleep(time.Hour)
		close(again)
		synctest.Wait()
		if s := c.Status(); s.State != controller.Running || s.Reconciles != 2 {
			t.Errorf("status is %v", s)
		}
		mustStop(t, stop)
		const hangs = ` after the end of their contexts: the reconcile of "a" since 2000-01-01T00:00:00Z`
		l.want(t, "1s a: the lease is lost",
			`6s reported stop controller "c": still running 5s`+hangs, `21s reported stop controller "c": still running 20s`+hangs,
			"1m1s work returned <nil>", "1h0m0s a again")
	})
}

func TestReconcilesOfALeaderHaveTheirGraceAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{Grace: 10 * time.Second}, func(ctx context.Context, _ string) (controller.Result, error) {
			<-ctx.Done()
			l.add("ended")
			return controller.Result{}, ctx.Err()
		}, keys{names: []string{"a"}})
		// The context of the leader and that of the controller come from the same one, and either may end first.
		outer, end := context.WithCancel(t.Context())
		leading, cancel := context.WithCancel(outer)
		defer cancel()
		time.AfterFunc(time.Second, end)
		if err := c.RunLed(outer, func(_ context.Context, work func(context.Context) error) error { return work(leading) }); err != nil {
			t.Error(err)
		}
		l.want(t, "11s ended")
	})
}

func TestRunLedReturnsTheErrorThatEndedIt(t *testing.T) {
	errLost := errors.New("lost")
	cause := errors.New("the cause")
	for _, test := range []struct {
		name string
		end  time.Duration // of the context; 0 if it does not end
		from []controller.Source[string]
		lead func(ctx context.Context, work func(context.Context) error) error
		want string // the error
	}{
		{
			"lead fails", 0,
			[]controller.Source[string]{keys{}},
			func(context.Context, func(context.Context) error) error { return errLost },
			"lost",
		},
		{
			"lead has had enough", 0,
			[]controller.Source[string]{keys{}},
			func(context.Context, func(context.Context) error) error { return nil },
			"",
		},
		{
			"a source fails while another replica leads", 0,
			[]controller.Source[string]{keys{}, failing{after: time.Minute, err: errFailed}},
			func(ctx context.Context, _ func(context.Context) error) error {
				<-ctx.Done()
				return errLost
			},
			"controller_test.failing: failed",
		},
		{
			"a source fails, and work says so", 0,
			[]controller.Source[string]{keys{}, failing{after: time.Minute, err: errFailed}},
			func(ctx context.Context, work func(context.Context) error) error {
				if err := work(context.WithoutCancel(ctx)); err == nil || err.Error() != "controller_test.failing: failed" {
					return fmt.Errorf("work returned %w", err)
				}
				return nil
			},
			"controller_test.failing: failed",
		},
		{
			"the context ends before the sources have delivered", time.Minute,
			[]controller.Source[string]{keys{after: time.Hour}},
			func(context.Context, func(context.Context) error) error { panic("called") },
			"",
		},
		{
			"the context ends on standby", time.Minute,
			[]controller.Source[string]{keys{}},
			func(ctx context.Context, _ func(context.Context) error) error {
				<-ctx.Done()
				return fmt.Errorf("not elected: %w", ctx.Err())
			},
			"",
		},
		{
			"the context ends, and lead returns its cause", time.Minute,
			[]controller.Source[string]{keys{}},
			func(ctx context.Context, _ func(context.Context) error) error {
				<-ctx.Done()
				return context.Cause(ctx)
			},
			"",
		},
		{
			"the context ends, and the lease cannot be released", time.Minute,
			[]controller.Source[string]{keys{}},
			func(ctx context.Context, work func(context.Context) error) error {
				return errors.Join(work(ctx), errLost)
			},
			"lost",
		},
		{
			"lead does not wait for the workers", 0,
			[]controller.Source[string]{keys{names: []string{"a"}}},
			func(_ context.Context, work func(context.Context) error) error {
				go func() { _ = work(context.Background()) }()
				synctest.Wait()
				return errLost
			},
			"lost",
		},
		{
			"lead calls work twice at once", 0,
			[]controller.Source[string]{keys{}},
			func(ctx context.Context, work func(context.Context) error) error {
				go func() { _ = work(ctx) }()
				synctest.Wait()
				return work(ctx)
			},
			"controller.RunLed: lead must not call work before the last call has returned",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", controller.Options{}, func(ctx context.Context, _ string) (controller.Result, error) {
					<-ctx.Done()
					return controller.Result{}, ctx.Err()
				}, test.from...)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.end > 0 {
					time.AfterFunc(test.end, func() { cancel(cause) })
				}
				err := c.RunLed(ctx, test.lead)
				if want := test.want; want == "" && err != nil || want != "" && (err == nil || err.Error() != `run controller "c": `+want) {
					t.Errorf("RunLed returned %v, want %q", err, want)
				}
				if s := c.Status(); s.State != controller.Stopped || s.Queue.InProgress != 0 {
					t.Errorf("status is %v, want it stopped", s)
				}
			})
		})
	}
}

func TestWorkIsRefusedAfterTheCallOfLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, keys{})
		if err := c.RunLed(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "controller.RunLed: lead must not be nil") {
			t.Errorf("without lead it returned %v", err)
		}
		var kept func(context.Context) error
		if err := c.RunLed(t.Context(), func(_ context.Context, work func(context.Context) error) error {
			kept = work
			return nil
		}); err != nil {
			t.Error(err)
		}
		stop := run(t, c) // another run, to which it does not belong
		if err := kept(t.Context()); err == nil || err.Error() != "controller.RunLed: lead must not call work after it has returned" {
			t.Errorf("work returned %v", err)
		}
		mustStop(t, stop)
	})
}

// Whatever lead does, nothing is left running: synctest fails if something is.
func TestLeadMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, keys{})
		func() {
			defer func() {
				if value := recover(); value != "oh" {
					t.Errorf("recovered %v", value)
				}
			}()
			_ = c.RunLed(t.Context(), func(ctx context.Context, work func(context.Context) error) error {
				go func() { _ = work(ctx) }()
				synctest.Wait()
				panic("oh")
			})
		}()
		if s := c.Status().State; s != controller.Stopped {
			t.Errorf("state is %v", s)
		}
	})
}

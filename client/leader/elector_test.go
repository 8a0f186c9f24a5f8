package leader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

func TestOneOfThreeLeadsAndAReleasePassesTheLeaseAtOnce(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		b, c := w.contend("b", nil, nil).run(), w.contend("c", nil, nil).run()
		w.until(time.Minute + 500*time.Millisecond) // not when a renewal is under way
		if a.ctx() == nil || b.ctx() != nil || c.ctx() != nil {
			t.Fatalf("lead was called: a %v, b %v, c %v", a.ctx() != nil, b.ctx() != nil, c.ctx() != nil)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.until(time.Minute + 501*time.Millisecond)
		if (b.ctx() == nil) == (c.ctx() == nil) {
			t.Fatalf("after the release, lead was called: b %v, c %v", b.ctx() != nil, c.ctx() != nil)
		}
		if n := field[int](w, w.lease(), "leaseTransitions"); n != 1 {
			t.Errorf("the lease has passed on %d times, want once", n)
		}
		for _, p := range []*contender{a, b, c} {
			if errs := p.errors(); len(errs) > 0 {
				t.Errorf("errors: %v", errs)
			}
		}
	})
}

func TestRunReturns(t *testing.T) {
	errOwn := errors.New("own")
	errStop := errors.New("stop")
	lose := func(w *world) {
		w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
	}
	end := func(*world) {}
	for _, tc := range []struct {
		name string
		lead func(ctx context.Context) error
		end  func(w *world) // after 20 s; nil means that ctx ends
		want []string
		is   error // nil: any
		none bool
	}{
		{"lead returns nil", func(context.Context) error { return nil }, end, nil, nil, true},
		{"lead returns an error", func(context.Context) error { return errOwn }, end, []string{"own"}, errOwn, false},
		{"ctx ends", func(ctx context.Context) error { <-ctx.Done(); return nil }, nil, nil, nil, true},
		{"ctx ends, and lead returns its error", func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("work: %w", ctx.Err()) }, nil, nil, nil, true},
		{"ctx ends, and lead returns its cause", func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("work: %w", context.Cause(ctx)) }, nil, nil, nil, true},
		{"ctx ends, and lead fails", func(ctx context.Context) error { <-ctx.Done(); return errOwn }, nil, []string{"own"}, errOwn, false},
		{"loss", func(ctx context.Context) error { <-ctx.Done(); return nil }, lose, []string{`lead by lease "default/web" as "a": lost: "other" has taken the lease`}, nil, false},
		{"loss, and lead returns the error of its context", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, lose, []string{`"other" has taken the lease`}, nil, false},
		{"loss, and lead returns its cause", func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }, lose, []string{`"other" has taken the lease`}, nil, false},
		{"loss, and lead fails", func(ctx context.Context) error { <-ctx.Done(); return errOwn }, lose, []string{`"other" has taken the lease`, "; lead returned: own"}, errOwn, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				ctx, cancel := context.WithCancelCause(quiet(t))
				defer cancel(nil)
				a := w.contend("a", nil, nil)
				time.AfterFunc(20*time.Second, func() {
					if tc.end == nil {
						cancel(errStop)
					} else {
						tc.end(w)
					}
				})
				err := a.Run(ctx, tc.lead)
				if (err == nil) != tc.none || tc.is != nil && !errors.Is(err, tc.is) {
					t.Fatalf("Run returned %v", err)
				}
				for _, want := range tc.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("Run returned %v, want %q in it", err, want)
					}
				}
				if len(tc.want) == 1 && err.Error() != tc.want[0] && strings.Contains(err.Error(), "lead returned") {
					t.Errorf("Run returned %v", err)
				}
				if s := a.Status(); s.Running || s.Leading || s.Left != 0 {
					t.Errorf("status is %+v", s)
				}
				if a.Live() != nil {
					t.Error(a.Live())
				}
				w.until(time.Minute) // a write of the test may be under way
			})
		})
	}
}

// The panic of lead goes to the caller of Run, and so does runtime.Goexit. The lease is released first.
func TestAPanicOfLeadGoesOn(t *testing.T) {
	for _, tc := range []struct {
		name string
		lead func()
		want any
	}{{"panic", func() { panic("ouch") }, "ouch"}, {"Goexit", runtime.Goexit, nil}} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				a := w.contend("a", nil, nil)
				got := make(chan any)
				var ctx context.Context
				go func() {
					defer func() { got <- recover() }()
					_ = a.Run(quiet(t), func(c context.Context) error { ctx = c; time.Sleep(5 * time.Second); tc.lead(); return nil })
					t.Error("Run returned")
				}()
				if v := <-got; v != tc.want {
					t.Errorf("recovered %v", v)
				}
				if w.holder() != "" || leader.Check(ctx) == nil || ctx.Err() == nil {
					t.Errorf("the holder is %q, Check returned %v", w.holder(), leader.Check(ctx))
				}
				if err := a.Run(quiet(t), func(context.Context) error { return nil }); err != nil {
					t.Errorf("a second Run returned %v", err)
				}
			})
		})
	}
}

// After a panic, a server that does not answer holds the process for RetryPeriod only.
func TestAPanicDoesNotWaitLongForTheServer(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil)
		defer func() {
			if v := recover(); v != "ouch" || w.since() != 7*time.Second {
				t.Errorf("recovered %v after %v", v, w.since())
			}
		}()
		_ = a.Run(quiet(t), func(context.Context) error {
			time.Sleep(5 * time.Second)
			w.server.Freeze()
			w.server.BlackHole(true)
			panic("ouch")
		})
	})
}

// A Group reports by itself what does not end. Only a lost lease is worth another report.
func TestAGroupReportsALeadThatHangsItself(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil)
		group := &informer.Group{Leader: a.Elector, StopTimeout: time.Hour, Runners: []informer.Runner{
			informer.RunnerFunc(func(ctx context.Context) error { <-ctx.Done(); time.Sleep(2 * time.Minute); return nil }),
		}}
		ctx, cancel := context.WithCancel(quiet(t))
		ended := make(chan error)
		go func() { ended <- group.Run(ctx) }()
		w.until(20 * time.Second)
		cancel()
		w.until(time.Minute)
		if errs := a.errors(); len(errs) > 0 {
			t.Errorf("errors: %v", errs)
		}
		w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
		<-ended
		errs := a.errors()
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), ": a Runner of the Group still runs ") {
			t.Errorf("errors: %v", errs)
		}
	})
}

// lead does not end with its context. Run waits for it, says so at growing intervals, and Live fails.
func TestALeadThatHangsIsReported(t *testing.T) {
	for _, lost := range []bool{true, false} {
		t.Run(map[bool]string{true: "after a loss", false: "after the end of ctx"}[lost], func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				a := w.contend("a", func(c *leader.Options) { c.Grace = 20 * time.Second }, nil)
				a.finish = func(context.Context) error { time.Sleep(5 * time.Minute); return nil }
				a.run()
				w.until(20 * time.Second)
				if lost {
					w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
				} else {
					a.cancel()
				}
				w.until(40 * time.Second)
				if err := a.Live(); err != nil {
					t.Errorf("within its grace: %v", err)
				}
				w.until(41 * time.Second)
				if err := a.Live(); lost != (err != nil) || lost && err.Error() != `leader election by lease "default/web": lead still runs 21s after the lease was lost` {
					t.Errorf("after its grace, Live returned %v", err)
				}
				if a.Status().Leading == lost {
					t.Errorf("status is %+v", a.Status())
				}
				w.until(19*time.Second + 5*time.Minute)
				var after []string
				meanwhile := map[bool]string{true: "another process may lead", false: "this process keeps the lease"}[lost]
				form := regexp.MustCompile(`^lead by lease "default/web": \S*contender\S* still runs (\S+) after its context has ended, and ` + meanwhile + `: `)
				for _, err := range a.errors() {
					hang := form.FindStringSubmatch(err.Error())
					if hang == nil || !errors.Is(err, a.cause()) {
						t.Errorf("error is %v", err)
						continue
					}
					after = append(after, hang[1])
				}
				if got := strings.Join(after, " "); got != "5s 20s 1m5s 3m20s" {
					t.Errorf("it was reported after %s", got)
				}
				if err := a.wait(); lost != (err != nil) {
					t.Errorf("Run returned %v", err)
				}
				if a.Live() != nil {
					t.Error(a.Live())
				}
			})
		})
	}
}

func TestAnElectorRunsOnce(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		err := a.Run(quiet(t), func(context.Context) error { t.Error("lead was called"); return nil })
		if err == nil || err.Error() != `leader election by lease "default/web": already running` {
			t.Errorf("the second Run returned %v", err)
		}
		if a.cause() != nil || !a.Status().Running {
			t.Error("the first Run has ended")
		}
	})
}

// An Elector that could not release its lease takes it again at once: its work has ended. The term is a new one.
func TestTheLeaseOfAnEarlierRunIsTakenAgain(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil)
		begin := time.Now()
		for n := range 3 {
			err := a.Run(quiet(t), func(ctx context.Context) error {
				if term, _ := leader.TermOf(ctx); term.Number != int64(n) {
					t.Errorf("run %d has the term %+v", n, term)
				}
				w.server.BlackHole(true)
				w.server.Freeze()
				return nil
			})
			w.server.BlackHole(false)
			w.server.Freeze() // what was accepted meanwhile stays silent
			if err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took > 3*11*time.Second+15*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A second Run is another term. The context of the first one stays ended, and what the first has lost is not in the status.
func TestAnElectorRunsAgain(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		c := w.client(nil)
		a := leader.New(c, leader.Options{Namespace: leaseKey.Namespace, Name: leaseKey.Name, Identity: "a", OnError: func(error) {}})
		var first context.Context
		var lost *leader.LostError
		err := a.Run(quiet(t), func(ctx context.Context) error {
			first = ctx
			w.server.BlackHole(true)
			w.server.Freeze()
			<-ctx.Done()
			return nil
		})
		if !errors.As(err, &lost) || lost.Reason != leader.Expired {
			t.Errorf("the first Run returned %v", err)
		}
		if s := a.Status(); s.Running || s.Leading || s.Left != 0 || s.Err == nil {
			t.Errorf("after the first Run: %+v", s)
		}
		w.server.BlackHole(false)
		for n := range 5 {
			term := leader.Term{}
			err = a.Run(quiet(t), func(ctx context.Context) error {
				term, _ = leader.TermOf(ctx)
				if err := leader.Check(first); !errors.As(err, &lost) {
					t.Errorf("the context of the first Run: %v", err)
				}
				if _, err := client.For(c, Leases).Get(first, leaseKey); !errors.As(err, &lost) {
					t.Errorf("a request with the context of the first Run: %v", err)
				}
				if s := a.Status(); !s.Leading || s.Err != nil || s.Term != term.Number || leader.Check(ctx) != nil || a.Live() != nil {
					t.Errorf("in Run %d: %+v, %v", n, s, leader.Check(ctx))
				}
				return nil
			})
			if err != nil || term.Number != int64(n+1) {
				t.Errorf("Run %d returned %v, its term is %+v", n, err, term)
			}
		}
		if s := a.Status(); s.Running || s.Leading || s.Leader != "" {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// An Elector remembered a record of each of its Runs for ever.
func TestAnElectorThatRunsOftenRemembersLittle(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil)
		for range 200 {
			if err := a.Run(quiet(t), func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if n := leader.Remembered(a.Elector); n == 0 || n > 64 {
			t.Errorf("it remembers %d records after 200 Runs", n)
		}
	})
}

func TestTheHookOfLeadersTellsEachChange(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var mu sync.Mutex
		var seen []string
		watch := func(c *leader.Options) {
			c.Hooks.Leader = func(_ context.Context, i leader.LeaderInfo) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprintf("%q after %q, term %d, self %v", i.Leader, i.Previous, i.Term, i.Self))
			}
		}
		w.put(heldBy("other", w.start))
		b := w.contend("b", watch, nil).run()
		w.until(30 * time.Second)
		w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "third", "spec", "holderIdentity") })
		_ = b.wait()
		want := []string{`"other" after "", term 7, self false`, `"b" after "other", term 8, self true`, `"third" after "b", term 8, self false`}
		if got := strings.Join(seen, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("the hook was told\n%s", got)
		}
		if s := b.Status(); s.Leader != "third" || s.Term != 8 || s.Lease != leaseKey || s.Identity != "b" || !s.Since.Equal(w.start.Add(15*time.Second)) {
			t.Errorf("status is %+v", s)
		}
	})
}

// An error that no hook takes is logged, and so is each change of leadership.
func TestErrorsThatNoHookTakesAreLogged(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var mu sync.Mutex
		var lines bytes.Buffer
		a := w.contend("a", func(c *leader.Options) {
			c.OnError = nil
			c.Logger = funcr.New(func(_, args string) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintln(&lines, args)
			}, funcr.Options{})
		}, func(c *client.Config) { c.Retry.Attempts = 1 })
		a.finish = func(context.Context) error { time.Sleep(6 * time.Second); return nil }
		a.run()
		w.until(21 * time.Second)
		w.server.Freeze()
		w.server.BlackHole(true)
		w.until(27 * time.Second)
		w.server.BlackHole(false)
		w.until(40 * time.Second)
		_ = a.stop()
		mu.Lock()
		defer mu.Unlock()
		for _, want := range []string{
			`"msg"="leader election by lease \"default/web\": this process leads" "identity"="a" "term"=0`,
			`"msg"="leader election by lease \"default/web\" fails" "error"="update leases.coordination.k8s.io \"default/web\": context deadline exceeded"`,
			`"msg"="leader election by lease \"default/web\" works again after`,
			`"msg"="leader election by lease \"default/web\": lead does not return" "error"="lead by lease`,
			`contender).lead-fm still runs 5s after its context has ended, and this process keeps the lease: context canceled"`,
			`"msg"="leader election by lease \"default/web\": nobody leads"`,
		} {
			if !strings.Contains(lines.String(), want) {
				t.Errorf("the log lacks %s:\n%s", want, lines.String())
			}
		}
	})
}

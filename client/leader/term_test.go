package leader_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/machine"
)

// on starts a contender on a machine.
func (w *world) on(m *machine.Machine, identity string) *contender {
	w.Helper()
	p := w.contend(identity, nil, m.Connects)
	runsOn(m, p.Elector)
	return p.run()
}

func TestAWallClockThatIsSet(t *testing.T) {
	for _, tc := range []struct {
		name string
		step time.Duration
		text string // of the loss; empty if there is none
	}{
		{"forward past the deadline", time.Hour, "the wall clock has gone 1h0m0.5s ahead while 500ms passed: the machine has slept, or its clock was set"},
		{"forward to the deadline", 9500 * time.Millisecond, "the wall clock has gone 10s ahead while 500ms passed"},
		{"forward, not to the deadline", 7 * time.Second, ""},
		{"back", -time.Hour, ""},
		{"back far", -100 * 365 * 24 * time.Hour, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				m := machine.New()
				a := w.on(m, "a")
				w.until(20*time.Second + 500*time.Millisecond)
				if err := leader.Check(a.ctx()); err != nil {
					t.Fatal(err)
				}
				m.Step(tc.step)
				err := leader.Check(a.ctx())
				if tc.text == "" {
					w.until(5 * time.Minute)
					if err != nil || a.cause() != nil || !a.Status().Leading {
						t.Errorf("Check returned %v; the cause is %v; status: %+v", err, a.cause(), a.Status())
					}
					return
				}
				lost := (*leader.LostError)(nil)
				if !errors.As(err, &lost) || lost.Reason != leader.Expired || !strings.Contains(err.Error(), tc.text) {
					t.Fatalf("Check returned %v, want %q in it", err, tc.text)
				}
				if a.cause() != err || a.Status().Leading || leader.Check(a.ctx()) != err {
					t.Errorf("the cause is %v, want the error of Check; status: %+v", a.cause(), a.Status())
				}
				if got := a.wait(); got != err {
					t.Errorf("Run returned %v", got)
				}
			})
		})
	}
}

// A jump of the wall clock is noticed also if nobody asks.
func TestAJumpOfTheWallClockIsNoticedWithinASecond(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		m := machine.New()
		a := w.on(m, "a")
		w.until(20*time.Second + 500*time.Millisecond)
		m.Step(time.Hour)
		w.until(21*time.Second + 500*time.Millisecond)
		if a.cause() == nil {
			t.Error("the context of lead goes on")
		}
	})
}

// lead returns before anybody has noticed that the deadline has passed.
func TestRunReturnsALossThatPassedUnnoticed(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		m := machine.New()
		a := w.contend("a", nil, m.Connects)
		runsOn(m, a.Elector)
		err := a.Run(quiet(t), func(context.Context) error { m.Step(time.Hour); return nil })
		if lost := (*leader.LostError)(nil); !errors.As(err, &lost) || lost.Reason != leader.Expired {
			t.Errorf("Run returned %v", err)
		}
	})
}

// A process is stopped while it leads, and goes on when another one leads. Nothing that it sends with its context reaches the server.
func TestAProcessThatWasStoppedSendsNothing(t *testing.T) {
	for _, slept := range []bool{false, true} {
		t.Run(map[bool]string{false: "stopped", true: "machine slept"}[slept], func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				m := machine.New()
				a := w.on(m, "a")
				w.until(time.Second)
				b := w.on(machine.New(), "b")
				w.until(20*time.Second + 500*time.Millisecond)

				mine := client.For(w.client(m.Connects), Leases)
				errs := make(chan error, 2)
				write := func(name string) {
					lease := &meta.Unstructured{}
					lease.SetNamespace("default")
					lease.SetName(name)
					_, err := mine.Create(a.ctx(), lease)
					errs <- err
				}
				m.Freeze()
				go write("during") // it is stopped right before the transport gets the request
				w.until(time.Minute)
				if b.ctx() == nil {
					t.Fatal("the other one does not lead")
				}
				m.Thaw(slept)
				write("after")
				for range 2 {
					lost := (*leader.LostError)(nil)
					if err := <-errs; !errors.As(err, &lost) || lost.Reason != leader.Expired || !strings.Contains(err.Error(), "create leases") {
						t.Errorf("the write returned %v", err)
					}
				}
				if all, err := w.leases.List(t.Context(), client.ListOptions{}); err != nil || len(all.Items) != 1 {
					t.Errorf("the server has %d leases, %v", len(all.Items), err)
				}
				if err := a.wait(); !errors.As(err, new(*leader.LostError)) {
					t.Errorf("Run returned %v", err)
				}
				w.until(2 * time.Minute)
				if b.cause() != nil || w.holder() != "b" {
					t.Errorf("the other one has lost the lease: %v", b.cause())
				}
			})
		})
	}
}

// A request that waits for its connection when the term ends is not sent.
func TestARequestThatWaitsIsNotSentAfterTheTerm(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		slow := w.client(func(c *client.Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(10 * time.Second) // longer than the client is asked to wait, as some proxies do
				return dial(context.WithoutCancel(ctx), network, address)
			}
		})
		var err error
		a := w.contend("a", nil, nil)
		run := a.Run(quiet(t), func(ctx context.Context) error {
			ctx = context.WithoutCancel(ctx) // only the gate is left
			lease := &meta.Unstructured{}
			lease.SetNamespace("default")
			lease.SetName("late")
			time.AfterFunc(5*time.Second, func() {
				w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
			})
			_, err = client.For(slow, Leases).Create(ctx, lease)
			return nil
		})
		lost := (*leader.LostError)(nil)
		if !errors.As(err, &lost) || lost.Reason != leader.Taken || !errors.As(run, &lost) {
			t.Errorf("the write returned %v, and Run %v", err, run)
		}
		if all, err := w.leases.List(t.Context(), client.ListOptions{}); err != nil || len(all.Items) != 1 {
			t.Errorf("the server has %d leases, %v", len(all.Items), err)
		}
	})
}

// A goroutine that lead has left behind cannot write when lead has returned.
func TestNothingIsSentWhenLeadHasReturned(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var left context.Context
		a := w.contend("a", nil, nil)
		if err := a.Run(quiet(t), func(ctx context.Context) error { left = context.WithoutCancel(ctx); return nil }); err != nil {
			t.Fatal(err)
		}
		_, err := w.leases.Get(left, leaseKey)
		if err == nil || !strings.Contains(err.Error(), "the term is over: lead has returned") || leader.Check(left) == nil {
			t.Errorf("the read returned %v", err)
		}
	})
}

func TestAContextWithoutATerm(t *testing.T) {
	if term, ok := leader.TermOf(t.Context()); ok || term != (leader.Term{}) {
		t.Errorf("TermOf returned %+v, %v", term, ok)
	}
	if err := leader.Check(t.Context()); err == nil || err.Error() != "leader.Check: the context does not come from an Elector" {
		t.Errorf("Check returned %v", err)
	}
}

// The numbers of terms grow with each holder, whoever it is.
func TestTermsAreNumbered(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		for n := range 6 {
			a := w.contend([]string{"a", "b"}[n%2], nil, nil)
			err := a.Run(quiet(t), func(ctx context.Context) error {
				term, ok := leader.TermOf(context.WithoutCancel(ctx))
				if !ok || term.Number != int64(n) || term.Identity != a.Status().Identity {
					t.Errorf("term %d is %+v", n, term)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// The holder writes a time of renewal that never goes back and runs at least as fast as the monotonic clock, so that a contender
// with client-go, which compares seconds, sees each renewal.
func TestTheTimeOfRenewalRunsOnWhenTheWallClockIsSetBack(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		m := machine.New()
		a := w.on(m, "a")
		last := w.start
		for n := range 200 {
			w.until(time.Duration(n)*2*time.Second + time.Second)
			renewed := field[meta.MicroTime](w, w.lease(), "renewTime").Time
			if n > 0 && renewed.Sub(last) < 2*time.Second {
				t.Fatalf("renewal %d is at %v, after %v", n, renewed, last)
			}
			last = renewed
			switch {
			case n%20 == 5:
				m.Step(-time.Hour)
			case n%20 == 10:
				m.Step(5 * time.Second)
			}
		}
		if a.cause() != nil {
			t.Error(a.cause())
		}
	})
}

// A contender takes no notice of its wall clock: one that was set forward must not take the lease of a living holder.
func TestAContenderDoesNotBelieveItsWallClock(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		m := machine.New()
		b := w.on(m, "b")
		w.until(time.Second)
		m.Step(time.Hour)
		w.until(14 * time.Second)
		if b.ctx() != nil {
			t.Fatal("the lease was taken early")
		}
		m.Step(-3 * time.Hour)
		w.until(15*time.Second + time.Millisecond)
		if b.ctx() == nil {
			t.Error("the lease was not taken in time")
		}
	})
}

// A contender that was stopped after it saw that the lease had run out sends its claim late. The server refuses it, because the
// lease has changed.
func TestALateClaimIsRefused(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		m := machine.New()
		b := w.on(m, "b")
		w.until(15*time.Second - time.Millisecond)
		m.Freeze()
		w.until(16 * time.Second)
		w.edit(func(l *meta.Unstructured) {
			_ = meta.SetNested(l, meta.MicroTime{Time: time.Now()}, "spec", "renewTime")
		})
		m.Thaw(false)
		w.until(20 * time.Second)
		if b.ctx() != nil || w.holder() != "other" {
			t.Errorf("the holder is %q", w.holder())
		}
		if n := w.server.Requests()[clienttest.Call{Verb: "update", Resource: "leases"}]; n != 2 {
			t.Errorf("%d updates, want that of the holder and the late claim", n)
		}
	})
}

// The contender's claim is answered late, so the lease would run out soon. It is renewed before lead is called.
func TestALeaseThatIsNearlyOverIsRenewedFirst(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if q := clienttest.RequestOf(r); q.Verb != "create" || q.Resource.Resource != "leases" {
				return nil
			}
			return func(rw http.ResponseWriter, r *http.Request) {
				time.Sleep(7 * time.Second)
				w.server.ServeHTTP(rw, r)
			}
		})
		a := w.contend("a", nil, nil).run()
		w.until(8 * time.Second)
		if began, _ := a.times(); a.ctx() == nil || began != 7*time.Second {
			t.Fatalf("lead began at %v: %v", began, a.errors())
		}
		if left := a.Status().Left; left < 9*time.Second || left > 10*time.Second {
			t.Errorf("%v are left", left)
		}
	})
}

// A process whose requests take half of the deadline cannot keep the lease. It says so and leaves the lease to others.
func TestAProcessWithASlowConnectionLeavesTheLeaseToOthers(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, func(c *client.Config) {
			c.Wrap = func(next http.RoundTripper) http.RoundTripper { return slowly{next} }
		}).run()
		w.until(time.Minute)
		if errs := a.errors(); a.ctx() != nil || len(errs) == 0 || !strings.Contains(errs[0].Error(), "the server takes 5s or more to answer") {
			t.Errorf("lead was called: %v; errors: %v", a.ctx() != nil, errs)
		}
		b := w.contend("b", nil, nil).run()
		w.until(3 * time.Minute)
		if b.cause() != nil || a.ctx() != nil {
			t.Errorf("the other one does not lead: %v", b.cause())
		}
	})
}

// slowly is a transport over a connection on which everything takes six seconds.
type slowly struct{ next http.RoundTripper }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(3 * time.Second)
	resp, err := s.next.RoundTrip(r)
	time.Sleep(3 * time.Second)
	return resp, err
}

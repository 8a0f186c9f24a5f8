package leader_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestTheLeaseIsReleasedWhenLeadHasReturned(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var released []leader.ReleaseInfo
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Released = func(_ context.Context, i leader.ReleaseInfo) { released = append(released, i) }
		}, nil).run()
		w.until(time.Second)
		b := w.contend("b", nil, nil).run()
		// lead takes a minute to finish. Meanwhile the lease is renewed, and what it does is protected.
		a.finish = func(ctx context.Context) error {
			time.Sleep(time.Minute)
			if err := leader.Check(ctx); err != nil || !a.Status().Leading {
				t.Errorf("while lead finishes, Check returned %v; status: %+v", err, a.Status())
			}
			_, err := w.leases.Get(context.WithoutCancel(ctx), leaseKey)
			return err
		}
		w.until(20*time.Second + 500*time.Millisecond) // not when a renewal is under way
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		w.until(80*time.Second + 501*time.Millisecond)
		if began, _ := b.times(); b.ctx() == nil || began < 80*time.Second+500*time.Millisecond {
			t.Errorf("the other one began at %v", began)
		}
		if want := (leader.ReleaseInfo{Lease: leaseKey}); len(released) != 1 || released[0] != want {
			t.Errorf("released: %+v", released)
		}
		if cause := a.cause(); cause != context.Canceled {
			t.Errorf("the cause is %v", cause)
		}
	})
}

// The record of a released lease is that of client-go: no holder, and a duration of a second.
func TestTheRecordOfAReleasedLease(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("", w.start))
		a := w.contend("a", nil, nil).run()
		w.until(5 * time.Second)
		_ = a.stop()
		lease := w.lease()
		if field[string](w, lease, "holderIdentity") != "" || field[int](w, lease, "leaseDurationSeconds") != 1 || field[int](w, lease, "leaseTransitions") != 8 ||
			!field[meta.MicroTime](w, lease, "renewTime").Equal(w.start.Add(5*time.Second)) {
			t.Errorf("the lease is %v", lease.Object["spec"])
		}
	})
}

func TestAReleaseThatFails(t *testing.T) {
	refused := clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable", Message: "later"})
	for _, tc := range []struct {
		name   string
		fault  func(w *world, n int) http.HandlerFunc // for the n-th write after the end
		takes  time.Duration                          // at most
		holder string
		is     func(error) bool // of the error; nil: it succeeds
	}{
		{"for a second", func(w *world, _ int) http.HandlerFunc {
			if w.since() < 21*time.Second {
				return refused
			}
			return nil
		}, 5 * time.Second, "", nil},
		{"for good", func(*world, int) http.HandlerFunc { return refused }, 10 * time.Second, "a", func(err error) bool { return errors.Is(err, apierrors.ServiceUnavailable) }},
		{"without an answer", func(*world, int) http.HandlerFunc { return clienttest.Hang() }, 10 * time.Second, "a", func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		{"by a conflict", func(w *world, n int) http.HandlerFunc {
			if n > 1 {
				return nil
			}
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, map[string]string{"a": "b"}, "metadata", "annotations")
			})
			return nil
		}, time.Second, "", nil},
		{"made, and the answer lost", func(w *world, n int) http.HandlerFunc {
			if n > 1 {
				return nil
			}
			return w.server.ResetBody(0)
		}, 3 * time.Second, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				var ending atomic.Bool
				var writes atomic.Int32
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					// Nothing but the release comes from this client now.
					if ending.Load() && isLeaseWrite(r) && r.UserAgent() == "a" {
						return tc.fault(w, int(writes.Add(1)))
					}
					return nil
				})
				var released []leader.ReleaseInfo
				a := w.contend("a", func(c *leader.Options) {
					c.Hooks.Released = func(_ context.Context, i leader.ReleaseInfo) { released = append(released, i) }
				}, func(c *client.Config) { c.Retry.Attempts, c.UserAgent = 1, "a" }).run()
				w.until(20*time.Second + 500*time.Millisecond)
				ending.Store(true)
				if err := a.stop(); err != nil {
					t.Error(err)
				}
				if took := w.since() - 20*time.Second - 500*time.Millisecond; took > tc.takes {
					t.Errorf("it took %v, want at most %v", took, tc.takes)
				}
				if got := w.holder(); got != tc.holder {
					t.Errorf("the holder is %q, want %q", got, tc.holder)
				}
				errs := a.errors()
				if len(released) != 1 || (released[0].Err != nil) != (tc.is != nil) || len(errs) > 0 != (tc.is != nil) {
					t.Fatalf("released: %+v; errors: %v", released, errs)
				}
				if tc.is != nil && (!tc.is(released[0].Err) || !tc.is(errs[0])) {
					t.Errorf("the error is %v", released[0].Err)
				}
			})
		})
	}
}

// A lease that was lost because the server was away is still ours there. It is given back when lead has returned, not before.
func TestALostLeaseIsGivenBackWhenLeadHasReturned(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", func(c *leader.Options) { c.LeaseDuration = time.Minute }, nil).run()
		a.finish = func(context.Context) error { time.Sleep(5 * time.Second); return nil }
		w.until(time.Second)
		b := w.contend("b", nil, nil).run()
		w.until(21 * time.Second)
		w.server.Freeze()
		w.server.Refuse(syscall.ECONNREFUSED)
		w.until(31 * time.Second)
		w.server.Refuse(nil)
		if a.cause() == nil {
			t.Fatal("the lease is not lost")
		}
		w.until(34 * time.Second)
		if b.ctx() != nil || w.holder() != "a" {
			t.Fatal("the lease was given back while lead went on")
		}
		if err := a.wait(); !errors.As(err, new(*leader.LostError)) {
			t.Errorf("Run returned %v", err)
		}
		w.until(40 * time.Second)
		if b.ctx() == nil {
			t.Errorf("the other one does not lead: %v", b.errors())
		}
	})
}

// A lease that another process has taken is not written to.
func TestALeaseOfAnotherIsNotReleased(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		released := 0
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Released = func(context.Context, leader.ReleaseInfo) { released++ }
		}, nil).run()
		w.until(20 * time.Second)
		w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
		before := w.lease().GetResourceVersion()
		_ = a.wait()
		if w.lease().GetResourceVersion() != before || released != 0 {
			t.Errorf("the lease is %v; %d releases", w.lease().Object["spec"], released)
		}
	})
}

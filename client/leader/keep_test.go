package leader_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
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

// behaviour 346: a renewal is one update. It is not read first, unless somebody else has written to the lease.
func TestARenewalIsOneUpdate(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var renewals []leader.RenewalInfo
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Renewed = func(_ context.Context, i leader.RenewalInfo) { renewals = append(renewals, i) }
		}, nil).run()
		w.until(time.Second)
		count := func(verb string) int {
			return w.server.Requests()[clienttest.Call{Verb: verb, Resource: "leases"}]
		}
		gets, updates := count("get"), count("update")
		w.until(time.Minute + time.Second)
		if got := count("get") - gets; got != 0 {
			t.Errorf("%d reads in a minute, want none", got)
		}
		if got := count("update") - updates; got != 30 || len(renewals) != 30 {
			t.Errorf("%d updates and %d calls of the hook in a minute, want 30", got, len(renewals))
		}
		if want := (leader.RenewalInfo{Lease: leaseKey, Attempts: 1, Left: 8 * time.Second}); len(renewals) == 0 || renewals[0] != want {
			t.Errorf("the renewals are %+v, want %+v", renewals, want)
		}

		// behaviour 346: the conflict leads to a read, and to another update within the same attempt.
		renewals = nil
		w.edit(func(l *meta.Unstructured) {
			_ = meta.SetNested(l, map[string]string{"a": "b"}, "metadata", "annotations")
		})
		w.until(time.Minute + 3*time.Second)
		if len(renewals) != 1 || !renewals[0].Reread || renewals[0].Attempts != 1 {
			t.Errorf("the renewals are %+v, want one that has read the lease", renewals)
		}
		if w.lease().GetAnnotations()["a"] != "b" || w.holder() != "a" || a.cause() != nil {
			t.Errorf("the lease is %v", w.lease().Object)
		}
		if errs := a.errors(); len(errs) > 0 {
			t.Errorf("errors: %v", errs)
		}
	})
}

// The answer to a renewal is lost, and the renewal was made or not. The lease is kept in both cases, and what was made is counted
// once it is certain.
func TestARenewalWhoseAnswerIsLost(t *testing.T) {
	for _, tc := range []struct {
		name string
		made bool
	}{{"made", true}, {"not made", false}} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				const from, to = 10 * time.Second, 13 * time.Second
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if !isLeaseWrite(r) || w.since() < from || w.since() > to {
						return nil
					}
					if tc.made {
						return w.server.ResetBody(0)
					}
					return clienttest.Reset()
				})
				var rereads atomic.Int32
				a := w.contend("a", func(c *leader.Options) {
					c.Hooks.Renewed = func(_ context.Context, i leader.RenewalInfo) {
						if i.Reread {
							rereads.Add(1)
						}
					}
				}, func(c *client.Config) { c.Retry.Attempts = 1 }).run()
				w.until(30 * time.Second)
				if a.cause() != nil {
					t.Fatalf("the lease was lost: %v", a.cause())
				}
				if len(a.errors()) == 0 {
					t.Error("the failures were not reported")
				}
				if got := rereads.Load(); tc.made && got == 0 || !tc.made && got != 0 {
					t.Errorf("%d renewals have read the lease", got)
				}
			})
		})
	}
}

// The deadline counts from the moment before the last renewal that certainly succeeded was sent. The answers of those after it
// are lost, so they do not count, although the server has them.
func TestRenewalsWithoutAnswersDoNotExtendTheTerm(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var mute atomic.Bool
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if mute.Load() && isLease(r) {
				return w.server.ResetBody(0)
			}
			return nil
		})
		a := w.contend("a", nil, nil).run()
		w.until(21 * time.Second) // the last renewal was at 20 s
		mute.Store(true)
		w.until(time.Minute)
		_, lost := a.times()
		if lost != 30*time.Second {
			t.Errorf("the context of lead ended at %v, want 30s; errors: %v", lost, a.errors())
		}
		mute.Store(false)
		if renewed := field[meta.MicroTime](w, w.lease(), "renewTime"); !renewed.After(w.start.Add(20 * time.Second)) {
			t.Errorf("the server has the renewal of %v: no other renewal has reached it, and this test tests nothing", renewed)
		}
	})
}

// The deadline counts from the moment before a renewal was sent. Its answer comes five seconds later, and is the last one.
func TestTheDeadlineCountsFromBeforeTheRenewalWasSent(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if !isLeaseWrite(r) || w.since() < 20*time.Second {
				return nil
			}
			return func(rw http.ResponseWriter, r *http.Request) {
				if w.since() > 20*time.Second {
					clienttest.Reset()(rw, r)
					return
				}
				answer := httptest.NewRecorder()
				w.server.ServeHTTP(answer, r)
				time.Sleep(5 * time.Second)
				maps.Copy(rw.Header(), answer.Header())
				_, _ = rw.Write(answer.Body.Bytes())
			}
		})
		var last leader.RenewalInfo
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Renewed = func(_ context.Context, i leader.RenewalInfo) { last = i }
		}, nil).run()
		w.until(35 * time.Second)
		if want := (leader.RenewalInfo{Lease: leaseKey, Attempts: 1, Duration: 5 * time.Second, Left: 3 * time.Second}); last != want {
			t.Errorf("the last renewal is %+v, want %+v", last, want)
		}
		if _, lost := a.times(); lost != 30*time.Second {
			t.Errorf("the context of lead ended at %v, want 30s", lost)
		}
	})
}

func TestALeaseIsLostWhenAnotherWriteSaysSo(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(w *world)
		reason leader.Reason
		text   string
	}{
		{"taken", func(w *world) {
			w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "other", "spec", "holderIdentity") })
		}, leader.Taken, `lost: "other" has taken the lease`},
		{"emptied", func(w *world) {
			w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "", "spec", "holderIdentity") })
		}, leader.Emptied, "somebody has removed the holder"},
		{"holder removed", func(w *world) {
			w.edit(func(l *meta.Unstructured) { meta.RemoveNested(l.Object, "spec", "holderIdentity") })
		}, leader.Emptied, "somebody has removed the holder"},
		{"spec removed", func(w *world) { w.edit(func(l *meta.Unstructured) { meta.RemoveNested(l.Object, "spec") }) }, leader.Emptied, "somebody has removed the holder"},
		{"deleted", func(w *world) {
			if err := w.leases.Delete(w.Context(), leaseKey, client.DeleteOptions{}); err != nil {
				w.Error(err)
			}
		}, leader.Deleted, "somebody has deleted the lease"},
		{"deleted and made again", func(w *world) {
			lease := w.lease()
			if err := w.leases.Delete(w.Context(), leaseKey, client.DeleteOptions{}); err != nil {
				w.Error(err)
			}
			meta.RemoveNested(lease, "metadata", "resourceVersion")
			meta.RemoveNested(lease, "metadata", "uid")
			if _, err := w.leases.Create(w.Context(), lease); err != nil {
				w.Error(err)
			}
		}, leader.Deleted, "somebody has deleted the lease"},
		{"shared", func(w *world) {
			w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, meta.MicroTime{Time: w.start}, "spec", "renewTime") })
		}, leader.Shared, "another process renews the lease under the same identity"},
		{"coordinated", func(w *world) {
			w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "OldestEmulationVersion", "spec", "strategy") })
		}, leader.Coordinated, `its spec.strategy is "OldestEmulationVersion"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{Lenient: true}, func(t *testing.T, w *world) {
				var losses []*leader.LostError
				a := w.contend("a", func(c *leader.Options) {
					c.Hooks.Lost = func(_ context.Context, err *leader.LostError) { losses = append(losses, err) }
				}, nil).run()
				w.until(20*time.Second + 500*time.Millisecond)
				var before string
				tc.change(w)
				if l, err := w.leases.Get(t.Context(), leaseKey); err == nil {
					before = l.GetResourceVersion()
				}
				err, lost := a.wait(), (*leader.LostError)(nil)
				if w.since() > 20*time.Second+501*time.Millisecond {
					t.Errorf("the loss was noticed after %v", w.since()-20*time.Second-500*time.Millisecond)
				}
				if !errors.As(err, &lost) || lost.Reason != tc.reason || lost.Identity != "a" || lost.Lease != leaseKey || !strings.Contains(err.Error(), tc.text) {
					t.Fatalf("error is %v, want reason %s and %q", err, tc.reason, tc.text)
				}
				if tc.reason == leader.Taken && lost.Holder != "other" {
					t.Errorf("the holder is %q", lost.Holder)
				}
				if a.cause() != error(lost) || !errors.Is(a.ctx().Err(), context.Canceled) || len(losses) != 1 || losses[0] != lost {
					t.Errorf("the cause is %v, and the hook got %v", a.cause(), losses)
				}
				if l, err := w.leases.Get(t.Context(), leaseKey); err == nil && l.GetResourceVersion() != before && tc.reason != leader.Coordinated {
					t.Errorf("the lease was written after the loss: %v", l.Object["spec"])
				} else if err != nil && !errors.Is(err, apierrors.NotFound) {
					t.Error(err)
				}
			})
		})
	}
}

// After etcd was restored from a backup, an earlier record of this process is not that of another process with its identity.
func TestARestoredLeaseIsLost(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(20*time.Second + 500*time.Millisecond)
		backup := w.server.ResourceVersion()
		w.until(30*time.Second + 500*time.Millisecond)
		if err := w.server.Rollback(backup); err != nil {
			t.Fatal(err)
		}
		err, lost := a.wait(), (*leader.LostError)(nil)
		if !errors.As(err, &lost) || lost.Reason != leader.Restored || errors.Is(err, leader.ErrShared) || !strings.Contains(err.Error(), "restored from a backup") {
			t.Errorf("error is %v, want reason %s", err, leader.Restored)
		}
		if w.since() > 33*time.Second {
			t.Errorf("the loss was noticed at %v", w.since())
		}
		w.contend("a", nil, nil).run()
		w.until(60 * time.Second)
		if l := w.lease(); l.GetResourceVersion() == backup {
			t.Error("nobody leads after the restoration")
		}
	})
}

// A shorter duration that somebody writes into the lease is put right at once: contenders believe it.
func TestAChangedDurationIsPutRight(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(20*time.Second + 500*time.Millisecond)
		w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, 1, "spec", "leaseDurationSeconds") })
		w.until(20*time.Second + 520*time.Millisecond)
		if got := field[int](w, w.lease(), "leaseDurationSeconds"); got != 15 || a.cause() != nil {
			t.Errorf("the duration is %d, and the cause is %v", got, a.cause())
		}
	})
}

// The server is away for longer than the lease. The context of lead ends in time, contenders go on trying, and one of them leads
// when the server is back.
func TestAServerThatIsAwayForLongerThanTheLease(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		b := w.contend("b", nil, nil).run()
		w.until(21 * time.Second)
		w.server.Freeze()
		w.server.Refuse(syscall.ECONNREFUSED)
		err, lost := a.wait(), (*leader.LostError)(nil)
		if !errors.As(err, &lost) || lost.Reason != leader.Expired || apierrors.NetworkOf(lost.Err) != apierrors.NetworkRefused {
			t.Errorf("error is %v", err)
		}
		if _, at := a.times(); at != 30*time.Second {
			t.Errorf("the context ended at %v, want 30s", at)
		}
		w.until(5 * time.Minute)
		w.server.Refuse(nil)
		again := a.Elector
		done := make(chan error)
		go func() { done <- again.Run(quiet(t), func(context.Context) error { return nil }) }()
		w.until(5*time.Minute + 20*time.Second)
		if b.ctx() == nil {
			t.Fatalf("nobody leads: %v", b.errors())
		}
		_ = b.stop()
		if err := <-done; err != nil {
			t.Errorf("the second Run returned %v", err)
		}
	})
}

// A connection that has died without a word costs one attempt, also over HTTP/2, where all requests share it.
func TestAHalfOpenConnectionDoesNotCostTheLease(t *testing.T) {
	for _, o := range []clienttest.Options{{}, {TLS: true}, {HTTP2: true}} {
		play(t, o, func(t *testing.T, w *world) {
			a := w.contend("a", nil, nil).run()
			w.until(21 * time.Second)
			w.server.Freeze()
			w.until(time.Minute)
			if a.cause() != nil {
				t.Errorf("the lease was lost: %v", a.cause())
			}
			if len(a.errors()) == 0 {
				t.Error("nothing was reported")
			}
		})
	}
}

// An API server that takes four seconds for each answer is slow and not away.
func TestASlowServerDoesNotCostTheLease(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if !isLeaseWrite(r) {
				return nil
			}
			return func(rw http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(4 * time.Second):
					w.server.ServeHTTP(rw, r)
				case <-r.Context().Done():
				}
			}
		})
		var slow atomic.Int32
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Renewed = func(_ context.Context, i leader.RenewalInfo) {
				if i.Duration >= 4*time.Second {
					slow.Add(1)
				}
			}
		}, nil).run()
		w.until(5 * time.Minute)
		if a.cause() != nil || slow.Load() < 10 {
			t.Errorf("the cause is %v, and %d renewals were slow", a.cause(), slow.Load())
		}
	})
}

// Others that write to the lease all the time do not keep the leader from renewing it.
func TestARenewalSurvivesAStormOfWrites(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		for n := range 600 {
			w.until(time.Second + time.Duration(n)*100*time.Millisecond)
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, map[string]string{"n": time.Now().String()}, "metadata", "annotations")
			})
		}
		if a.cause() != nil || len(a.errors()) > 0 {
			t.Errorf("the cause is %v; errors: %v", a.cause(), a.errors())
		}
	})
}

// A hook that does not return delays renewals. The term ends in time all the same.
func TestAHookThatHangsCostsTheLeaseInTime(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		release := make(chan struct{})
		defer close(release)
		a := w.contend("a", func(c *leader.Options) {
			c.Hooks.Renewed = func(context.Context, leader.RenewalInfo) { <-release }
		}, nil).run()
		w.until(11*time.Second + 999*time.Millisecond) // renewed once, at 2 s
		if a.cause() != nil {
			t.Fatalf("the lease was lost too early: %v", a.cause())
		}
		w.until(12 * time.Second)
		if lost := (*leader.LostError)(nil); !errors.As(a.cause(), &lost) || lost.Reason != leader.Expired {
			t.Errorf("the cause is %v", a.cause())
		}
	})
}

package leader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// heldBy is the spec of a lease, as its holder has written it at a moment that the contender's clock cannot confirm.
func heldBy(holder string, renewed time.Time) map[string]any {
	at := meta.MicroTime{Time: renewed}
	return map[string]any{"holderIdentity": holder, "leaseDurationSeconds": 15, "acquireTime": at, "renewTime": at, "leaseTransitions": 7}
}

// behaviour 343
func TestALeaseIsTakenWhenItIsFree(t *testing.T) {
	ago := time.Now().Add(-time.Hour)
	for _, tc := range []struct {
		name string
		spec map[string]any // nil: there is no lease
		want time.Duration  // when lead is called
		term int64
	}{
		{"no lease", nil, 0, 0},
		{"empty spec", map[string]any{}, 0, 1},
		{"released", heldBy("", ago), 0, 8},
		// The time in the lease does not count: it may be that of a clock that is wrong.
		{"renewed an hour ago", heldBy("other", ago), 15 * time.Second, 8},
		{"renewed in a hundred years", heldBy("other", time.Now().AddDate(100, 0, 0)), 15 * time.Second, 8},
		{"without times", map[string]any{"holderIdentity": "other", "leaseDurationSeconds": 20, "leaseTransitions": 7}, 20 * time.Second, 8},
		// Options.LeaseDuration counts where the lease has none.
		{"without a duration", map[string]any{"holderIdentity": "other", "leaseTransitions": 7}, 15 * time.Second, 8},
		{"negative duration", map[string]any{"holderIdentity": "other", "leaseDurationSeconds": -3, "leaseTransitions": 7}, 15 * time.Second, 8},
		{"short duration", map[string]any{"holderIdentity": "other", "leaseDurationSeconds": 3, "leaseTransitions": 7}, 3 * time.Second, 8},
		{"negative count", map[string]any{"holderIdentity": "", "leaseTransitions": -4}, 0, 0},
		{"count with room for one more", map[string]any{"holderIdentity": "", "leaseTransitions": 1<<31 - 2}, 0, 1<<31 - 1},
		{"count without room for more", map[string]any{"holderIdentity": "", "leaseTransitions": 1<<31 - 1}, 0, 1<<31 - 1},
		// An earlier process of this name may still run.
		{"own identity", heldBy("a", ago), 15 * time.Second, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{Lenient: true}, func(t *testing.T, w *world) { // also what an older server took
				if tc.spec != nil {
					w.put(tc.spec)
				}
				a := w.contend("a", nil, nil).run()
				if tc.want > 0 {
					w.until(tc.want - time.Millisecond)
					if a.ctx() != nil {
						t.Fatal("lead was called while the lease was not free")
					}
				}
				w.until(tc.want + time.Millisecond)
				if a.ctx() == nil {
					t.Fatalf("lead was not called after %v: %v", w.since(), a.errors())
				}
				if term, ok := leader.TermOf(a.ctx()); !ok || term.Number != tc.term || term.Identity != "a" || term.UID != w.lease().GetUID() {
					t.Errorf("the term is %+v, want number %d", term, tc.term)
				}
				lease := w.lease()
				if field[string](w, lease, "holderIdentity") != "a" || field[int](w, lease, "leaseDurationSeconds") != 15 || field[int64](w, lease, "leaseTransitions") != tc.term {
					t.Errorf("the lease is %v", lease.Object["spec"])
				}
				if errs := a.errors(); len(errs) > 0 {
					t.Errorf("errors: %v", errs)
				}
			})
		})
	}
}

// A store that has seen a number refuses the writes of lower ones, so a number that went back to 0 locked out every later leader.
func TestTheNumberOfATermNeverGoesBack(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(map[string]any{"leaseTransitions": 1<<31 - 2})
		for range 3 {
			var said bytes.Buffer
			a := w.contend("a", func(c *leader.Options) { c.Logger = logr.FromSlogHandler(slog.NewTextHandler(&said, nil)) }, nil).run()
			w.until(w.since() + 20*time.Second)
			if term, ok := leader.TermOf(a.ctx()); !ok || term.Number != 1<<31-1 {
				t.Errorf("the term is %+v", term)
			}
			if err := a.stop(); err != nil {
				t.Error(err)
			}
			if text := "spec.leaseTransitions is at its maximum"; strings.Count(said.String(), text) != 1 {
				t.Errorf("want %q once in the log:\n%s", text, said.String())
			}
		}
	})
}

// A lease whose duration somebody has edited to years excludes all others if its holder ends before the next renewal.
func TestALeaseThatExcludesForYearsIsReported(t *testing.T) {
	const year = 365 * 24 * 3600
	for _, tc := range []struct {
		name    string
		seconds int
		reports bool
	}{{"years", 10 * year, true}, {"the longest", 1<<31 - 1, true}, {"a minute", 60, true}, {"twice the own duration", 30, false}} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				spec := heldBy("other", w.start)
				spec["leaseDurationSeconds"] = tc.seconds
				w.put(spec)
				a := w.contend("a", nil, nil).run()
				w.until(15 * time.Second)
				if errs := a.errors(); len(errs) > 0 || a.Status().Err != nil {
					t.Errorf("the holder has had no time to renew: %v, status %v", errs, a.Status().Err)
				}
				w.until(29 * time.Second)
				if !tc.reports {
					if errs := a.errors(); len(errs) > 0 {
						t.Errorf("errors: %v", errs)
					}
					w.until(31 * time.Second)
				} else if tc.seconds > year {
					text := fmt.Sprint(a.Status().Err)
					var silent, more time.Duration
					if at := regexp.MustCompile(`^lead by lease "default/web": "other" has not renewed it for (\S+), and its spec.leaseDurationSeconds keeps all others waiting for (\S+) more; if the holder has ended, remove spec.holderIdentity from the lease$`).FindStringSubmatch(text); at != nil {
						silent, _ = time.ParseDuration(at[1])
						more, _ = time.ParseDuration(at[2])
					}
					if silent < 15*time.Second || silent > 30*time.Second || (silent+more-time.Duration(tc.seconds)*time.Second).Abs() > time.Second { // both are rounded
						t.Errorf("status has the error %s", text)
					}
					w.until(time.Hour)
					if n := len(a.errors()); n < 7 || n > 10 { // after 5 s, 15 s, 45 s and so on to a quarter of an hour
						t.Errorf("%d reports in an hour", n)
					}
					w.edit(func(l *meta.Unstructured) { _ = meta.SetNested(l, "", "spec", "holderIdentity") }) // as the error says
					w.until(w.since() + time.Second)
				} else {
					if n := len(a.errors()); n == 0 {
						t.Error("no report")
					}
					w.until(61 * time.Second)
				}
				if a.ctx() == nil || a.Status().Err != nil {
					t.Errorf("lead was called: %v; status has the error %v", a.ctx() != nil, a.Status().Err)
				}
			})
		})
	}
}

// A renewal ends the report, and the next silence begins another one.
func TestALongLeaseThatIsRenewedLateIsReportedAgain(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(map[string]any{"holderIdentity": "other", "leaseDurationSeconds": 1 << 30})
		var said bytes.Buffer
		a := w.contend("a", nil, nil).run()
		w.contend("b", func(c *leader.Options) {
			c.OnError, c.Logger = nil, logr.FromSlogHandler(slog.NewTextHandler(&said, nil))
		}, nil).run()
		for n := range 2 {
			w.until(w.since() + time.Hour)
			before := len(a.errors())
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, meta.MicroTime{Time: time.Now()}, "spec", "renewTime")
			})
			w.until(w.since() + 5*time.Second)
			if err := a.Status().Err; err != nil {
				t.Errorf("the lease has been renewed, and status has the error %v", err)
			}
			w.until(w.since() + 40*time.Second)
			if again := len(a.errors()) - before; again < 2 || a.Status().Err == nil {
				t.Errorf("%d reports in the next silence, status has the error %v", again, a.Status().Err)
			}
			if got := strings.Count(said.String(), "the lease no longer keeps others waiting"); got != n+1 {
				t.Errorf("%d lines say that it is over, want %d:\n%s", got, n+1, said.String())
			}
		}
	})
}

// A holder that is alive puts the duration right, so nothing is reported.
func TestALongLeaseThatIsRenewedIsNotReported(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(map[string]any{"holderIdentity": "other", "leaseDurationSeconds": 3600})
		a := w.contend("a", nil, nil).run()
		for n := range 20 {
			w.until(time.Duration(n+1) * 10 * time.Second)
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, meta.MicroTime{Time: time.Now()}, "spec", "renewTime")
			})
		}
		if errs := a.errors(); len(errs) > 0 || a.Status().Err != nil {
			t.Errorf("errors %v, status %v", errs, a.Status().Err)
		}
	})
}

// A lease that is deleted excludes for as long, because its holder may not know it. A process that has not seen it does not wait.
func TestALongLeaseThatIsDeletedIsReported(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(map[string]any{"holderIdentity": "other", "leaseDurationSeconds": 1 << 30})
		a := w.contend("a", nil, nil).run()
		w.until(10 * time.Second)
		if err := w.leases.Delete(t.Context(), leaseKey, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until(time.Minute)
		if err := a.Status().Err; err == nil || !strings.Contains(err.Error(), "restart this process") {
			t.Errorf("status has the error %v", err)
		}
		if err := a.stop(); err != nil || a.Status().Err != nil {
			t.Errorf("Run returned %v, and status has the error %v", err, a.Status().Err)
		}
		b := w.contend("b", nil, nil).run()
		w.until(w.since() + time.Second)
		if b.ctx() == nil {
			t.Error("lead was not called")
		}
	})
}

// behaviour 343: a holder that renews keeps the lease, however slowly and whatever it writes into the times.
func TestALeaseThatIsRenewedIsNotTaken(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		a := w.contend("a", nil, nil).run()
		for n := range 20 {
			w.until(time.Duration(n+1) * 14900 * time.Millisecond)
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, meta.MicroTime{Time: w.start.Add(-time.Duration(n+1) * time.Hour)}, "spec", "renewTime")
			})
		}
		at := time.Now()
		w.until(w.since() + time.Second)
		if a.ctx() != nil {
			t.Error("lead was called although the lease was renewed")
		}
		if s := a.Status(); s.Leader != "other" || s.Leading || s.Left != 0 || !s.Running || s.Term != 7 || !s.Observed.Equal(at) {
			t.Errorf("status is %+v", s)
		}
	})
}

// A tool that annotates the lease again and again neither keeps it alive nor loses its annotations.
func TestWritesOfOthersDoNotKeepALeaseAlive(t *testing.T) {
	play(t, clienttest.Options{Lenient: true}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		a := w.contend("a", func(c *leader.Options) { c.Labels = map[string]string{"app": "web"} }, nil).run()
		for n := range 15 {
			w.until(time.Duration(n)*time.Second + 500*time.Millisecond)
			w.edit(func(l *meta.Unstructured) {
				_ = meta.SetNested(l, map[string]string{"n": string(rune('a' + n))}, "metadata", "annotations")
				_ = meta.SetNested(l, map[string]string{"theirs": "x"}, "metadata", "labels")
				_ = meta.SetNested(l, "theirs", "spec", "preferredHolder")
			})
		}
		w.until(15*time.Second + 100*time.Millisecond)
		if a.ctx() == nil {
			t.Fatal("lead was not called when the lease had run out")
		}
		w.until(20 * time.Second)
		lease := w.lease()
		if lease.GetAnnotations()["n"] != "o" || lease.GetLabels()["theirs"] != "x" || lease.GetLabels()["app"] != "web" || field[string](w, lease, "preferredHolder") != "theirs" {
			t.Errorf("the lease is %v", lease.Object)
		}
	})
}

// A watch that fails, or that the server does not permit, costs time and nothing else.
func TestContendersPollWithoutAWatch(t *testing.T) {
	for _, tc := range []struct {
		name   string
		watch  http.HandlerFunc
		is     func(error) bool
		within time.Duration
	}{
		{"forbidden", clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden", Message: "no"}), func(err error) bool { return errors.Is(err, apierrors.Forbidden) }, 3500 * time.Millisecond},
		{"reset", clienttest.Reset(), func(err error) bool { return apierrors.NetworkOf(err) == apierrors.NetworkReset }, 3500 * time.Millisecond},
		{"silent", clienttest.Frames(true), nil, 3500 * time.Millisecond},
		{"ends at once", clienttest.Frames(false), nil, 3500 * time.Millisecond},
		{"garbage", clienttest.Frames(false, `{"type":"ODD","object":{}}`), func(err error) bool { return errors.As(err, new(*client.EventError)) }, 3500 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if clienttest.RequestOf(r).Verb == "watch" {
						return tc.watch
					}
					return nil
				})
				a := w.contend("a", nil, nil).run()
				w.until(time.Second)
				b := w.contend("b", nil, nil).run()
				w.until(time.Minute + 500*time.Millisecond)
				if err := a.stop(); err != nil {
					t.Error(err)
				}
				w.until(time.Minute + 500*time.Millisecond + tc.within)
				if began, _ := b.times(); b.ctx() == nil || began < time.Minute {
					t.Fatalf("lead of the other contender began at %v, want within %v", began, tc.within)
				}
				errs := b.errors()
				if tc.is == nil && len(errs) > 0 || tc.is != nil && len(errs) == 0 {
					t.Errorf("errors: %v", errs)
				}
				for _, err := range errs {
					if !tc.is(err) {
						t.Errorf("error is %v", err)
					}
				}
				if w.server.Requests()[clienttest.Call{Verb: "watch", Resource: "leases"}] > 150 {
					t.Errorf("requests: %v", w.server.Requests())
				}
			})
		})
	}
}

// While the watch works and the holder renews, a contender sends nothing.
func TestAContenderThatWatchesDoesNotPoll(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.contend("a", nil, nil).run()
		w.until(time.Second)
		w.contend("b", nil, nil).run()
		w.until(2 * time.Second)
		before := w.server.Requests()[clienttest.Call{Verb: "get", Resource: "leases"}]
		w.until(time.Hour)
		if got := w.server.Requests()[clienttest.Call{Verb: "get", Resource: "leases"}] - before; got != 0 {
			t.Errorf("%d reads in an hour", got)
		}
	})
}

// A watch that has gone silent is found out by a poll that sees a change, and opened again.
func TestASilentWatchIsOpenedAgain(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var loud atomic.Bool
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if !loud.Load() && clienttest.RequestOf(r).Verb == "watch" {
				return clienttest.Frames(true)
			}
			return nil
		})
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		b := w.contend("b", nil, nil).run()
		w.until(time.Minute)
		loud.Store(true)
		w.until(time.Minute + 10500*time.Millisecond)
		_ = a.stop()
		w.until(time.Minute + 10501*time.Millisecond)
		if b.ctx() == nil {
			t.Error("the other contender did not learn of the release by its watch")
		}
	})
}

func TestAMissingPermissionIsReportedAtOnceAndTriedAgainSlowly(t *testing.T) {
	for _, verb := range []string{"get", "create"} {
		t.Run(verb, func(t *testing.T) {
			var forbidden atomic.Bool
			o := clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return !forbidden.Load() || a.Verb != verb, "" }}
			play(t, o, func(t *testing.T, w *world) {
				forbidden.Store(true)
				a := w.contend("a", nil, nil).run()
				w.until(time.Millisecond)
				errs := a.errors()
				if len(errs) == 0 || !errors.Is(errs[0], apierrors.Forbidden) || !strings.Contains(errs[0].Error(), "default/web") {
					t.Fatalf("errors: %v", errs)
				}
				if err := a.Status().Err; !errors.Is(err, apierrors.Forbidden) {
					t.Errorf("status has the error %v", err)
				}
				w.until(10 * time.Minute)
				if n := len(a.errors()); n < 8 || n > 100 {
					t.Errorf("%d attempts in ten minutes", n)
				}
				forbidden.Store(false)
				w.until(11*time.Minute + time.Second)
				if a.ctx() == nil || a.Status().Err != nil {
					t.Errorf("lead was called: %v; status has the error %v", a.ctx() != nil, a.Status().Err)
				}
			})
		})
	}
}

// The log said that the election works again after each read of the lease, and when Run released it.
func TestAReadDoesNotMeanThatRefusedWritesWorkAgain(t *testing.T) {
	for _, verb := range []string{"create", "update"} {
		t.Run(verb, func(t *testing.T) {
			var forbidden atomic.Bool
			o := clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return !forbidden.Load() || a.Verb != verb, "" }}
			play(t, o, func(t *testing.T, w *world) {
				var said bytes.Buffer
				a := w.contend("a", func(c *leader.Options) {
					c.OnError, c.Logger = nil, logr.FromSlogHandler(slog.NewTextHandler(&said, nil))
				}, nil)
				forbidden.Store(verb == "create") // otherwise the lease is made first
				a.run()
				w.until(time.Second)
				forbidden.Store(true)
				w.until(9 * time.Second)
				_ = a.stop()
				if text := said.String(); !strings.Contains(text, " fails") || strings.Contains(text, "works again") {
					t.Errorf("the log is\n%s", text)
				}
			})
		})
	}
}

// A lease in a watch that does not decode ends that watch with an error, and neither the lead nor the contention.
func TestALeaseThatDoesNotDecodeIsReported(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		var broken atomic.Bool
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if !broken.Load() || clienttest.RequestOf(r).Verb != "watch" {
				return nil
			}
			deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
			return clienttest.Frames(true, `{"type":"MODIFIED","object":{"apiVersion":"coordination.k8s.io/v1","kind":"Lease",`+
				`"metadata":{"namespace":"default","name":"web","uid":"x","resourceVersion":"999"},"spec":{"deep":`+deep+`}}}`)
		})
		a := w.contend("a", nil, nil).run()
		w.until(time.Second)
		b := w.contend("b", nil, nil).run()
		var said bytes.Buffer
		w.contend("c", func(c *leader.Options) {
			c.OnError, c.Logger = nil, logr.FromSlogHandler(slog.NewTextHandler(&said, nil))
		}, nil).run()
		w.until(10 * time.Second)
		broken.Store(true)
		w.server.DropWatches()
		w.until(5 * time.Minute)
		for _, p := range []*contender{a, b} {
			decode := (*client.DecodeError)(nil)
			if errs := p.errors(); len(errs) < 3 || len(errs) > 100 || !errors.As(errs[len(errs)-1], &decode) {
				t.Errorf("%s has %d errors: %v", p.Status().Identity, len(errs), errs)
			}
		}
		broken.Store(false)
		w.until(7 * time.Minute)
		if text := said.String(); !strings.Contains(text, "watch fails") || strings.Count(text, "watch works again") != 1 {
			t.Errorf("the log is\n%s", text)
		}
		broken.Store(true)
		w.server.DropWatches()
		w.until(8 * time.Minute)
		if a.cause() != nil || b.ctx() != nil {
			t.Errorf("the leader: %v; the other leads: %v", a.cause(), b.ctx() != nil)
		}
		_ = a.stop()
		w.until(w.since() + 5*time.Second)
		if w.holder() == "a" || w.holder() == "" {
			t.Error("the other contenders do not poll")
		}
	})
}

// An answer that would be the same again is asked for slowly, and one that may pass in each RetryPeriod.
func TestThePaceAfterAnAnswer(t *testing.T) {
	for _, tc := range []struct {
		code int
		slow bool
	}{{400, true}, {403, true}, {408, false}, {409, false}, {422, true}, {429, false}, {499, true}, {500, false}, {503, false}} {
		t.Run(http.StatusText(tc.code), func(t *testing.T) {
			play(t, clienttest.Options{}, func(t *testing.T, w *world) {
				attempts := 0
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if clienttest.RequestOf(r).Verb != "get" {
						return nil
					}
					attempts++
					return clienttest.Answer(meta.Status{Code: tc.code, Reason: "Odd", Message: "no"})
				})
				a := w.contend("a", nil, nil).run()
				w.until(10 * time.Minute)
				if tc.slow && attempts > 40 || !tc.slow && attempts < 250 {
					t.Errorf("%d attempts in ten minutes", attempts)
				}
				if len(a.errors()) < attempts {
					t.Errorf("%d errors of %d attempts", len(a.errors()), attempts)
				}
			})
		})
	}
}

func TestAMissingNamespaceIsReportedAndMayAppear(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("a", func(c *leader.Options) { c.Namespace = "later" }, nil).run()
		w.until(time.Second)
		errs := a.errors()
		if len(errs) == 0 || !errors.Is(errs[0], apierrors.NotFound) || !strings.Contains(errs[0].Error(), `namespaces "later" not found`) {
			t.Fatalf("errors: %v", errs)
		}
		namespaces := client.For(w.client(nil), client.Type[*meta.Partial]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
		if _, err := namespaces.Create(t.Context(), &meta.Partial{ObjectMeta: meta.ObjectMeta{Name: "later"}}); err != nil {
			t.Fatal(err)
		}
		w.until(time.Minute + time.Second)
		if a.ctx() == nil {
			t.Errorf("lead was not called: %v", a.errors())
		}
	})
}

// A 404 that does not say that there is no such lease may come from a proxy, or from a server that is starting.
func TestANotFoundFromAProxyDoesNotMeanThatTheLeaseIsMissing(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			switch q := clienttest.RequestOf(r); {
			case w.since() > time.Minute:
				return nil
			case q.Verb == "watch":
				return clienttest.Reset()
			case q.Verb == "get" && w.since() < time.Second:
				return func(rw http.ResponseWriter, r *http.Request) { http.NotFound(rw, r) }
			case q.Verb == "get":
				return clienttest.Answer(meta.Status{Code: 404, Reason: "NotFound", Message: "the server could not find the requested resource"})
			}
			return nil
		})
		a := w.contend("a", nil, nil).run()
		w.until(time.Minute)
		if n := w.server.Requests()[clienttest.Call{Verb: "create", Resource: "leases"}]; n != 1 {
			t.Errorf("%d leases were created, want that of the test alone", n)
		}
		if err := errors.Join(a.errors()...); !strings.Contains(err.Error(), "404 page not found") || !strings.Contains(err.Error(), "could not find the requested resource") {
			t.Errorf("errors: %v", err)
		}
		w.until(3 * time.Minute)
		if a.ctx() == nil {
			t.Errorf("lead was not called: %v", a.errors())
		}
	})
}

// The answer to a write that was made is lost: a read finds it, and nobody waits for a lease that is their own.
func TestAnAcquisitionWhoseAnswerIsLostIsFound(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec map[string]any
	}{{"create", nil}, {"update", heldBy("", time.Now())}} {
		t.Run(tc.name, func(t *testing.T) {
			play(t, clienttest.Options{Lenient: true}, func(t *testing.T, w *world) { // also what an older server took
				if tc.spec != nil {
					w.put(tc.spec)
				}
				var lost atomic.Int32
				w.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if isLeaseWrite(r) && lost.Add(1) == 1 {
						return w.server.ResetBody(0)
					}
					return nil
				})
				a := w.contend("a", nil, nil).run()
				w.until(2 * time.Second)
				if a.ctx() == nil {
					t.Fatalf("lead was called: %v; %d writes; errors: %v", a.ctx() != nil, lost.Load(), a.errors())
				}
				if n := field[int](w, w.lease(), "leaseTransitions"); n != 0 && tc.spec == nil || n != 8 && tc.spec != nil {
					t.Errorf("the lease is %v", w.lease().Object["spec"])
				}
			})
		})
	}
}

// Run ends while it is not known whether its last write was made. It was: it is taken back.
func TestAnAcquisitionThatIsGivenUpIsReleased(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		p := w.contend("a", nil, nil)
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if q := clienttest.RequestOf(r); q.Resource.Resource == "leases" && q.Verb == "create" {
				return func(rw http.ResponseWriter, r *http.Request) {
					w.server.ServeHTTP(discard{}, r)
					p.cancel()
					<-r.Context().Done()
				}
			}
			return nil
		})
		p.run()
		if err := p.wait(); err != nil {
			t.Error(err)
		}
		if p.ctx() != nil {
			t.Error("lead was called")
		}
		if got := w.holder(); got != "" {
			t.Errorf("the holder is %q, want none", got)
		}
	})
}

// discard takes an answer that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

// A contender that has seen the holder of a deleted lease waits for it: the holder may not know yet.
func TestADeletedLeaseIsNotTakenBeforeItWouldHaveRunOut(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		a := w.contend("a", nil, nil).run()
		w.until(5 * time.Second)
		if err := w.leases.Delete(t.Context(), leaseKey, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.until(15*time.Second - time.Millisecond)
		if a.ctx() != nil {
			t.Fatal("lead was called while the holder might not know that the lease was deleted")
		}
		w.until(15*time.Second + time.Millisecond)
		if a.ctx() == nil {
			t.Fatal("lead was not called")
		}
	})
}

func TestASharedIdentityIsNoticed(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := w.contend("same", nil, nil).run()
		w.until(time.Second)
		b := w.contend("same", nil, nil).run()
		w.until(20 * time.Second)
		if err := b.wait(); !errors.Is(err, leader.ErrShared) || !strings.Contains(err.Error(), `lead by lease "default/web" as "same"`) {
			t.Errorf("the second one returned %v", err)
		}
		if a.ctx() == nil || a.ctx().Err() != nil || b.ctx() != nil {
			t.Error("want the first one to lead, and the second one not")
		}
	})
}

func TestALeaseOfCoordinatedElectionIsLeftAlone(t *testing.T) {
	play(t, clienttest.Options{Lenient: true}, func(t *testing.T, w *world) {
		spec := heldBy("", w.start)
		spec["strategy"] = "OldestEmulationVersion"
		w.put(spec)
		before := w.lease().GetResourceVersion()
		err := w.contend("a", nil, nil).run().wait()
		if !errors.Is(err, leader.ErrCoordinated) || !strings.Contains(err.Error(), `lead by lease "default/web": its spec.strategy is "OldestEmulationVersion"`) {
			t.Errorf("error is %v", err)
		}
		if w.lease().GetResourceVersion() != before {
			t.Error("the lease was written")
		}
	})
}

// Three contenders whose lease runs out at the same moment: one wins.
func TestALeaseThatRunsOutIsTakenByOne(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.put(heldBy("other", w.start))
		var all []*contender
		for _, identity := range []string{"a", "b", "c", "d", "e"} {
			all = append(all, w.contend(identity, nil, nil).run())
		}
		w.until(time.Minute)
		leaders := 0
		for _, p := range all {
			if p.ctx() != nil {
				leaders++
			}
			if errs := p.errors(); len(errs) > 0 {
				t.Errorf("errors: %v", errs)
			}
		}
		if leaders != 1 || field[int](w, w.lease(), "leaseTransitions") != 8 {
			t.Errorf("%d lead, and the lease is %v", leaders, w.lease().Object["spec"])
		}
	})
}

// A contender whose context has ended sends nothing.
func TestNothingIsSentWithAContextThatHasEnded(t *testing.T) {
	play(t, clienttest.Options{}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := w.contend("a", nil, nil)
		if err := a.Run(ctx, a.lead); err != nil {
			t.Error(err)
		}
		if n := len(w.server.Requests()); n != 0 {
			t.Errorf("requests: %v", w.server.Requests())
		}
	})
}

package shards_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// breaks ends the watches of all replicas, and has the requests fail with verbs that are in broken for their replicas.
func (w *world) breaks(broken map[*replica]string) {
	w.server.Intercept(func(q *http.Request) http.HandlerFunc {
		for r, verbs := range broken {
			if q.UserAgent() == r.Status().Identity && strings.Contains(verbs, clienttest.RequestOf(q).Verb) {
				return clienttest.Reset()
			}
		}
		return nil
	})
	w.server.DropWatches()
}

// untilWhole waits until some replicas have all ranges, and returns how long that has taken.
func (w *world) untilWhole(rs ...*replica) time.Duration {
	w.Helper()
	began := time.Now()
	for time.Since(began) < 5*time.Minute {
		if _, all := w.ranges(rs...); all == meta.AllRanges() {
			break
		}
		w.pass(100 * time.Millisecond)
	}
	return time.Since(began)
}

// A replica does not begin what another one may work on whose lease was made, and deleted by hand, while this one could read nothing.
func TestALeaseThatNoReplicaHasSeen(t *testing.T) {
	for what, test := range map[string]struct {
		compact bool
		still   string // which requests go on failing
	}{
		"the watch goes on":          {},
		"the watch cannot go on":     {compact: true},
		"there is no watch any more": {still: "watch"},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(w *world) {
				a, c := w.replica("a", nil).run(), w.replica("c", nil).run()
				w.pass(20 * time.Second)
				w.whole(a, c)
				prepares := a.Follow("the cache")
				prepares.Have(a.Status().Ranges) // so that a does not claim for ranges of c before b does
				w.breaks(map[*replica]string{a: "list watch"})
				c.m.Freeze()
				b := w.replica("b", nil).run()
				w.pass(19 * time.Second)
				if n := b.Status().Ranges.Len(); n < 30 {
					t.Fatalf("b has taken %d ranges of c", n)
				}
				if test.compact {
					w.server.Compact()
				}
				w.breaks(map[*replica]string{a: test.still, b: "get list watch create update patch delete"})
				if err := client.For(w.client(nil), Leases).Delete(w.Context(), b.Status().Lease, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				prepares.Have(meta.AllRanges())
				for range 500 {
					w.pass(100 * time.Millisecond)
					w.ranges(a, b)
				}
				if has := a.Status().Ranges; has != meta.AllRanges() {
					t.Errorf("in the end a has %d ranges: %v", has.Len(), a.Status())
				}
			})
		})
	}
}

// A watch that is silently dead is opened anew.
func TestADeadWatchDoesNotHoldUpAHandOver(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		w.server.Freeze()
		w.pass(time.Second)
		b := w.replica("b", nil).run()
		w.pass(10 * time.Second)
		w.even(w.whole(a, b), 128)
	})
}

// A watch that brings the renewals is kept, and the time of the list before it does not count.
func TestAWatchThatBringsEventsIsKept(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(3 * time.Second)
		w.delayed(6300 * time.Millisecond) // a watch is dead after 6.5 s without an event, and a renewal comes after 7
		w.server.EndWatches()
		w.pass(time.Minute)
		w.whole(a)
		if len(a.errs) > 0 {
			t.Errorf("OnError has got %v", a.errs)
		}
	})
}

// A server that ends each watch at once is not asked for another one at once.
func TestAWatchThatEndsAtOnceIsNotOpenedAtOnce(t *testing.T) {
	play(t, func(w *world) {
		var watches atomic.Int32
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			switch {
			case clienttest.RequestOf(r).Verb != "watch":
				return nil
			case watches.Add(1) > 1000: // otherwise this would never end
				return clienttest.Hang()
			}
			return func(answer http.ResponseWriter, _ *http.Request) {
				answer.Header().Set("Content-Type", "application/json")
			}
		})
		a := w.replica("a", nil).run()
		w.pass(time.Minute)
		w.whole(a)
		if n := watches.Load(); n < 10 || n > 100 {
			t.Errorf("%d watches in a minute", n)
		}
	})
}

// A server that is restored from a backup counts its versions on from that: events with lower ones than before are new.
func TestAServerThatIsRestoredFromABackup(t *testing.T) {
	play(t, func(w *world) {
		a, b := w.replica("a", nil).run(), w.replica("b", nil).run()
		w.pass(20 * time.Second)
		w.whole(a, b)
		backup := w.server.ResourceVersion()
		maps := client.For(w.client(nil), ConfigMaps)
		for i := range 500 {
			o := &ConfigMap{}
			o.Namespace, o.Name = "default", fmt.Sprint(i)
			if _, err := maps.Create(w.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(5 * time.Second)
		if err := w.server.Rollback(backup); err != nil {
			t.Fatal(err)
		}
		w.pass(3 * time.Second)
		if took := w.untilWhole(a, b); took < 10*time.Second || took > 30*time.Second { // both must lose their leases, and wait
			t.Errorf("all ranges are somebody's again after %v", took)
		}
		for range 600 {
			w.pass(100 * time.Millisecond)
			w.ranges(a, b)
		}
		w.even(w.whole(a, b), 128)
	})
}

// Replicas that may not watch the leases share the ranges too. They take ranges later that nobody gives up.
func TestReplicasThatMayNotWatch(t *testing.T) {
	play(t, func(w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Verb == "watch" {
				return clienttest.Answer(meta.Status{Code: http.StatusForbidden, Reason: "Forbidden", Message: "watching is not allowed"})
			}
			return nil
		})
		a := w.replica("a", nil).run()
		within := func(what string, most time.Duration, rs ...*replica) {
			t.Helper()
			if took := w.untilWhole(rs...); took > most {
				t.Errorf("%s: all ranges are somebody's after %v, want %v at most", what, took, most)
			}
		}
		within("a begins", 16*time.Second, a)
		b := w.replica("b", nil).run()
		w.pass(10 * time.Second)
		w.even(w.whole(a, b), 128)
		b.m.Freeze()
		w.pass(12 * time.Second)
		within("b has crashed", 25*time.Second, a)
		c := w.replica("c", nil).run()
		w.pass(30 * time.Second)
		w.whole(a, c)
		c.cancel()
		<-c.ended
		within("c has left", 20*time.Second, a)
		if !slices.ContainsFunc(a.errs, func(err error) bool { return errors.Is(err, apierrors.Forbidden) }) {
			t.Errorf("OnError has got %v", a.errs)
		}
	})
}

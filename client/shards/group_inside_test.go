package shards

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
)

// A write whose answer is lost may have taken from the lease what it left out: from the moment before it is sent, nobody knows.
func TestARangeIsAcceptedOnlyIfEveryPossibleWriteHasIt(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	g := New(c, Options{Namespace: "default", Name: "web", Identity: "a"})
	g.replica.claims = of(1, 2)
	stored := g.annotations()
	if g.replica.accepted != (meta.Ranges{}) {
		t.Errorf("a write that is on its way is said to be accepted: %v", g.replica.accepted)
	}
	g.stored("5", stored)
	if g.replica.accepted != of(1, 2) || g.replica.view.own != "5" {
		t.Errorf("%v has been accepted, want 1 and 2; the lease is known to have had version %q", g.replica.accepted, g.replica.view.own)
	}
	g.replica.observed.came("5")
	g.replica.claims = of(1)
	_ = g.annotations() // which is lost
	g.replica.claims = of(1, 2)
	if g.replica.accepted != of(1) || g.replica.observed.ranges != of(1) {
		t.Errorf("after a write without it %v is accepted, and the watch has brought %v", g.replica.accepted, g.replica.observed.ranges)
	}
	g.stored("6", stored)
	if g.replica.accepted != of(1, 2) || g.replica.observed.ranges != of(1) {
		t.Errorf("after a read %v is accepted, and the watch has brought %v", g.replica.accepted, g.replica.observed.ranges)
	}
	g.stored("7", map[string]string{shareAnnotation: "somebody's"})
	if g.replica.accepted != (meta.Ranges{}) || !g.replica.edited {
		t.Errorf("of a lease that somebody has edited %v is accepted", g.replica.accepted)
	}
}

// A replica that has lost its lease does not say any more what it has worked on: others may work on that. One that gives its lease back does.
func TestALostLeaseClearsTheWorkedRanges(t *testing.T) {
	for what, test := range map[string]struct {
		why  error
		want meta.Ranges
	}{
		"lost":       {&leader.LostError{Reason: leader.Expired}, of()},
		"given back": {context.Canceled, of(1)},
	} {
		g := New(nil, Options{Namespace: "default", Name: "web", Identity: "a"})
		g.replica.owned = of(1)
		held, end := context.WithCancelCause(t.Context())
		end(test.why)
		if g.loseAll(held); g.replica.owned != test.want {
			t.Errorf("%s: it is said to have worked on %v, want %v", what, g.replica.owned, test.want)
		}
	}
}

// Work begins on what was accepted from before the leases were asked for until their list has come, if that shows nobody else's claim.
func TestWorkBeginsOnRangesThatAreAcceptedDuringAList(t *testing.T) {
	for what, test := range map[string]struct {
		accepted meta.Ranges                  // when the leases are asked for
		during   func(t *testing.T, g *Group) // what happens until the server answers
		want     meta.Ranges
	}{
		"nothing":         {accepted: of(1, 2), want: of(1, 2)},
		"an answer comes": {accepted: of(1), during: func(_ *testing.T, g *Group) { g.stored(g.replica.view.head, g.annotations()) }, want: of(1)},
		"a claim goes": {accepted: of(1, 2), during: func(_ *testing.T, g *Group) {
			g.replica.claims = of(1)
			g.annotations() // and there is no answer yet
			g.replica.claims = of(1, 2)
		}, want: of(1)},
		"a claim goes and comes back": {accepted: of(1, 2), during: func(_ *testing.T, g *Group) {
			g.replica.claims = of(1)
			g.stored(g.replica.view.head, g.annotations())
			g.replica.claims = of(1, 2)
			g.stored("1000", g.annotations()) // which the watch has not brought
		}, want: of(1)},
		"a claim goes and comes back, and the watch brings that": {accepted: of(1, 2), during: func(_ *testing.T, g *Group) {
			g.replica.claims = of(1)
			g.stored(g.replica.view.head, g.annotations())
			g.replica.claims = of(1, 2)
			g.stored("1000", g.annotations())
			g.replica.view.came("1001")
			g.replica.observed.came("1001")
		}, want: of(1, 2)},
		"somebody claims": {accepted: of(1, 2), during: func(t *testing.T, g *Group) {
			other := leaseOf("web-a", "", "2026-01-01T00:00:00.000000Z", share{ranges: of(2), weight: 1, by: meta.ShardByUID})
			other.Namespace, other.UID, other.Labels = "default", "", map[string]string{GroupLabel: "web"}
			if _, err := g.leases.Create(t.Context(), other); err != nil {
				t.Error(err)
			}
		}, want: of(1)},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				g := New(c, Options{Namespace: "default", Name: "web", Identity: "me"})
				g.replica.view.seesList(nil, 0)
				g.replica.claims, g.replica.accepted = of(1, 2), test.accepted
				g.replica.observed.ranges, g.replica.view.head = test.accepted, server.ResourceVersion()
				server.Intercept(func(r *http.Request) http.HandlerFunc {
					if test.during != nil && clienttest.RequestOf(r).Verb == "list" {
						test.during(t, g)
					}
					return nil
				})
				g.confirm(logr.NewContext(t.Context(), logr.Discard()), of(1, 2), g.newBackoff())
				if g.replica.owns != test.want || g.replica.owned != test.want {
					t.Errorf("work has begun on %v, and %v is said to be worked on, want %v", g.replica.owns, g.replica.owned, test.want)
				}
			})
		})
	}
}

// After the end of Run's work nothing is claimed, although the lease is still there for a moment.
func TestNoRangeIsClaimedOnceAllAreGivenBack(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	g := New(c, Options{Namespace: "default", Name: "web", Identity: "a"})
	if err := g.begin(func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	g.replica.view.seesList(nil, 0)
	if g.advance(t.Context()); g.replica.claims != meta.AllRanges() {
		t.Errorf("the claims are %v", g.replica.claims)
	}
	g.giveBack(t.Context())
	if g.advance(t.Context()); g.replica.claims != (meta.Ranges{}) {
		t.Errorf("when all is given back, the claims are %v", g.replica.claims)
	}
}

// A second Run leaves ranges that nobody claims to the replica that should own them, for a lease from then on; how long nobody claimed them
// in the Run before, an hour ago, does not count.
func TestASecondRunLeavesRangesToTheFirstForALease(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	var now time.Duration
	g := New(c, Options{Namespace: "default", Name: "web", Identity: "me"})
	g.clock.Mono = func() time.Duration { return now }
	run := func(at time.Duration) {
		now = at
		if err := g.begin(func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		g.replica.view.seesList([]*lease{leaseOf("web-a", "1", "t0", share{weight: 1, by: meta.ShardByUID})}, now)
		g.advance(t.Context())
		for n := range meta.RangeCount {
			if mine := g.replica.ours[n] > g.replica.view.members["web-a"].scores[n]; g.replica.claims.Has(n) != mine {
				t.Errorf("at %v the claims have range %d: %v, and it is to have it: %v", at, n, g.replica.claims.Has(n), mine)
				break
			}
		}
		g.giveBack(t.Context())
		g.end()
	}
	run(time.Second)
	run(time.Hour)
}

// A server that asks for a wait gets it: a write that is stored meanwhile does not cut it short. Any other wait ends then, because the
// server is there.
func TestAWaitThatTheServerAsksForIsNotCutShort(t *testing.T) {
	for asked, want := range map[bool]time.Duration{true: 10 * time.Second, false: 0} {
		synctest.Test(t, func(t *testing.T) {
			g := New(nil, Options{Namespace: "default", Name: "web", Identity: "a"})
			g.expect()
			began := time.Now()
			g.rest(t.Context(), 10*time.Second, asked)
			if waited := time.Since(began); waited != want {
				t.Errorf("asked %t: it has waited %v, want %v", asked, waited, want)
			}
		})
	}
}

// The log names a lease that stays although its replica has ended, and why. It says nothing of one that is gone, or that its replica
// holds again.
func TestALeaseThatCannotBeDeletedIsNamed(t *testing.T) {
	reasons := map[int]string{
		http.StatusForbidden: "Forbidden", http.StatusInternalServerError: "InternalError", http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict",
	}
	for status, want := range map[int]bool{http.StatusForbidden: true, http.StatusInternalServerError: true, http.StatusNotFound: false, http.StatusConflict: false} {
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{})
			server.Intercept(func(r *http.Request) http.HandlerFunc {
				if clienttest.RequestOf(r).Verb != "delete" {
					return nil
				}
				return func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no"}`, reasons[status], status)
				}
			})
			c, err := client.New(server.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var lines []string
			g := New(c, Options{
				Namespace: "default", Name: "web", Identity: "a",
				Logger: funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1}),
			})
			g.log.Start(t.Context())
			defer g.log.Stop()
			l := leaseOf("web-b", "5", "t0", share{weight: 1, by: meta.ShardByUID})
			l.Namespace = "default"
			g.delete(t.Context(), l)
			if got := strings.Contains(strings.Join(lines, "\n"), `"lease"="web-b"`); got != want {
				t.Errorf("after %d the log names the lease: %t, want %t: %q", status, got, want, lines)
			}
		})
	}
}

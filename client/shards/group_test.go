package shards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

func TestReplicasShareTheRanges(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(100 * time.Millisecond)
		w.whole(a)
		before := a.Status().Ranges
		b := w.replica("b", nil).run()
		w.pass(100 * time.Millisecond)
		w.even(w.whole(a, b), 128)
		if moved := before.Minus(a.Status().Ranges); moved != b.Status().Ranges {
			t.Errorf("%v moved, and b has %v", moved, b.Status().Ranges)
		}
		c := w.replica("c", nil).run()
		w.pass(100 * time.Millisecond)
		w.even(w.whole(a, b, c), 85)
		hasA, hasC := a.Status().Ranges, c.Status().Ranges

		// One that leaves hands over in a moment, and the others keep what they have.
		b.cancel()
		<-b.ended
		w.pass(10 * time.Millisecond)
		w.even(w.whole(a, c), 128)
		if b.err != nil || hasA.Minus(a.Status().Ranges).Len() > 0 || hasC.Minus(c.Status().Ranges).Len() > 0 {
			t.Errorf("b ended with %v; a has %v of %v, and c has %v of %v", b.err, a.Status().Ranges, hasA, c.Status().Ranges, hasC)
		}
		w.pass(time.Second)
		if _, err := client.For(w.client(nil), Leases).Get(w.Context(), b.Status().Lease); err == nil {
			t.Error("the lease of a replica that has left is still there")
		}
	})
}

// A replica that stops loses all when its lease has run out, and comes back.
func TestAReplicaThatStopsComesBack(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(100 * time.Millisecond)
		c := w.replica("c", nil).run()
		w.pass(1200 * time.Millisecond)
		w.even(w.whole(a, c), 128)
		c.m.Freeze()
		w.pass(14 * time.Second)
		w.ranges(a)
		w.pass(2 * time.Second)
		w.whole(a)
		c.m.Thaw(false)
		synctest.Wait()
		if has := c.Status().Ranges; has.Len() > 0 && !c.Status().Joined {
			t.Errorf("one that was stopped has %v", has)
		}
		w.pass(3 * time.Second)
		w.even(w.whole(a, c), 128)
		if lost := (*leader.LostError)(nil); !errors.As(errors.Join(c.errs...), &lost) || lost.Reason != leader.Expired {
			t.Errorf("OnError has got %v", c.errs)
		}
	})
}

// even fails unless each count is about what it should be.
func (w *world) even(counts []int, want int) {
	w.Helper()
	for _, n := range counts {
		if n < want-want/4 || n > want+want/4 {
			w.Errorf("%v ranges, want about %d each", counts, want)
		}
	}
}

func TestARangePassesWhenTheOtherIsReady(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		b := w.replica("b", nil)
		follower := b.Follow("the cache")
		b.run()
		w.pass(time.Minute)
		w.whole(a)
		wanted, changed := follower.Wanted()
		if s := b.Status(); wanted.Len() < 100 || s.Ranges.Len() > 0 || s.Prepares != wanted || strings.Join(s.Unready, "") != "the cache" {
			t.Errorf("b wants %v, and its status is %v", wanted, s)
		}
		follower.Have(wanted.Without(first(wanted)))
		w.pass(10 * time.Millisecond)
		w.whole(a, b)
		if got := b.Status().Ranges; got != wanted.Without(first(wanted)) {
			t.Errorf("b is ready for all but one of %v, and has %v", wanted, got)
		}
		follower.Have(wanted)
		w.pass(10 * time.Millisecond)
		w.whole(a, b)
		if got := b.Status().Ranges; got != wanted {
			t.Errorf("b is ready for %v, and has %v", wanted, got)
		}
		select {
		case <-changed:
			t.Error("the wanted ranges have changed, it is said")
		default:
		}
		a.cancel()
		w.pass(10 * time.Millisecond)
		select {
		case <-changed:
		default:
			t.Error("the others are to be prepared for, and nobody said so")
		}
		follower.Leave()
		<-a.ended
		w.pass(10 * time.Millisecond)
		w.whole(b)
	})
}

func first(r meta.Ranges) int {
	for n := range r.All() {
		return n
	}
	return -1
}

// If the replica that is to have a range does not get ready, the next one takes the range.
func TestARangeIsNotLeftToAReplicaThatCannotPrepare(t *testing.T) {
	play(t, func(w *world) {
		broken := w.replica("broken", nil)
		broken.Follow("a cache that never fills")
		broken.run()
		a := w.replica("a", nil).run()
		w.pass(16 * time.Second)
		w.whole(a, broken)
		if n := broken.Status().Ranges.Len(); n > 0 {
			t.Errorf("one that is not prepared has %d ranges", n)
		}
	})
}

func TestWorkUnderWayEndsBeforeItsRangePasses(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", func(c *shards.Options) { c.Drain = 5 * time.Second }).run()
		w.pass(time.Second)
		if _, _, ok := a.Enter(w.Context(), 300); ok {
			t.Error("work on a range begins that is none")
		}
		quick, quickEnds, ok := a.Enter(w.Context(), 0)
		slow, slowEnds, ok2 := a.Enter(w.Context(), 1)
		if !ok || !ok2 {
			t.Fatal("work does not begin")
		}
		if err := shards.Check(quick); err != nil {
			t.Error(err)
		}
		b := w.replica("b", func(c *shards.Options) { c.Weight = 1000 }).run() // which is to have nearly all
		w.pass(time.Second)
		if _, _, ok := a.Enter(w.Context(), 0); ok {
			t.Error("work begins on a range that is given up")
		}
		if quick.Err() != nil || b.Status().Ranges.Has(0) || !b.Status().Ranges.Has(2) || !b.Status().Waits.Has(0) {
			t.Errorf("while work is under way its context has ended with %v, and b has %v", quick.Err(), b.Status())
		}
		quickEnds()
		quickEnds()
		w.pass(time.Millisecond)
		if !b.Status().Ranges.Has(0) || slow.Err() != nil {
			t.Errorf("b has %v, and the context of other work has ended: %v", b.Status(), slow.Err())
		}
		if quick.Err() == nil {
			t.Error("the context of work that has ended goes on")
		}
		w.pass(5 * time.Second)
		if slow.Err() == nil || !b.Status().Ranges.Has(1) {
			t.Errorf("work that does not end: %v, and b has %v", slow.Err(), b.Status())
		}
		if cause := fmt.Sprint(context.Cause(slow)); !strings.Contains(cause, "passed to another replica") {
			t.Errorf("its context ended with %v", cause)
		}
		if err := shards.Check(slow); err == nil || shards.Check(w.Context()) == nil {
			t.Errorf("Check says %v", err)
		}
		c := client.For(w.client(nil), ConfigMaps)
		_, err := c.Create(context.WithoutCancel(slow), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "late"}})
		if err == nil || !strings.Contains(err.Error(), "passed to another replica") {
			t.Errorf("a request of work whose range has passed: %v", err)
		}
		slowEnds()
	})
}

// A lease that somebody deletes or edits costs no safety, and its replica soon has its share again.
func TestPeopleMayDoWhatTheyLikeToALease(t *testing.T) {
	for what, do := range map[string]func(w *world, leases client.Resource[*meta.Unstructured], key meta.Key) error{
		"delete": func(w *world, leases client.Resource[*meta.Unstructured], key meta.Key) error {
			return leases.Delete(w.Context(), key, client.DeleteOptions{})
		},
		"remove the holder": func(w *world, leases client.Resource[*meta.Unstructured], key meta.Key) error {
			_, err := leases.Patch(w.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{"holderIdentity": nil}}))
			return err
		},
		"remove the annotation": func(w *world, leases client.Resource[*meta.Unstructured], key meta.Key) error {
			_, err := leases.Patch(w.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": nil}}))
			return err
		},
		"remove the label": func(w *world, leases client.Resource[*meta.Unstructured], key meta.Key) error {
			_, err := leases.Patch(w.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": nil}}))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(w *world) {
				a, b := w.replica("a", nil).run(), w.replica("b", nil).run()
				w.pass(20 * time.Second)
				w.whole(a, b)
				if err := do(w, client.For(w.client(nil), Leases), a.Status().Lease); err != nil {
					t.Fatal(err)
				}
				for range 200 {
					w.pass(100 * time.Millisecond)
					w.ranges(a, b)
				}
				w.even(w.whole(a, b), 128)
			})
		})
	}
}

func TestTwoReplicasWithOneIdentity(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("same", nil).run()
		w.pass(time.Second)
		b := w.replica("same", nil).run()
		<-b.ended
		if !errors.Is(b.err, leader.ErrShared) || !strings.Contains(b.err.Error(), `shards "default/web"`) {
			t.Errorf("the second one ended with %v", b.err)
		}
		w.whole(a)
	})
}

func TestAServerThatIsAwayCostsAllRanges(t *testing.T) {
	play(t, func(w *world) {
		a, b := w.replica("a", nil).run(), w.replica("b", nil).run()
		w.pass(time.Second)
		w.whole(a, b)
		ctx, leave, _ := a.Enter(w.Context(), first(a.Status().Ranges))
		defer leave()
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		w.server.DropWatches()
		w.pass(12 * time.Second)
		if counts, _ := w.ranges(a, b); counts[0]+counts[1] > 0 || ctx.Err() == nil {
			t.Errorf("without a server the replicas have %v, and work goes on: %v", counts, ctx.Err())
		}
		if s := a.Status(); s.Joined || s.Err == nil || !strings.Contains(s.String(), "without a lease") {
			t.Errorf("the status is %v", s)
		}
		w.pass(time.Minute)
		w.server.Intercept(nil)
		w.pass(10 * time.Second)
		w.even(w.whole(a, b), 128)
	})
}

// The lease of a replica that has crashed is deleted in the end, by one of the others.
func TestTheLeaseOfAReplicaThatHasCrashedGoes(t *testing.T) {
	play(t, func(w *world) {
		a, b, c := w.replica("a", nil).run(), w.replica("b", nil).run(), w.replica("c", nil).run()
		w.pass(time.Second)
		key := b.Status().Lease
		b.m.Freeze()
		leases := client.For(w.client(nil), Leases)
		w.pass(4 * time.Minute)
		w.server.EndWatches() // they list again
		w.pass(time.Minute)
		if _, err := leases.Get(w.Context(), key); err != nil {
			t.Errorf("after 4 minutes: %v", err)
		}
		w.server.EndWatches()
		w.pass(time.Minute)
		if _, err := leases.Get(w.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("after 6 minutes: %v", err)
		}
		w.whole(a, c)
	})
}

func TestRunEndsWithItsWork(t *testing.T) {
	play(t, func(w *world) {
		other := w.replica("other", nil).run()
		errBroken := errors.New("broken")
		for what, test := range map[string]struct {
			work func(context.Context) error
			want error
		}{
			"nil":      {func(context.Context) error { return nil }, nil},
			"an error": {func(context.Context) error { return errBroken }, errBroken},
		} {
			a := w.replica("a", nil)
			if err := a.Run(quiet(w), func(ctx context.Context) error {
				w.pass(time.Second)
				w.whole(a, other)
				if err := a.Run(ctx, test.work); err == nil || !strings.Contains(err.Error(), "already running") {
					t.Errorf("a second Run: %v", err)
				}
				return test.work(ctx)
			}); err != test.want {
				t.Errorf("%s: Run returned %v", what, err)
			}
			w.pass(time.Second)
			w.whole(other)
		}
		a := w.replica("a", nil)
		func() {
			defer func() {
				if v := recover(); v != "ouch" {
					t.Errorf("recovered %v", v)
				}
			}()
			_ = a.Run(quiet(w), func(context.Context) error {
				w.pass(time.Second)
				panic("ouch")
			})
		}()
		w.pass(time.Second)
		w.whole(other)
		if s := a.Status().String(); !strings.Contains(s, "not running") {
			t.Errorf("the status is %s", s)
		}
	})
}

// A replica that leaves goes on until others are ready, or Options.Handover has passed.
func TestALeavingReplicaLeavesNoRangeWithoutAnOwner(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", func(c *shards.Options) { c.Handover = 10 * time.Second }).run()
		w.pass(time.Second)
		b := w.replica("b", nil)
		follower := b.Follow("the cache")
		b.run()
		w.pass(time.Second)
		a.cancel()
		w.pass(5 * time.Second)
		w.whole(a)
		if s := a.Status(); !s.Leaving || a.work.Err() != nil {
			t.Errorf("the status is %v, and the context of work has ended: %v", s, a.work.Err())
		}
		follower.Have(meta.AllRanges())
		<-a.ended
		w.pass(10 * time.Millisecond)
		w.whole(b)
		c := w.replica("c", nil)
		c.Follow("a cache that never fills")
		c.run()
		w.pass(time.Second)
		began := w.since()
		b.cancel()
		<-b.work.Done()
		if took := w.since() - began; took != 30*time.Second {
			t.Errorf("a replica whose ranges nobody takes has waited for %v", took)
		}
		<-b.ended // some milliseconds later, if the release comes while a renewal is under way
	})
}

// While Run's work does not return although its context has ended, other replicas get all ranges but those with work under way, and these
// after Drain.
func TestWorkThatGoesOnKeepsItsRangesOnly(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", func(c *shards.Options) { c.Drain, c.Handover = 5*time.Second, time.Second })
		ctx, cancel := context.WithCancel(quiet(w))
		returns, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			_ = a.Run(ctx, func(context.Context) error {
				<-returns
				return nil
			})
		}()
		w.pass(time.Second)
		quick, quickEnds, _ := a.Enter(w.Context(), 0)
		slow, slowEnds, _ := a.Enter(w.Context(), 1)
		b := w.replica("b", nil)
		cache := b.Follow("the cache")
		b.run()
		w.pass(time.Second)
		cancel()
		w.pass(900 * time.Millisecond)
		w.whole(a)
		w.pass(200 * time.Millisecond)
		cache.Have(meta.AllRanges())
		w.pass(10 * time.Millisecond)
		if got := b.Status().Ranges; got != meta.AllRanges().Without(0).Without(1) || quick.Err() != nil || slow.Err() != nil {
			t.Errorf("while work is under way on two ranges, b has %v; their contexts: %v, %v", got, quick.Err(), slow.Err())
		}
		if _, _, ok := a.Enter(w.Context(), 2); ok {
			t.Error("work begins at a replica that has left")
		}
		quickEnds()
		w.pass(10 * time.Millisecond)
		if got := b.Status().Ranges; got != meta.AllRanges().Without(1) {
			t.Errorf("when one work has ended, b has %v", got)
		}
		w.pass(5 * time.Second)
		if why := fmt.Sprint(context.Cause(slow)); !strings.Contains(why, "passed to another replica") {
			t.Errorf("after Drain, the context of work has ended with %v", why)
		}
		w.whole(b)
		select {
		case <-ended:
			t.Error("Run has not waited for its work")
		default:
		}
		slowEnds()
		close(returns)
		<-ended
	})
}

// Replicas of one group that share by different things do not work at the same time, and say so.
func TestReplicasThatShareBySomethingElse(t *testing.T) {
	play(t, func(w *world) {
		foreign := func(c *shards.Options) { c.By = meta.ShardByNamespace }
		a, b := w.replica("a", nil).run(), w.replica("b", nil).run()
		w.pass(time.Second)
		w.whole(a, b)
		c, d := w.replica("c", foreign).run(), w.replica("0", foreign).run() // one before them by name, and one after
		w.pass(time.Minute)
		w.whole(a, b)
		for _, r := range []*replica{a, b, c, d} {
			s := r.Status()
			if s.Blocked == nil || !strings.Contains(s.String(), "shares by object.metadata.") || len(r.errs) < 4 || len(r.errs) > 5 {
				t.Errorf("the status is %v, and OnError has got %v", s, r.errs)
			}
			if idle := r.WhyIdle(); (idle != nil) != (r == c || r == d) {
				t.Errorf("%s: Idle says %v", r.Status().Identity, idle)
			}
		}
		// One after the other ends, as in a rolling update.
		a.cancel()
		<-a.ended
		w.pass(time.Millisecond)
		w.whole(b)
		began := w.since()
		b.cancel()
		<-b.ended
		if took := w.since() - began; took > time.Second { // some milliseconds, if the release comes while a renewal is under way
			t.Errorf("a replica has waited %v for others that cannot take over", took)
		}
		w.pass(100 * time.Millisecond)
		w.whole(c, d)
		if s := c.Status(); s.Blocked != nil {
			t.Errorf("when the others have left, the status is %v", s)
		}
	})
}

// Replicas with two different Options.By begin at once. Those with one of them work.
func TestReplicasThatShareBySomethingElseBeginAtOnce(t *testing.T) {
	for _, other := range []string{"0", "z"} {
		play(t, func(w *world) {
			a, b := w.replica("a", nil), w.replica("b", nil)
			c := w.replica(other, func(c *shards.Options) { c.By = meta.ShardByNamespace })
			for _, r := range []*replica{a, b, c} {
				r.run()
			}
			for range 300 {
				w.pass(100 * time.Millisecond)
				mine, _ := w.ranges(a, b)
				if others, _ := w.ranges(c); mine[0]+mine[1] > 0 && others[0] > 0 {
					t.Fatalf("%v: both work: %v and %v", w.since(), mine, others)
				}
			}
			if _, mine := w.ranges(a, b); mine != meta.AllRanges() {
				w.whole(c)
			}
		})
	}
}

func TestAGroupSaysWhyItIsIdle(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil)
		idle := func(want string) {
			t.Helper()
			err := a.WhyIdle()
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v: Idle says %v, want %q", w.since(), err, want)
			}
		}
		idle(`shards "default/web" does not run`)
		cache := a.Follow("the cache")
		ready := func() { cache.Have(meta.AllRanges()) }
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		a.run()
		w.pass(time.Second)
		idle("this replica has no lease")
		w.pass(9 * time.Second)
		idle("this replica has no lease: ")
		w.server.Intercept(nil)
		w.pass(10 * time.Second)
		idle("")
		w.pass(10 * time.Second)
		idle("no work on 256 of 256 ranges, because these are not ready for them: the cache")
		w.pass(15 * time.Second)
		said := 0
		for _, err := range a.errs {
			if strings.Contains(err.Error(), "not ready") {
				said++
			}
		}
		if said != 2 {
			t.Errorf("in two lease durations OnError has got %v", a.errs)
		}
		ready()
		w.pass(time.Millisecond)
		idle("")
		w.whole(a)
		if s := a.Status(); s.Blocked != nil {
			t.Errorf("when the cache is ready: %v", s)
		}
		cache.Have(meta.AllRanges().Without(3)) // which begins the wait anew
		w.pass(14 * time.Second)
		if s := a.Status(); s.Blocked != nil || s.Prepares.Len() != 1 {
			t.Errorf("when it is not ready any more: %v", s)
		}
		w.pass(2 * time.Second)
		if s := a.Status(); s.Blocked == nil {
			t.Errorf("16 s later: %v", s)
		}
	})
}

// A follower that was made during a Run is forgotten at its end, so it does not hold up the next Run.
func TestFollowersOfOneRunAreNotThoseOfTheNext(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil)
		stays := a.Follow("it stays")
		run := func(work func()) {
			t.Helper()
			ctx, cancel := context.WithCancel(quiet(w))
			defer cancel()
			if err := a.Run(ctx, func(context.Context) error { w.pass(time.Second); work(); return nil }); err != nil {
				t.Error(err)
			}
		}
		var passes interface{ Have(meta.Ranges) }
		run(func() {
			passes = a.Follow("it passes")
			w.pass(time.Second)
			if got := a.Status().Unready; len(got) != 2 {
				t.Errorf("not ready in the first Run: %q", got)
			}
		})
		run(func() {
			if got := strings.Join(a.Status().Unready, ""); got != "it stays" {
				t.Errorf("not ready in the second Run: %q", got)
			}
			stays.Have(meta.AllRanges())
			w.pass(time.Second)
			w.whole(a)
			passes.Have(meta.Ranges{})
			if got := strings.Join(a.Status().Unready, ""); got != "it passes" {
				t.Errorf("when it says again what it is ready for: %q", got)
			}
		})
	})
}

// A replica that has never seen the leases of others does not wait for them when it leaves.
func TestAReplicaThatCannotListLeavesAtOnce(t *testing.T) {
	play(t, func(w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if q := clienttest.RequestOf(r); q.Verb == "list" {
				return clienttest.Answer(meta.Status{Code: http.StatusForbidden, Reason: "Forbidden"})
			}
			return nil
		})
		a := w.replica("a", nil).run()
		w.pass(10 * time.Second)
		if err := a.WhyIdle(); !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("Idle says %v", err)
		}
		began := w.since()
		a.cancel()
		<-a.ended
		if took := w.since() - began; took > time.Second {
			t.Errorf("it has waited %v for nobody", took)
		}
	})
}

// The log says when what has failed works again.
func TestTheLogSaysThatTheLeaseWorksAgain(t *testing.T) {
	play(t, func(w *world) {
		var mu sync.Mutex // guards lines
		var lines []string
		logger := funcr.New(func(_, line string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		}, funcr.Options{})
		a := w.replica("a", func(c *shards.Options) { c.OnError, c.Logger = nil, logger }).run()
		w.pass(time.Second)
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		w.pass(5 * time.Second)
		if s := a.Status(); s.LeaseErr == nil || !strings.Contains(s.String(), s.LeaseErr.Error()) {
			t.Errorf("the status of a replica that cannot write its lease is %v", s)
		}
		w.pass(time.Minute)
		w.server.Intercept(nil)
		w.pass(time.Minute)
		w.whole(a)
		mu.Lock()
		defer mu.Unlock()
		for _, want := range []string{"the lease of this replica fails", "the lease of this replica works again", "this replica has lost its lease", "this replica has a lease again"} {
			if n := strings.Count(strings.Join(lines, "\n"), want); n == 0 || strings.Contains(want, "again") && n != 1 {
				t.Errorf("%q is in %d of the lines %q", want, n, lines)
			}
		}
	})
}

// Two replicas begin at once, and b sees the claims of a before it claims. So b cannot know that nobody has the rest. Then a takes that, and
// hands it over to b.
func TestAStartingGroupLeavesNoRangeWithoutAnOwner(t *testing.T) {
	play(t, func(w *world) {
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Verb != "list" {
				return nil
			}
			return func(rw http.ResponseWriter, r *http.Request) {
				time.Sleep(20 * time.Millisecond)
				w.server.ServeHTTP(rw, r)
			}
		})
		b := w.replica("b", nil).run()
		w.pass(time.Millisecond)
		w.server.Intercept(nil)
		a := w.replica("a", nil).run()
		w.pass(10 * time.Millisecond)
		if counts, _ := w.ranges(a, b); counts[0] == 0 || counts[0] == meta.RangeCount || counts[1] > 0 {
			t.Fatalf("this test needs another order of events: %v", counts)
		}
		w.pass(time.Second)
		w.even(w.whole(a, b), 128)
	})
}

// A replica that joins finds the lease of one that has crashed, and cannot know that. It takes nothing from those who work on what that
// one had, before its lease has run out.
func TestAReplicaThatJoinsAfterACrashLeavesNoRangeWithoutAnOwner(t *testing.T) {
	play(t, func(w *world) {
		a, b := w.replica("a", nil).run(), w.replica("b", nil).run()
		w.pass(10 * time.Second)
		w.whole(a, b)
		b.m.Freeze()
		w.pass(20 * time.Second)
		w.whole(a)
		c := w.replica("c", nil).run()
		for range 300 {
			w.pass(100 * time.Millisecond)
			w.whole(a, c)
		}
		w.even(w.whole(a, c), 128)
	})
}

// A replica that nobody can take anything from does not wait when it leaves.
func TestALoneReplicaLeavesAtOnce(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		w.whole(a)
		began := w.since()
		a.cancel()
		<-a.work.Done()
		if took := w.since() - began; took != 0 {
			t.Errorf("the context of work ended after %v", took)
		}
	})
}

// A replica that leaves goes on while work is under way on ranges that it has given up.
func TestAReplicaLeavesWhenItsWorkHasEnded(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		b := w.replica("b", nil).run()
		w.pass(time.Second)
		n := first(a.Status().Ranges)
		working, leave, _ := a.Enter(w.Context(), n)
		a.cancel()
		w.pass(time.Second)
		if a.work.Err() != nil || working.Err() != nil || b.Status().Ranges != meta.AllRanges().Without(n) {
			t.Errorf("contexts ended with %v, %v; b has %v", a.work.Err(), working.Err(), b.Status())
		}
		leave()
		w.pass(10 * time.Millisecond)
		if a.work.Err() == nil {
			t.Error("the context of work has not ended")
		}
		<-a.ended
		w.whole(b)
	})
}

// Followers are asked to stay prepared for a range until another replica has taken it.
func TestFollowersStayPreparedUntilARangeHasPassed(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil)
		follower := a.Follow("the cache")
		follower.Have(meta.AllRanges())
		a.run()
		w.pass(time.Second)
		b := w.replica("b", nil)
		slow := b.Follow("a slow cache")
		b.run()
		w.pass(time.Minute)
		if wanted, _ := follower.Wanted(); wanted != meta.AllRanges() {
			t.Errorf("a works on all ranges, and prepares for %v", wanted)
		}
		slow.Have(meta.AllRanges())
		w.pass(10 * time.Millisecond)
		if wanted, _ := follower.Wanted(); wanted != a.Status().Ranges || wanted.Len() == 0 {
			t.Errorf("a works on %v, and prepares for %v", a.Status().Ranges, wanted)
		}
	})
}

// The end of one work, also if it is told twice, is not that of another work on the same range.
func TestARangeWaitsForAllItsWork(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		_, firstEnds, _ := a.Enter(w.Context(), 0)
		second, secondEnds, _ := a.Enter(w.Context(), 0)
		b := w.replica("b", func(c *shards.Options) { c.Weight = 1000 }).run() // which is to have nearly all
		w.pass(time.Second)
		firstEnds()
		firstEnds()
		w.pass(time.Second)
		if second.Err() != nil || b.Status().Ranges.Has(0) {
			t.Errorf("while work is under way its context has ended with %v, and b has %v", second.Err(), b.Status())
		}
		secondEnds()
		w.pass(10 * time.Millisecond)
		if !b.Status().Ranges.Has(0) {
			t.Errorf("b has %v", b.Status())
		}
	})
}

// Began tells of each turn once.
func TestBeganTellsOfEachTurnOnce(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second)
		ranges, number, changed := a.Began(0)
		if ranges != meta.AllRanges() {
			t.Errorf("it began with %v", ranges)
		}
		if again, same, _ := a.Began(number); again != (meta.Ranges{}) || same != number {
			t.Errorf("nothing has begun, and Began returned %v, and %d after %d", again, same, number)
		}
		b := w.replica("b", nil).run()
		w.pass(time.Second)
		lost := b.Status().Ranges
		select {
		case <-changed:
		default:
			t.Error("ranges have passed, and nobody said so")
		}
		again, number, changed := a.Began(number)
		if all, _, _ := a.Began(0); again != (meta.Ranges{}) || all != meta.AllRanges().Minus(lost) {
			t.Errorf("ranges have passed to another replica, and Began returned %v, and %v of all", again, all)
		}
		b.cancel()
		<-b.ended
		w.pass(10 * time.Millisecond)
		select {
		case <-changed:
		default:
			t.Error("ranges have come back, and nobody said so")
		}
		if again, _, _ := a.Began(number); again != lost {
			t.Errorf("%v have come back, and Began returned %v", lost, again)
		}
	})
}

// delayed answers the first list of leases after d.
func (w *world) delayed(d time.Duration) {
	var once sync.Once
	w.server.Intercept(func(r *http.Request) (handler http.HandlerFunc) {
		if clienttest.RequestOf(r).Verb == "list" {
			once.Do(func() {
				handler = func(answer http.ResponseWriter, r *http.Request) {
					time.Sleep(d)
					w.server.ServeHTTP(answer, r)
				}
			})
		}
		return handler
	})
}

// A replica begins when the list comes that it has waited for, and not with the next event.
func TestAReplicaBeginsWithItsFirstList(t *testing.T) {
	play(t, func(w *world) {
		w.delayed(time.Second) // a renewal would bring an event after two
		a := w.replica("a", nil).run()
		w.pass(1100 * time.Millisecond)
		w.whole(a)
	})
}

// A replica writes its share again as soon as it hears that somebody has changed it.
func TestAnEditedShareIsWrittenAgainAtOnce(t *testing.T) {
	play(t, func(w *world) {
		a := w.replica("a", nil).run()
		w.pass(time.Second) // the next renewal is a second away
		leases, key := client.For(w.client(nil), Leases), a.Status().Lease
		before, err := leases.Get(w.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := leases.Patch(w.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"annotations": nil}})); err != nil {
			t.Fatal(err)
		}
		w.pass(100 * time.Millisecond)
		after, err := leases.Get(w.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if had, has := fmt.Sprint(before.GetAnnotations()), fmt.Sprint(after.GetAnnotations()); has != had {
			t.Errorf("the annotations were %s, and are %s", had, has)
		}
	})
}

// A replica that has no lease has nothing to hand over, whether it loses it before it leaves or meanwhile.
func TestAReplicaWithoutALeaseHandsNothingOver(t *testing.T) {
	for what, away := range map[string]time.Duration{"before": 0, "meanwhile": 20 * time.Second} {
		t.Run(what, func(t *testing.T) {
			play(t, func(w *world) {
				a := w.replica("a", func(c *shards.Options) { c.Handover = time.Hour }).run()
				w.pass(time.Second)
				b := w.replica("b", nil)
				b.Follow("a cache that never fills")
				b.run()
				w.pass(time.Second)
				if away > 0 {
					a.cancel()
					w.pass(away)
					w.whole(a)
				}
				w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
				w.server.DropWatches()
				w.pass(9 * time.Second)
				if a.work.Err() != nil {
					t.Error("the context of work has ended while the lease lasts")
				}
				w.pass(3 * time.Second)
				if away == 0 {
					a.cancel()
					w.pass(time.Millisecond)
				}
				if a.work.Err() == nil {
					t.Errorf("the context of work goes on without a lease: %v", a.Status())
				}
			})
		})
	}
}

// A list that brings no answer is asked for again.
func TestAListThatHangsDoesNotHoldUpWork(t *testing.T) {
	play(t, func(w *world) {
		var lists atomic.Int32
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Verb == "list" && lists.Add(1) == 2 { // the first one is that of the watch
				return clienttest.Hang()
			}
			return nil
		})
		a := w.replica("a", nil).run()
		w.pass(4 * time.Second)
		if n := a.Status().Ranges.Len(); n > 0 || lists.Load() != 2 {
			t.Errorf("%d ranges have begun, after %d lists", n, lists.Load())
		}
		w.pass(3 * time.Second)
		w.whole(a)
	})
}

// A replica deletes its lease only as it has left it: a lease that it could not give back, and one that somebody has taken since, stay.
func TestOnlyALeaseThatWasGivenBackIsDeleted(t *testing.T) {
	for what, meddles := range map[string]func(w *world, verb string, key meta.Key) http.HandlerFunc{
		"the release fails": func(_ *world, verb string, _ meta.Key) http.HandlerFunc {
			if verb == "update" || verb == "patch" {
				return clienttest.Answer(meta.Status{Code: http.StatusInternalServerError, Message: "broken"})
			}
			return nil
		},
		"another process takes it": func(w *world, verb string, key meta.Key) http.HandlerFunc {
			if verb != "delete" {
				return nil
			}
			return func(answer http.ResponseWriter, r *http.Request) {
				takes := patch.Merge(map[string]any{"spec": map[string]any{"holderIdentity": "another"}})
				if _, err := client.For(w.client(nil), Leases).Patch(w.Context(), key, takes); err != nil {
					w.Error(err)
				}
				w.server.ServeHTTP(answer, r)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(w *world) {
				a := w.replica("a", nil).run()
				w.pass(time.Second)
				key := a.Status().Lease
				w.server.Intercept(func(r *http.Request) http.HandlerFunc { return meddles(w, clienttest.RequestOf(r).Verb, key) })
				a.cancel()
				<-a.ended
				w.server.Intercept(nil)
				l, err := client.For(w.client(nil), Leases).Get(w.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				if holder, _, _ := meta.Nested[string](l, "spec", "holderIdentity"); holder == "" {
					t.Errorf("the lease is %v", l)
				}
			})
		})
	}
}

// When a machine goes on after a stop or a sleep, work asks the clocks before anything has noticed that the lease has run out.
func TestWorkAsksTheClocks(t *testing.T) {
	for what, slept := range map[string]bool{"stop": false, "sleep": true} {
		t.Run(what, func(t *testing.T) {
			play(t, func(w *world) {
				a := w.replica("a", nil).run()
				w.pass(time.Second)
				working, leave, _ := a.Enter(w.Context(), 0)
				defer leave()
				if err := shards.Check(working); err != nil {
					t.Error(err)
				}
				a.m.Freeze()
				w.pass(time.Hour)
				a.m.Thaw(slept)
				lost := (*leader.LostError)(nil)
				if err := shards.Check(working); !errors.As(err, &lost) || lost.Reason != leader.Expired {
					t.Errorf("Check says %v", err)
				}
				if _, _, ok := a.Enter(w.Context(), 1); ok {
					t.Error("work begins")
				}
			})
		})
	}
}

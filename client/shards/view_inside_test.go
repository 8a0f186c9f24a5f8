package shards

import (
	"fmt"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

const second = time.Second

// leaseOf returns a lease of 15 s of another replica, which shows s.
func leaseOf(name, version, renewed string, s share) *lease {
	l := &lease{ObjectMeta: meta.ObjectMeta{
		Name: name, UID: "uid-" + name, ResourceVersion: version, Annotations: map[string]string{shareAnnotation: s.text(name)},
	}}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = name, 15, renewed
	return l
}

func of(n ...int) (r meta.Ranges) {
	for _, n := range n {
		r = r.With(n)
	}
	return r
}

// sees, seesDeletion and seesList give a view what package client reads.
func (v *view) sees(l *lease, now time.Duration)         { v.saw(stateOf(l), now) }
func (v *view) seesDeletion(l *lease, now time.Duration) { v.deleted(stateOf(l), now) }
func (v *view) seesList(leases []*lease, now time.Duration) {
	v.listed(listOf(meta.List[*lease]{Items: leases}), now)
}

func newTestView() *view { return newView("web-me", 15*second, meta.ShardByUID) }

func (v *view) wantHolds(t *testing.T, what string, now time.Duration, want meta.Ranges) {
	t.Helper()
	v.expire(now)
	var got meta.Ranges
	for _, m := range v.members {
		got = got.Union(m.holds(now))
	}
	if got != want {
		t.Errorf("%s: others have %v, want %v", what, got, want)
	}
}

func TestAViewBelievesALeaseForItsTime(t *testing.T) {
	v := newTestView()
	v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1, 2), owned: of(1), weight: 1, by: meta.ShardByUID}), 10*second)
	v.wantHolds(t, "at first", 24*second, of(1, 2))
	v.wantHolds(t, "when it has run out", 25*second, meta.Ranges{})
	if v.released != of() {
		t.Errorf("a lease that showed work on range 1 has run out, so another replica may have taken it, and %v are said to be free", v.released)
	}
	v.sees(leaseOf("web-a", "6", "t1", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 30*second)
	v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1, 2), weight: 1, by: meta.ShardByUID}), 40*second) // an old state
	v.wantHolds(t, "renewed", 44*second, of(1))
	v.wantHolds(t, "an old state prolongs nothing", 45*second, meta.Ranges{})
	v.sees(leaseOf("web-me", "7", "t1", share{ranges: of(3), weight: 1, by: meta.ShardByUID}), 50*second)
	v.wantHolds(t, "our own lease", 51*second, meta.Ranges{})
}

func TestAnnotationsByOthersProlongNothing(t *testing.T) {
	v := newTestView()
	l := leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
	v.sees(l, 0)
	again := leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
	again.Annotations["note"] = "somebody was here"
	v.sees(again, 14*second)
	v.wantHolds(t, "in its time", 14*second, of(1))
	v.wantHolds(t, "when it has run out", 15*second, meta.Ranges{})
}

func TestADeletedLeaseCountsUntilItHadRunOut(t *testing.T) {
	v := newTestView()
	l := leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
	v.sees(l, 0)
	v.seesDeletion(leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), second)
	v.wantHolds(t, "deleted", 14*second, of(1))
	anew := leaseOf("web-a", "9", "t9", share{ranges: of(2), weight: 1, by: meta.ShardByUID}) // the replica, or another one with its name
	anew.UID = "another"
	v.sees(anew, 14*second)
	v.sees(l, 14*second) // an old state
	v.wantHolds(t, "made again", 14*second, of(1, 2))
	v.wantHolds(t, "when the first had run out", 15*second, of(2))
	if m := v.members["web-a"]; !m.takesPart(15 * second) {
		t.Error("a lease that was made again is not one of a replica")
	}

	v = newTestView()
	v.seesDeletion(leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 0) // and nobody knew of it
	v.seesDeletion(leaseOf("web-me", "7", "t0", share{ranges: of(2), weight: 1, by: meta.ShardByUID}), 0)
	v.wantHolds(t, "deleted before it was seen", 14*second, of(1))
	v.wantHolds(t, "when that has run out", 15*second, meta.Ranges{})
	if len(v.members) != 0 {
		t.Errorf("%d leases are remembered that were deleted and have run out", len(v.members))
	}

	// A late event of the deletion of a lease that has run out, when there is another one of its name.
	v = newTestView()
	v.sees(l, 0)
	v.sees(anew, 14*second)
	v.wantHolds(t, "made again, and the first has run out", 29*second, meta.Ranges{})
	v.sees(renewed(anew, "10", "t10"), 29*second)
	v.seesDeletion(leaseOf("web-a", "6", "t1", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 30*second)
	v.wantHolds(t, "a late event", 30*second, of(2))
}

// renewed returns a lease as it is after another renewal.
func renewed(l *lease, version, at string) *lease {
	again := *l
	again.ResourceVersion, again.Spec.RenewTime = version, at
	return &again
}

// A lease counts for as long as it says, and no shorter than our own, because the last write of a replica says a second.
func TestALeaseCountsForTheLongerOfTwoDurations(t *testing.T) {
	for says, lasts := range map[int64]time.Duration{0: 15 * second, 1: 15 * second, 14: 15 * second, 15: 15 * second, 16: 16 * second, 40: 40 * second} {
		v := newTestView()
		l := leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
		l.Spec.LeaseDurationSeconds = says
		v.sees(l, 0)
		what := fmt.Sprintf("a lease of %d s", says)
		v.wantHolds(t, what, lasts-1, of(1))
		v.wantHolds(t, what, lasts, meta.Ranges{})
	}
}

// A replica may come back with another weight.
func TestScoresFollowTheWeightOfALease(t *testing.T) {
	v := newTestView()
	for i, weight := range []int{1, 3, 3, 1} {
		v.sees(leaseOf("web-a", fmt.Sprint(i), fmt.Sprint("t", i), share{weight: weight, by: meta.ShardByUID}), time.Duration(i)*second)
		if *v.members["web-a"].scores != *newScores("web-a", weight) {
			t.Errorf("after lease %d the scores are not those of weight %d", i, weight)
		}
	}
}

// A replica whose lease somebody has deleted or edited may have taken ranges, and renewed, after the last state that others have seen.
func TestALeaseWithAnUnseenLastStateMayHaveHadAnyRange(t *testing.T) {
	before := func() *view {
		v := newTestView()
		v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}), 0)
		return v
	}
	edited := func(version, renewed string) *lease {
		l := leaseOf("web-a", version, renewed, share{ranges: of(1, 2), weight: 1, by: meta.ShardByUID})
		delete(l.Annotations, shareAnnotation)
		return l
	}
	anew := leaseOf("web-a", "9", "t9", share{ranges: of(3), weight: 1, by: meta.ShardByUID})
	anew.UID = "another"
	for what, lose := range map[string]func(v *view){
		"not in a list":              func(v *view) { v.seesList(nil, 10*second) },
		"not in two lists":           func(v *view) { v.seesList(nil, 10*second); v.seesList(nil, 12*second) },
		"another one by the watch":   func(v *view) { v.sees(anew, 10*second) },
		"another one in a list":      func(v *view) { v.seesList([]*lease{anew}, 10*second) },
		"edited after a renewal":     func(v *view) { v.sees(edited("8", "t1"), 10*second) },
		"edited twice after that":    func(v *view) { v.sees(edited("8", "t1"), 10*second); v.sees(edited("9", "t1"), 12*second) },
		"edited and then deleted":    func(v *view) { v.sees(edited("8", "t1"), 10*second); v.seesDeletion(edited("9", "t1"), 12*second) },
		"edited, then not in a list": func(v *view) { v.sees(edited("8", "t0"), 5*second); v.seesList(nil, 10*second) },
	} {
		v := before()
		lose(v)
		v.wantHolds(t, what, 24*second, meta.AllRanges())
		if v.released != (meta.Ranges{}) {
			t.Errorf("%s: %v are said to be free", what, v.released)
		}
		if m := v.members["web-a uid-web-a"]; m != nil {
			delete(v.members, "web-a")
		}
		v.wantHolds(t, what+", when it has run out", 25*second, meta.Ranges{})
		if v.released != of() {
			t.Errorf("%s: it has run out, and %v are said to be free", what, v.released)
		}
	}

	// The plan takes that into account: nothing is begun that such a replica may have.
	v := before()
	v.seesList(nil, second)
	table := table{count: meta.RangeCount, lease: 15 * second, ours: newScores("web-me", 1), have: meta.AllRanges(), claims: of(2, 3), observed: observed{ranges: of(2, 3)}}
	if p := table.plan(v, 2*second); p.confirm != (meta.Ranges{}) {
		t.Errorf("%v are begun while a replica may have them", p.confirm)
	}
	if p := table.plan(v, 17*second); p.confirm != of(2, 3) {
		t.Errorf("%v are begun when it cannot have them any more", p.confirm)
	}

	// One that had nothing when it was seen last, and that somebody has made look as if its replica had ended, may have all of it too.
	v = newTestView()
	v.sees(leaseOf("web-a", "5", "t0", share{weight: 1, by: meta.ShardByUID}), 0)
	l := edited("8", "t1")
	l.Spec.HolderIdentity = ""
	v.sees(l, 10*second)
	v.wantHolds(t, "edited to look ended", 24*second, meta.AllRanges())
	v.seesDeletion(l, 12*second)
	v.wantHolds(t, "edited to look ended, and deleted", 24*second, meta.AllRanges())

	// A watch that tells how it was at last, later than a list, settles it.
	v = before()
	v.seesList(nil, 10*second)
	v.seesDeletion(leaseOf("web-a", "8", "t1", share{ranges: of(2), weight: 1, by: meta.ShardByUID}), 11*second)
	v.wantHolds(t, "once it is known", 12*second, of(2))
	v = before()
	v.seesList(nil, 10*second)
	v.seesDeletion(leaseOf("web-a", "5", "t0", share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}), 11*second) // nothing was written since
	v.wantHolds(t, "once it is known to have been as it was", 12*second, of(1))
	v.wantHolds(t, "once it is known to have been as it was, later", 15*second, of())
	v = before()
	v.seesList([]*lease{anew}, 10*second)
	v.sees(leaseOf("web-a", "7", "t1", share{ranges: of(2), weight: 1, by: meta.ShardByUID}), 11*second)
	v.wantHolds(t, "once it is known, and made again", 12*second, of(2, 3))
	if m := v.members["web-a uid-web-a"]; m.takesPart(12 * second) {
		t.Error("a lease that was deleted is one of a replica")
	}
	gone := leaseOf("web-a", "8", "t2", share{weight: 1, by: meta.ShardByUID})
	gone.Spec.HolderIdentity = ""
	v.seesDeletion(gone, 12*second)
	v.wantHolds(t, "once it is known to have ended", 12*second, of(3))
	if m := v.members["web-a"]; !m.takesPart(13*second) || len(v.members) != 1 {
		t.Errorf("the lease that was made again is not one of a replica, or %d leases are known", len(v.members))
	}
	v.seesDeletion(gone, 13*second)
	v.wantHolds(t, "an old state", 13*second, of(3))
}

// A living replica that was last seen without ranges may have taken some since, unseen. If its lease goes away unseen, it may own all.
func TestALivingReplicaWithoutRangesIsNotForgotten(t *testing.T) {
	living := leaseOf("web-a", "5", "t0", share{weight: 1, by: meta.ShardByUID})
	anew := leaseOf("web-a", "9", "t9", share{weight: 1, by: meta.ShardByUID})
	anew.UID = "another"
	for what, goes := range map[string]func(v *view){
		"not in a list":           func(v *view) { v.seesList(nil, 10*second) },
		"made again":              func(v *view) { v.sees(anew, 10*second) },
		"restored from a backup":  func(v *view) { v.restored(10 * second) },
		"restored, and in a list": func(v *view) { v.restored(10 * second); v.seesList([]*lease{living}, 10*second) },
	} {
		v := newTestView()
		v.sees(living, 0)
		goes(v)
		v.wantHolds(t, what, 24*second, meta.AllRanges())
		v.wantHolds(t, what+", when it has run out", 25*second, of())
	}
}

func TestAReleasedLeaseIsForgotten(t *testing.T) {
	for what, forget := range map[string]func(*view, *lease){
		"deleted":       func(v *view, l *lease) { v.seesDeletion(l, second) },
		"not in a list": func(v *view, _ *lease) { v.seesList(nil, second) },
	} {
		v := newTestView()
		v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}), 0)
		l := leaseOf("web-a", "6", "t1", share{owned: of(1), weight: 1, by: meta.ShardByUID})
		l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = "", 1
		v.sees(l, second)
		v.wantHolds(t, "given back", second, meta.Ranges{})
		if v.members["web-a"].takesPart(second) || !v.released.Has(1) {
			t.Error("a replica that has ended takes part, or its ranges are not known to be free")
		}
		forget(v, l)
		if len(v.members) != 0 {
			t.Errorf("%s: a lease that was given back is remembered", what)
		}
	}
}

// Somebody who removes the holder by hand, and then deletes the lease, does not free the ranges.
func TestALeaseThatWasMadeToLookEndedKeepsItsRangesWhenItIsDeleted(t *testing.T) {
	for what, forget := range map[string]struct {
		do   func(v *view, l *lease)
		want meta.Ranges
	}{
		"deleted":       {func(v *view, l *lease) { v.seesDeletion(l, 2*second) }, of(1)},
		"not in a list": {func(v *view, _ *lease) { v.seesList(nil, 2*second) }, meta.AllRanges()},
	} {
		v := newTestView()
		v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 0)
		edited := leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
		edited.Spec.HolderIdentity = ""
		v.sees(edited, second)
		forget.do(v, edited)
		v.wantHolds(t, what, 14*second, forget.want)
	}
}

// Somebody who removes the holder by hand does not free the ranges.
func TestAnEditedLeaseKeepsItsRanges(t *testing.T) {
	for what, edit := range map[string]func(*lease){
		"no holder":     func(l *lease) { l.Spec.HolderIdentity = "" },
		"no annotation": func(l *lease) { delete(l.Annotations, shareAnnotation) },
		"other ranges": func(l *lease) {
			l.Annotations[shareAnnotation] = share{weight: 1, by: meta.ShardByUID}.text("web-b")
		},
		"nonsense": func(l *lease) { l.Annotations[shareAnnotation] = "v1" },
	} {
		v := newTestView()
		v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 0)
		edited := leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
		edit(edited)
		v.sees(edited, second)
		v.wantHolds(t, what, 14*second, of(1))
		if v.released.Has(1) {
			t.Errorf("%s: the range is said to be free", what)
		}
		if v.members["web-a"].takesPart(second) {
			t.Errorf("%s: the replica is to have ranges", what)
		}
	}
	v := newTestView()
	edited := leaseOf("web-a", "6", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
	delete(edited.Annotations, shareAnnotation)
	v.sees(edited, 0)
	v.wantHolds(t, "a lease that was never seen otherwise", 14*second, meta.AllRanges())
	v.wantHolds(t, "when it has run out", 15*second, meta.Ranges{})
}

func TestAReplicaThatJoinsTakesOnlyKnownRangesUntilALeaseHasRunOut(t *testing.T) {
	for what, test := range map[string]struct {
		share  share
		broken bool
		at     time.Duration
		want   bool
	}{
		"a group that begins":                  {share: share{weight: 1, by: meta.ShardByUID}, want: true},
		"a group that works":                   {share: share{ranges: of(1), weight: 1, by: meta.ShardByUID}},
		"a group that works, after a lease":    {share: share{ranges: of(1), weight: 1, by: meta.ShardByUID}, at: 15 * second, want: true},
		"a group that works, shortly before":   {share: share{ranges: of(1), weight: 1, by: meta.ShardByUID}, at: 14 * second},
		"a group whose replica has just ended": {share: share{owned: of(1), weight: 1, by: meta.ShardByUID}, want: true},
		"a lease that somebody has edited":     {broken: true},
	} {
		v := newTestView()
		l := leaseOf("web-a", "5", "t0", test.share)
		if test.broken {
			l.Annotations = nil
		}
		v.seesList([]*lease{l}, 0)
		if got := v.isKnown(7, test.at); got != test.want {
			t.Errorf("%s: isKnown is %v", what, got)
		}
	}
}

// A new replica may take a range that another replica has worked on and gives up. It may not take a range that another replica has only
// waited for: a third replica, whose lease somebody deleted before the new one came, may still work on it.
func TestAClaimThatIsTakenAwayShowsNoRelease(t *testing.T) {
	a := func(version string, ranges, owned meta.Ranges) *lease {
		return leaseOf("web-a", version, "t"+version, share{ranges: ranges, owned: owned, weight: 1, by: meta.ShardByUID})
	}
	for what, test := range map[string]struct {
		before, after *lease
		released      meta.Ranges
	}{
		"work that was seen":                           {a("5", of(1), of(1)), a("6", of(), of(1)), of(1)},
		"work that the last write tells of":            {a("5", of(1), of()), a("6", of(), of(1)), of(1)},
		"work that was lost":                           {a("5", of(1), of(1)), a("6", of(), of()), of()},
		"a claim":                                      {a("5", of(1), of()), a("6", of(), of()), of()},
		"work before the new replica came":             {a("5", of(), of(1)), a("6", of(), of(1)), of()},
		"work that goes on":                            {a("5", of(1), of(1)), a("6", of(1), of(1)), of()},
		"a claim that is left, and a range that stays": {a("5", of(1, 2), of(2)), a("6", of(2), of(2)), of()},
	} {
		v := newTestView()
		v.seesList([]*lease{test.before}, 0)
		v.sees(test.after, second)
		if v.released != test.released {
			t.Errorf("%s: %v are known to be free, want %v", what, v.released, test.released)
		}
	}

	// A claim that runs out shows as little as one that is taken away.
	v := newTestView()
	v.seesList([]*lease{a("5", of(1, 2), of(2))}, 0)
	v.expire(15 * second)
	if v.released != of() {
		t.Errorf("a lease has run out, and %v are said to be free", v.released)
	}
	// When its replica comes back, it tells that it has worked on range 1 before. Somebody else may have had that since.
	v.sees(a("6", of(), of(1, 2)), 16*second)
	if v.released != of() {
		t.Errorf("a replica has come back, and %v are said to be free", v.released)
	}
}

// A lease tells which of its ranges its replica has worked on.
func TestOwnedBelongsToTheLastClaim(t *testing.T) {
	t0 := table{count: meta.RangeCount, lease: 15 * second, ours: newScores("web-me", 1), have: meta.AllRanges(), owned: of(3, 4)}
	v := newTestView()
	v.seesList(nil, 0)
	t0.plan(v, second)
	if !t0.claims.Has(3) || t0.owned != (meta.Ranges{}) {
		t.Errorf("the claims are %v, and %v are said to be worked on since", t0.claims, t0.owned)
	}
}

// Each share has a text of its own, and no other text is a share.
func TestSharesAsText(t *testing.T) {
	for _, s := range []share{
		{weight: 1, by: meta.ShardByUID},
		{ranges: meta.AllRanges(), weight: maxWeight, by: meta.ShardByNamespace, leaving: true},
		{weight: 1, by: meta.ShardByUID, joining: true},
		{ranges: of(0, 255), owned: of(7, 255), weight: 7, by: meta.ShardByUID},
	} {
		text := s.text("web-a")
		if got, err := parseShare(text, "web-a"); err != nil || got != s {
			t.Errorf("%+v became %q and %+v, %v", s, text, got, err)
		}
		if _, err := parseShare(text, "web-b"); err == nil {
			t.Errorf("the share of another lease is taken: %q", text)
		}
		for i := range text {
			other := []byte(text)
			other[i] ^= 1
			if got, err := parseShare(string(other), "web-a"); err == nil {
				t.Errorf("%q is taken for %+v", other, got)
			}
		}
	}
	for _, body := range []string{
		"", "v1", "v1 ranges=00 owned=" + zeros + " weight=1" + rest, "v1 ranges=" + zeros + " owned=00 weight=1" + rest,
		"v1 ranges=" + zeros + " owned=" + zeros + " weight=0" + rest, "v1 ranges=" + zeros + " owned=" + zeros + " weight=1001" + rest,
		"v1 ranges=" + zeros + " weight=1" + rest,
		"v1 ranges=" + zeros + " owned=" + zeros + " weight=1 by=metadata.name leaving=true joining=false",
	} {
		if got, err := parseShare(body+" sum="+sum(body, "web-a"), "web-a"); err == nil {
			t.Errorf("%q is taken for %+v", body, got)
		}
	}
}

const rest = " by=object.metadata.uid leaving=true joining=false"

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// When a replica comes or goes, no range moves between two others; shares follow the weights.
func TestScores(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	owners := func(weights map[string]int) (of [meta.RangeCount]string, counts map[string]int) {
		counts = make(map[string]int)
		all := map[string]*scores{}
		for name, w := range weights {
			all[name] = newScores("web-"+name, w)
		}
		for n := range of {
			for _, name := range names {
				if s := all[name]; s != nil && (of[n] == "" || s[n] > all[of[n]][n]) {
					of[n] = name
				}
			}
			counts[of[n]]++
		}
		return of, counts
	}
	before, _ := owners(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1})
	after, _ := owners(map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1})
	moved := 0
	for n := range before {
		if before[n] != after[n] {
			moved++
			if after[n] != "e" {
				t.Errorf("range %d moves from %s to %s", n, before[n], after[n])
			}
		}
	}
	if moved < 30 || moved > 75 { // 51 of 256
		t.Errorf("%d ranges move to a fifth replica", moved)
	}
	sum := 0
	for i := range 50 {
		names = []string{string(rune('a' + i)), "heavy"}
		_, counts := owners(map[string]int{names[0]: 1, "heavy": 3})
		sum += counts["heavy"]
	}
	if mean := sum / 50; mean < 185 || mean > 199 { // 192
		t.Errorf("a replica of weight 3 beside one of 1 has %d ranges", mean)
	}
}

// Events that are older than a list change nothing: the lease has gone since, and its replica may have written more before that.
func TestOldStatesOfALeaseThatIsGoneChangeNothing(t *testing.T) {
	v := newTestView()
	l := leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID})
	v.sees(l, 0) // by a list; the watch is behind
	v.seesList(nil, 10*second)
	v.wantHolds(t, "not in a list", 12*second, meta.AllRanges())
	v.sees(l, 12*second) // the watch brings what the first list has told
	v.wantHolds(t, "after an old event", 13*second, meta.AllRanges())
	if v.members["web-a"].takesPart(13 * second) {
		t.Error("a replica whose lease is gone is to have ranges")
	}
}

// A list may come when the watch has already brought a lease that was made after it.
func TestAListThatIsOlderThanALeaseSaysNothingAboutIt(t *testing.T) {
	v := newTestView()
	v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), 0)
	v.listed(leaseList{version: "4"}, second)
	v.wantHolds(t, "an older list", second, of(1))
	if !v.members["web-a"].takesPart(second) {
		t.Error("a replica whose lease was made after the list takes no part")
	}
	v.listed(leaseList{version: "5"}, second)
	v.wantHolds(t, "a list of that version", second, meta.AllRanges())
}

// A lease that was given back held nothing, whoever makes another one of its name, and whichever of a watch and a list tells that first.
func TestALeaseThatWasGivenBackHoldsNothingWhenItIsMadeAgain(t *testing.T) {
	anew := leaseOf("web-a", "9", "t9", share{ranges: of(2), weight: 1, by: meta.ShardByUID})
	anew.UID = "another"
	free := leaseOf("web-a", "6", "t1", share{owned: of(1), weight: 1, by: meta.ShardByUID})
	free.Spec.HolderIdentity = ""
	deleted := *free
	deleted.ResourceVersion = "7"
	for what, then := range map[string]func(v *view){
		"a list comes when the watch has told more than it": func(v *view) {
			v.seesDeletion(&deleted, second)
			v.seesList([]*lease{free}, second)
			v.sees(anew, 2*second)
		},
		"a list tells more than the watch": func(v *view) { v.seesList([]*lease{anew}, 2*second) },
	} {
		v := newTestView()
		v.sees(leaseOf("web-a", "5", "t0", share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}), 0)
		v.sees(free, second)
		then(v)
		v.wantHolds(t, what, 3*second, of(2))
	}
}

// A list that shows a lease in an earlier state than is known is that of a server that has been restored, if it is not older itself.
func TestAListThatContradictsWhatIsKnown(t *testing.T) {
	list := func(version string, leases ...*lease) meta.List[*lease] {
		return meta.List[*lease]{ListMeta: meta.ListMeta{ResourceVersion: version}, Items: leases}
	}
	a := func(version string) *lease {
		return leaseOf("web-a", version, "t"+version, share{weight: 1, by: meta.ShardByUID})
	}
	another := a("5")
	another.UID = "another"
	for what, test := range map[string]struct {
		list meta.List[*lease]
		want bool
	}{
		"as it is known":            {list: list("30", a("20"))},
		"newer":                     {list: list("30", a("25"))},
		"earlier":                   {list: list("30", a("15")), want: true},
		"earlier, in an older list": {list: list("19", a("15"))},
		"made again":                {list: list("30", another)},
		"our own, as it is known":   {list: list("30", leaseOf("web-me", "22", "t", share{weight: 1, by: meta.ShardByUID}))},
		"our own, earlier":          {list: list("30", leaseOf("web-me", "21", "t", share{weight: 1, by: meta.ShardByUID})), want: true},
	} {
		v := newTestView()
		v.seesList([]*lease{a("20")}, 0)
		v.own = "22"
		if got := v.isEarlier(listOf(test.list), known{}); got != test.want {
			t.Errorf("%s: isEarlier is %v", what, got)
		}
	}
}

// After a restoration every other replica may have everything for a lease, and events with lower versions count.
func TestARestoredServer(t *testing.T) {
	v := newTestView()
	ended := leaseOf("web-b", "21", "t", share{weight: 1, by: meta.ShardByUID})
	ended.Spec.HolderIdentity = ""
	v.seesList([]*lease{leaseOf("web-a", "20", "t5", share{ranges: of(1), weight: 1, by: meta.ShardByUID}), ended}, 0)
	v.restored(5 * second)
	before := leaseOf("web-a", "10", "t1", share{ranges: of(2), weight: 1, by: meta.ShardByUID})
	v.seesList([]*lease{before}, 5*second)
	v.wantHolds(t, "soon", 19*second, meta.AllRanges())
	v.sees(leaseOf("web-a", "11", "t2", share{ranges: of(3), weight: 1, by: meta.ShardByUID}), 19*second)
	v.wantHolds(t, "after a lease", 20*second, of(3))
	if len(v.members) != 1 {
		t.Errorf("%d leases are known", len(v.members))
	}
}

// A watch that begins anew with a list says nothing of what was given up before, and nothing is known for a lease from then on.
func TestAWatchThatBeginsAnew(t *testing.T) {
	v := newTestView()
	v.seesList(nil, 0)
	v.restart("5", 0)
	if !v.knowsAll(0) || v.head != "5" {
		t.Errorf("after the first list: all is known: %v; the watch has come to %q", v.knowsAll(0), v.head)
	}
	v.released = of(1)
	v.came("4")
	v.came("")
	v.came("7")
	if v.head != "7" {
		t.Errorf("the watch has come to %q", v.head)
	}
	v.restart("9", 10*second)
	if v.isKnown(1, 24*second) || !v.isKnown(1, 25*second) || v.head != "9" {
		t.Errorf("range 1 is known before a lease has passed, or not afterwards; the watch has come to %q", v.head)
	}
}

// Claims are reached one write after the other, and a claim that lapses is forgotten.
func TestTheWatchBringsClaimsInTheirOrder(t *testing.T) {
	var r observed
	if !r.stored("5", of(1), "4") || r.ranges != of() {
		t.Errorf("the watch has brought %v before their events", r.ranges)
	}
	if r.stored("6", of(1), "4") || !r.stored("7", of(1, 2), "4") || len(r.waits) != 2 {
		t.Errorf("%d writes are waited for", len(r.waits))
	}
	if r.came("4") || !r.came("6") || r.ranges != of(1) {
		t.Errorf("the watch has brought %v, want 1", r.ranges)
	}
	if r.keep(of(2)); r.ranges != of() || len(r.waits) != 1 {
		t.Errorf("the watch has brought %v, and %d writes are waited for", r.ranges, len(r.waits))
	}
	if !r.came("7") || r.ranges != of(2) {
		t.Errorf("the watch has brought %v, want 2", r.ranges)
	}
	if r.stored("8", of(2, 3), "9") || r.ranges != of(2, 3) {
		t.Errorf("the watch has brought %v with an event that came before the answer, want 2 and 3", r.ranges)
	}
	r.stored("10", of(2, 3, 4), "9")
	if r.keep(of(2)); len(r.waits) != 0 || r.ranges != of(2) {
		t.Errorf("the watch has brought %v, and %d writes are waited for", r.ranges, len(r.waits))
	}
	if r.stored("x", of(2, 5), "9") != true || r.came("y") || !r.came("x") {
		t.Error("versions without an order are not compared as texts")
	}
}

package shards

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// firstFor returns the first range that one is to have, rather than the others.
func firstFor(one *scores, others ...*scores) (n int) {
	for slices.ContainsFunc(others, func(other *scores) bool { return other[n] >= one[n] }) {
		n++
	}
	return n
}

// Of more replicas than there are ranges, each range has one that is to have it, and some replicas have none.
func TestMoreReplicasThanRanges(t *testing.T) {
	var leases []*lease
	for n := range meta.RangeCount + 40 {
		leases = append(leases, leaseOf(fmt.Sprint("web-", n), "1", "t0", share{weight: 1, by: meta.ShardByUID}))
	}
	var all meta.Ranges
	none := 0
	for _, self := range leases {
		v := newView(self.Name, 15*second, meta.ShardByUID)
		v.seesList(leases, second)
		own := table{count: meta.RangeCount, lease: 15 * second, ours: newScores(self.Name, 1), have: meta.AllRanges()}
		p := own.plan(v, second)
		if own.claims != p.wanted || all.Intersect(own.claims).Len() > 0 {
			t.Errorf("%s claims for %v of %v, and others have %v", self.Name, own.claims, p.wanted, all)
		}
		if all = all.Union(own.claims); own.claims.Len() == 0 {
			none++
		}
	}
	if all != meta.AllRanges() || none < 40 {
		t.Errorf("%d ranges are somebody's, and %d replicas have none", all.Len(), none)
	}
}

// A replica that joins cannot begin with a range that another one has only waited for, until a lease has passed. Its claim would make that
// other one take its own away, and then nobody would have the range.
func TestAReplicaThatJoinsLetsOthersBegin(t *testing.T) {
	first, last := newScores("web-me", 1), newScores("web-a", 1)
	n := firstFor(first, last)
	for what, test := range map[string]struct {
		share share
		at    time.Duration
		want  bool
	}{
		"waited for":                {share: share{ranges: of(n), weight: 1, by: meta.ShardByUID}},
		"worked on":                 {share: share{ranges: of(n), owned: of(n), weight: 1, by: meta.ShardByUID}, want: true},
		"waited for, after a lease": {share: share{ranges: of(n), weight: 1, by: meta.ShardByUID}, at: 15 * second, want: true},
		"worked on before":          {share: share{ranges: of(n + 1), owned: of(n), weight: 1, by: meta.ShardByUID}},
		"unclaimed":                 {share: share{ranges: of(n + 1), weight: 1, by: meta.ShardByUID}},
		"unclaimed, after a lease":  {share: share{ranges: of(n + 1), weight: 1, by: meta.ShardByUID}, at: 15 * second, want: true},
		"unclaimed, in a new group": {share: share{weight: 1, by: meta.ShardByUID}, want: true},
	} {
		v := newTestView()
		v.seesList([]*lease{leaseOf("web-a", "1", "t0", test.share)}, 0)
		v.sees(leaseOf("web-a", "2", "t1", test.share), test.at)
		own := table{count: meta.RangeCount, lease: 15 * second, ours: first, have: meta.AllRanges()}
		p := own.plan(v, test.at)
		if got := own.claims.Has(n); got != test.want {
			t.Errorf("%s: claims is %v", what, got)
		}
		if !p.wanted.Has(n) {
			t.Errorf("%s: the replica does not prepare for its range", what)
		}
		if !test.want && p.next != 15*second-test.at {
			t.Errorf("%s: the next plan is to come in %v", what, p.next)
		}
	}

	// It looks again when that lease has passed since it has come, and not when the other one would run out.
	v := newTestView()
	rest := share{ranges: meta.AllRanges().Without(n), weight: 1, by: meta.ShardByUID}
	v.seesList([]*lease{leaseOf("web-a", "1", "t0", rest)}, 0)
	v.sees(leaseOf("web-a", "2", "t1", rest), 10*second)
	own := table{count: meta.RangeCount, lease: 15 * second, ours: first, have: meta.AllRanges()}
	if p := own.plan(v, 10*second); own.claims.Has(n) || p.next != 5*second {
		t.Errorf("10 s after it has come, claims is %v, and the next plan is to come in %v", own.claims.Has(n), p.next)
	}
}

// Before the leases have been listed, nothing is known, so nothing is taken, however long ago the clock began.
func TestAReplicaThatHasNotListedTheLeasesTakesNothing(t *testing.T) {
	v := newTestView()
	own := table{count: meta.RangeCount, lease: 15 * second, ours: newScores("web-me", 1), have: meta.AllRanges()}
	if p := own.plan(v, time.Hour); p != (plan{handed: true}) || own.claims != (meta.Ranges{}) {
		t.Errorf("before a list the plan is %+v, and the claims are %v", p, own.claims)
	}
	v.seesList(nil, time.Hour)
	if own.plan(v, time.Hour); own.claims != meta.AllRanges() {
		t.Errorf("after a list, which shows nobody, the claims are %v", own.claims)
	}
}

// A range that its rightful owner gives up is left to that replica for a lease from then on, and not from an earlier time without a claim.
func TestARangeWithoutAnOwnerIsReservedForOneLeaseDuration(t *testing.T) {
	ours, theirs := newScores("web-me", 1), newScores("web-a", 1)
	n := firstFor(theirs, ours)
	v := newTestView()
	v.seesList(nil, 0)
	own := table{count: meta.RangeCount, lease: 15 * second, ours: ours, have: meta.AllRanges()}
	at, version := time.Duration(0), 0
	is := func(when string, now time.Duration, theirs meta.Ranges, wanted bool, next time.Duration) {
		t.Helper()
		at, version = now, version+1
		v.sees(leaseOf("web-a", fmt.Sprint(version), fmt.Sprint("t", version), share{ranges: theirs, weight: 1, by: meta.ShardByUID}), at)
		p := own.plan(v, at)
		if p.wanted.Has(n) != wanted || own.claims.Has(n) != wanted || p.next != next {
			t.Errorf("%s: wanted is %v, claims %v, and the next plan is to come in %v", when, p.wanted.Has(n), own.claims.Has(n), p.next)
		}
	}
	all := meta.AllRanges()
	is("the other one waits for it", second, all, false, 15*second) // when its lease would run out
	is("it gives it up", 60*second, all.Without(n), false, 15*second)
	is("it still does not take it", 70*second, all.Without(n), false, 5*second)
	is("it takes it", 74*second, all, false, 15*second)
	is("it gives it up again", 76*second, all.Without(n), false, 15*second)
	is("it has not taken it for a lease", 91*second, all.Without(n), true, 15*second)
}

// A replica claims only for ranges that it could begin to work on, if no other replica stands in its way.
func TestAReplicaClaimsOnlyWhatItCanWorkOn(t *testing.T) {
	known := func() *view {
		v := newTestView()
		v.seesList(nil, 0)
		return v
	}
	ours := newScores("web-me", 1)
	for what, test := range map[string]struct {
		table           table
		claims, confirm meta.Ranges
	}{
		"it waits for an answer": {table: table{claims: of(1), observed: observed{ranges: of(1)}, have: of(1)}, claims: of(1), confirm: of(1)},
		"it waits for the watch": {table: table{claims: of(1), accepted: of(1), have: of(1)}, claims: of(1)},
		"it leaves":              {table: table{claims: of(1), observed: observed{ranges: of(1)}, have: of(1), leaving: true}},
		"it is not prepared any more": {
			table: table{claims: of(1, 2), observed: observed{ranges: of(1, 2)}, have: of(2)}, claims: of(2), confirm: of(2),
		},
	} {
		own := test.table
		own.count = meta.RangeCount
		own.lease, own.ours = 15*second, ours
		if p := own.plan(known(), second); own.claims != test.claims || p.confirm != test.confirm {
			t.Errorf("%s: the claims are %v, and %v is to be begun", what, own.claims, p.confirm)
		}
	}

	// Another replica was seen to work on the range, and claims for it again without having been seen to give it up. When it takes that claim
	// away, it is not known who had the range meanwhile.
	n := firstFor(ours, newScores("web-a", 1))
	a := func(version string, ranges, owned meta.Ranges) *lease {
		return leaseOf("web-a", version, "t"+version, share{ranges: ranges, owned: owned, weight: 1, by: meta.ShardByUID})
	}
	v := newTestView()
	v.seesList([]*lease{a("5", of(n), of(n))}, 0)
	own := table{count: meta.RangeCount, lease: 15 * second, ours: ours, have: of(n)}
	if own.plan(v, second); own.claims != of(n) {
		t.Errorf("the claims are %v, want what the other works on", own.claims)
	}
	own.observed.ranges = own.claims
	v.sees(a("6", of(n), of()), 9*second)
	v.sees(a("7", of(), of()), 10*second)
	if p := own.plan(v, 10*second); own.claims != of(n) || p.confirm != of() || p.next != 5*second {
		t.Errorf("the claims are %v, %v is to be begun, and the next plan is to come in %v", own.claims, p.confirm, p.next)
	}
	if p := own.plan(v, 15*second); p.confirm != of(n) {
		t.Errorf("a lease after the replica has come, %v is to be begun", p.confirm)
	}
}

// A replica stays prepared for a range that it works on until the range has passed, although another replica is to have it.
func TestARangeStaysWantedWhileTheReplicaWorksOnIt(t *testing.T) {
	ours, theirs := newScores("web-me", 1), newScores("web-a", 1)
	n := firstFor(theirs, ours)
	v := newTestView()
	v.seesList([]*lease{leaseOf("web-a", "1", "t0", share{weight: 1, by: meta.ShardByUID})}, 0)
	own := table{count: meta.RangeCount, lease: 15 * second, ours: ours, have: meta.AllRanges(), claims: of(n), observed: observed{ranges: of(n)}, owns: of(n)}
	if p := own.plan(v, second); !p.wanted.Has(n) || p.giveUp != of() || !own.claims.Has(n) {
		t.Errorf("it prepares for %v, gives up %v, and claims for %v", p.wanted, p.giveUp, own.claims)
	}
	v.sees(leaseOf("web-a", "2", "t1", share{ranges: of(n), weight: 1, by: meta.ShardByUID}), 2*second)
	if p := own.plan(v, 2*second); !p.wanted.Has(n) || p.giveUp != of(n) {
		t.Errorf("when the other one is ready, it prepares for %v, and gives up %v", p.wanted, p.giveUp)
	}
	own.owns, own.draining = of(), of(n)
	if p := own.plan(v, 3*second); !p.wanted.Has(n) {
		t.Errorf("while work is under way, it prepares for %v", p.wanted)
	}
}

// Two replicas with another Options.By do not work at the same time. One that works goes on; of two that wait, the first by name begins.
func TestAReplicaAndOneThatSharesBySomethingElse(t *testing.T) {
	waits, works := of(7), of(9)
	mine := of(1, 2)
	for what, test := range map[string]struct {
		lease        string
		shows, owned meta.Ranges
		claims, owns meta.Ranges // of this replica at first
		wantClaims   meta.Ranges // of mine, afterwards
		wantConfirm  meta.Ranges
	}{
		"nothing is shown, so it begins":               {lease: "web-a", wantClaims: mine},
		"nothing is shown, so it works":                {lease: "web-a", claims: mine, wantClaims: mine, wantConfirm: mine},
		"the other waits, so it does not begin":        {lease: "web-z", shows: waits},
		"both wait, and the other is first by name":    {lease: "web-a", shows: waits, claims: mine},
		"both wait, and this one is first by name":     {lease: "web-z", shows: waits, claims: mine, wantClaims: mine},
		"the other works, so this one does not wait":   {lease: "web-z", shows: works, owned: works, claims: mine},
		"this one works, and the other waits":          {lease: "web-a", shows: waits, claims: mine, owns: mine, wantClaims: mine},
		"this one works on a range, and wants another": {lease: "web-a", shows: waits, claims: mine, owns: of(1), wantClaims: of(1)},
		"the other has worked on what it has given up": {lease: "web-z", shows: waits, owned: works, claims: mine, wantClaims: mine},
	} {
		v := newTestView()
		v.seesList(nil, 0)
		shows := share{ranges: test.shows, owned: test.owned, weight: 1, by: meta.ShardByNamespace}
		v.sees(leaseOf(test.lease, "1", "t0", shows), second)
		own := table{
			count: meta.RangeCount,
			lease: 15 * second, ours: newScores("web-me", 1), have: mine, claims: test.claims, observed: observed{ranges: test.claims}, owns: test.owns,
		}
		p := own.plan(v, second)
		if own.claims != test.wantClaims || p.confirm != test.wantConfirm || p.giveUp != (meta.Ranges{}) {
			t.Errorf("%s: it claims for %v, begins %v, and gives up %v", what, own.claims, p.confirm, p.giveUp)
		}
		if p.foreign == nil || p.foreign.name != test.lease || p.wanted != meta.AllRanges() {
			t.Errorf("%s: it says that %v is foreign, and prepares for %v", what, p.foreign, p.wanted)
		}
		ended := leaseOf(test.lease, "2", "t1", share{weight: 1, by: meta.ShardByNamespace})
		ended.Spec.HolderIdentity = ""
		v.sees(ended, second)
		if p = own.plan(v, second); own.claims.Intersect(mine) != mine || p.foreign != nil {
			t.Errorf("%s: when the other has ended, it claims for %v, and says that %v is foreign", what, own.claims, p.foreign)
		}
	}
}

// The lease of a replica with another Options.By does not tell who worked on the ranges of this one.
func TestLeasesWithAnotherByReleaseNoRanges(t *testing.T) {
	foreign := share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByNamespace}
	ours := share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}
	for what, states := range map[string][2]share{
		"given up":                       {foreign, {weight: 1, by: meta.ShardByNamespace}},
		"ours before":                    {ours, {weight: 1, by: meta.ShardByNamespace}},
		"ours afterwards":                {foreign, {weight: 1, by: meta.ShardByUID}},
		"run out, and never given up":    {foreign, foreign},
		"waited for, and then in theirs": {{ranges: of(1), weight: 1, by: meta.ShardByUID}, {owned: of(1), weight: 1, by: meta.ShardByNamespace}},
	} {
		v := newTestView()
		v.seesList([]*lease{leaseOf("web-a", "1", "t0", states[0])}, 0)
		v.sees(leaseOf("web-a", "2", "t1", states[1]), second)
		v.expire(20 * second)
		if v.released != (meta.Ranges{}) {
			t.Errorf("%s: %v are said to be free", what, v.released)
		}
	}
}

// A replica does not take a range from the one who works on it while the lease of another one shows it too: it could not begin.
func TestAReplicaTakesNothingThatItCouldNotBegin(t *testing.T) {
	ours := newScores("web-me", 1)
	n := firstFor(ours, newScores("web-a", 1), newScores("web-b", 1))
	works := share{ranges: of(n), owned: of(n), weight: 1, by: meta.ShardByUID}
	v := newTestView()
	v.seesList([]*lease{leaseOf("web-a", "1", "t0", works), leaseOf("web-b", "2", "t0", works)}, 0) // one of them has crashed
	own := table{count: meta.RangeCount, lease: 15 * second, ours: ours, have: meta.AllRanges()}
	for at, want := range []bool{14: false, 15: true} {
		now := time.Duration(at) * second
		v.sees(leaseOf("web-a", fmt.Sprint(at+10), fmt.Sprint("t", at+1), works), now)
		if p := own.plan(v, now); own.claims.Has(n) != want || !p.wanted.Has(n) {
			t.Errorf("after %v: it claims %v, and prepares %v", now, own.claims.Has(n), p.wanted.Has(n))
		}
	}
}

// A range that nobody has is not left to a replica that joins for long, because that one cannot take it.
func TestARangeIsNotLeftToAReplicaThatJoins(t *testing.T) {
	ours, theirs := newScores("web-me", 1), newScores("web-a", 1)
	n := firstFor(theirs, ours)
	for what, test := range map[string]struct {
		shows share
		at    time.Duration // since the leases were listed
		want  bool
		next  time.Duration
	}{
		"one that joins":             {shows: share{joining: true}, at: 499 * time.Millisecond, next: time.Millisecond},
		"after a while":              {shows: share{joining: true}, at: 500 * time.Millisecond, want: true, next: 14500 * time.Millisecond},
		"one that joins and works":   {shows: share{joining: true, ranges: of(n), owned: of(n)}, at: second, next: 14 * second},
		"one that has been there":    {at: 14 * second, next: second},
		"after a lease, as if alone": {at: 15 * second, want: true},
	} {
		test.shows.weight, test.shows.by = 1, meta.ShardByUID
		v := newTestView()
		v.seesList(nil, second)
		v.sees(leaseOf("web-a", "1", "t0", test.shows), second)
		own := table{count: meta.RangeCount, lease: 15 * second, settling: 500 * time.Millisecond, ours: ours, have: meta.AllRanges()}
		own.plan(v, second)
		if test.shows.ranges == (meta.Ranges{}) && test.at >= 15*second {
			v.sees(leaseOf("web-a", "2", "t1", test.shows), 15*second)
			own.plan(v, 15*second)
		}
		p := own.plan(v, second+test.at)
		if own.claims.Has(n) != test.want || p.wanted.Has(n) != test.want || test.next > 0 && p.next != test.next {
			t.Errorf("%s: it claims for the range: %v, prepares for it: %v, and the next plan is in %v", what, own.claims.Has(n), p.wanted.Has(n), p.next)
		}
	}
}

// A replica that joins says so until it knows what all others have.
func TestAReplicaSaysThatItJoins(t *testing.T) {
	shows := share{ranges: of(1), owned: of(1), weight: 1, by: meta.ShardByUID}
	v := newTestView()
	own := table{count: meta.RangeCount, lease: 15 * second, ours: newScores("web-me", 1), have: meta.AllRanges(), joining: true}
	is := func(when string, now time.Duration, want bool) {
		t.Helper()
		if own.plan(v, now); own.joining != want {
			t.Errorf("%s it joins: %v", when, own.joining)
		}
	}
	is("before a list", second, true)
	v.seesList([]*lease{leaseOf("web-a", "1", "t0", shows)}, second)
	is("when others work", 15*second, true)
	is("a lease later", 16*second, false)
	v = newTestView()
	v.seesList(nil, 0)
	is("in a new group", 0, false)
}

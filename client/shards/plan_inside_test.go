package shards

import (
	"fmt"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Of more replicas than there are ranges, each range has one that is to have it, and some replicas have none.
func TestMoreReplicasThanRanges(t *testing.T) {
	var leases []*lease
	for n := range meta.RangeCount + 40 {
		leases = append(leases, leaseOf(fmt.Sprint("web-", n), "1", "t0", share{weight: 1}))
	}
	var all meta.Ranges
	none := 0
	for _, self := range leases {
		v := newView(self.Name, 15*second)
		v.listed(leases, second)
		own := table{lease: 15 * second, ours: newScores(self.Name, 1), have: meta.AllRanges()}
		p := own.plan(v, second)
		if own.bids != p.wanted || all.Intersect(own.bids).Len() > 0 {
			t.Errorf("%s bids for %v of %v, and others have %v", self.Name, own.bids, p.wanted, all)
		}
		if all = all.Union(own.bids); own.bids.Len() == 0 {
			none++
		}
	}
	if all != meta.AllRanges() || none < 40 {
		t.Errorf("%d ranges are somebody's, and %d replicas have none", all.Len(), none)
	}
}

// A replica that joins cannot begin with a range that another one has only waited for, until a lease has passed. Its bid would make that
// other one take its own away, and then nobody would have the range.
func TestAReplicaThatJoinsLetsOthersBegin(t *testing.T) {
	first, last := newScores("web-me", 1), newScores("web-a", 1)
	n := 0
	for first[n] < last[n] { // n is for web-me
		n++
	}
	for what, test := range map[string]struct {
		share share
		at    time.Duration
		want  bool
	}{
		"waited for":                {share: share{ranges: of(n), weight: 1}},
		"worked on":                 {share: share{ranges: of(n), worked: of(n), weight: 1}, want: true},
		"waited for, after a lease": {share: share{ranges: of(n), weight: 1}, at: 15 * second, want: true},
		"nobody's":                  {share: share{ranges: of(n + 1), weight: 1}},
		"nobody's, after a lease":   {share: share{ranges: of(n + 1), weight: 1}, at: 15 * second, want: true},
		"nobody's, in a new group":  {share: share{weight: 1}, want: true},
	} {
		v := newTestView()
		v.listed([]*lease{leaseOf("web-a", "1", "t0", test.share)}, 0)
		v.saw(leaseOf("web-a", "2", "t1", test.share), test.at)
		own := table{lease: 15 * second, ours: first, have: meta.AllRanges()}
		p := own.plan(v, test.at)
		if got := own.bids.Has(n); got != test.want {
			t.Errorf("%s: bids is %v", what, got)
		}
		if !p.wanted.Has(n) {
			t.Errorf("%s: the replica does not prepare for its range", what)
		}
		if !test.want && p.next != 15*second-test.at {
			t.Errorf("%s: the next plan is to come in %v", what, p.next)
		}
	}
}

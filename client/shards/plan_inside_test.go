package shards

import (
	"fmt"
	"testing"

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

package shards

import "testing"

func TestDueRangesAreProportionalToWeights(t *testing.T) {
	members := []Member{
		{Identity: "one", Weight: 1, Self: true},
		{Identity: "three", Weight: 3},
		{Identity: "going", Weight: 5, Leaving: true},
		{Identity: "silent", Weight: 7, Lost: true},
	}
	divide(members)
	want := map[string]float64{"one": 64, "three": 192, "going": 0, "silent": 0}
	for _, m := range members {
		if m.Due != want[m.Identity] {
			t.Errorf("%s is to have %v ranges, want %v", m.Identity, m.Due, want[m.Identity])
		}
	}
	divide(nil)
	divide(members[2:]) // nobody is to have any
	if members[2].Due != 0 || members[3].Due != 0 {
		t.Errorf("those that leave or are lost are to have %v and %v ranges", members[2].Due, members[3].Due)
	}
}

package explore

import (
	"testing"
)

// A schedule is skipped if its future is equal to that of one that was tried. Both must break the program, or neither.
func TestEqualFuturesAreEqual(t *testing.T) {
	for _, b := range plantedBugs() {
		if b.do == nil || !*whole && b.name != "the finalizer goes before the cleanup" && b.name != "a child with a generated name is made again" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			s := begun(t, b.do)
			skipped := s.checkEqual(t, s.want)
			for _, first := range []string{"crash-after@create:configmaps:1", "crash-before@update:boxes/status:1"} {
				skipped += s.checkEqual(t, s.try(parsed(t, first)))
			}
			if skipped == 0 {
				t.Error("no two futures are equal")
			}
			t.Logf("%d schedules are equal to others", skipped)
		})
	}
}

// checkEqual plays what may follow a run and is equal to something else that may, and that. It returns how much that
// is.
func (s *search) checkEqual(t *testing.T, run *outcome) (skipped int) {
	t.Helper()
	first := map[uint64]disturbance{}
	breaks := func(d disturbance) bool {
		return len(s.try(append(run.schedule[:len(run.schedule):len(run.schedule)], d)).wrong) > 0
	}
	for d, future := range s.candidates(run) {
		other, found := first[future]
		if !found || future == 0 {
			first[future] = d
			continue
		}
		skipped++
		if a, b := breaks(other), breaks(d); a != b {
			t.Errorf("after %q, %s breaks the program: %t, and %s, which would be skipped: %t", run.schedule, other, a, d, b)
		}
	}
	return skipped
}

// The runs after two crashes that leave the same state have the same points, so the pairs are tried once.
func TestPairsAfterEqualCrashesAreTriedOnce(t *testing.T) {
	s := begun(t, right)
	before, after := s.try(parsed(t, "crash-before@get:boxes/status:1")), s.try(parsed(t, "crash-after@get:boxes/status:1"))
	for future := range futures(s, before) {
		s.seen[future] = true
	}
	equal, all := 0, 0
	for future := range futures(s, after) {
		all++
		if s.seen[future] {
			equal++
		}
	}
	if equal < all/2 || all == 0 {
		t.Errorf("%d of %d pairs are tried already, want most", equal, all)
	}
	if len(before.wrong)+len(after.wrong) > 0 {
		t.Errorf("they break the program: %q, %q", before.wrong, after.wrong)
	}
}

func futures(s *search, run *outcome) map[uint64]bool {
	all := map[uint64]bool{}
	for _, future := range s.candidates(run) {
		if future != 0 {
			all[future] = true
		}
	}
	return all
}

func TestAHashHasTheOrderOfUIDsInsteadOfTheUIDs(t *testing.T) {
	const a, b = "11111111-2222-4333-8444-555555555555", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
	sum := func(texts ...string) (all uint64) {
		d := newDigest()
		for _, text := range texts {
			all = d.sum(all, []byte(text))
		}
		return all
	}
	if sum(a, "x-"+b, a) != sum(b, "x-"+a, b) {
		t.Error("two texts whose uids are in the same order have different hashes")
	}
	for _, different := range [][]string{{a, "x-" + b, b}, {a, "x-" + a, a}, {a, "y-" + b, a}, {a, "x-" + b[:35] + "g", a}} {
		if sum(a, "x-"+b, a) == sum(different...) {
			t.Errorf("%q has the same hash", different)
		}
	}
}

package explore

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAMixIsThatOfItsSeed(t *testing.T) {
	all := []disturbance{{crashBefore, "", place{"create:pods", 1}}, {failure, "", place{"get:pods", 3}}, {unseen, "", place{step, 2}}, {unseen, "", place{step, 4}}, {disowned, "pods/a/b", place{atRest, 1}}}
	different := map[string]bool{}
	for seed := range uint64(200) {
		which := mix(all, seed)
		if !slices.Equal(which, mix(all, seed)) {
			t.Errorf("seed %d gives two mixes", seed)
		}
		if len(which) < 1 || len(which) > 5 {
			t.Errorf("seed %d gives %d disturbances", seed, len(which))
		}
		if again, err := parseSchedule(which.String()); err != nil || !slices.Equal(again, which) {
			t.Errorf("%s is read as %v, %v", which, again, err)
		}
		for _, d := range which {
			if len(which.at(d.place)) != 1 {
				t.Errorf("%s has more than one disturbance at %v", which, d.place)
			}
			if d.kind == unseen && d.place.number != 2 && d.place.number != 4 {
				t.Errorf("%s is at a step that the history may not have", d)
			}
		}
		long, edits := slices.ContainsFunc(which, disturbance.isLong), slices.ContainsFunc(which, func(d disturbance) bool { return stays(d.kind) })
		if long && edits {
			t.Errorf("%s has an edit that the program may not see in time", which)
		}
		if n := len(which.at(place{step, 2})) + len(which.at(place{step, 4})); n > 1 {
			t.Errorf("%s has %d disturbances at steps", which, n)
		}
		different[which.String()] = true
	}
	if len(different) < 50 {
		t.Errorf("200 seeds give %d mixes", len(different))
	}
}

func TestASearchThatFindsNothingSaysWhatItTried(t *testing.T) {
	s := begun(t, right)
	s.kinds = []kind{crashBefore, crashAfter}
	s.singles()
	s.limit = time.Since(s.begin) + 2*time.Second
	s.pairs()
	s.seed = 7
	s.mixes()
	if s.failed != nil {
		t.Fatalf("a false alarm under %s: %q", s.failed.schedule, s.failed.wrong)
	}
	text := s.tally()
	for _, want := range []string{"nothing found at ", "single disturbances", "pairs", "with seeds 7 to ", "skipped because an equal one was tried", "virtual hours in "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if c := s.counts; c.singles == 0 || c.pairs == 0 || c.mixes == 0 || c.equal == 0 || c.runs < c.singles+c.pairs+c.mixes {
		t.Errorf("got %+v, want some of each", c)
	}
}

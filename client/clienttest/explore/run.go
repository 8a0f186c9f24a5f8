package explore

import (
	"flag"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// The flags of a test that explores.
var (
	budget = flag.Duration("explore.budget", 0, "how long the search for bugs takes; 0 means Plan.Budget")
	only   = flag.String("explore.schedule", "", "the only schedule to play, as a failure shows it")
	seed   = flag.Uint64("explore.seed", 1, "the seed of the first random mix of disturbances")
	trace  = flag.Bool("explore.trace", false, "print each schedule before it is played, for a program that panics or hangs")
)

// Run explores the program. If it finds a schedule that breaks the program, it fails the test with the smallest such
// schedule that it finds.
func Run(t *testing.T, p Plan) {
	t.Helper()
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { clienttest.Start(t, p.Server) }) // fails if the options are invalid
	defer collectRarely()()
	s := &search{t: t, plan: &p, limit: limitOf(&p), seed: *seed}
	if *only != "" {
		which, err := parseSchedule(*only)
		if err != nil {
			t.Fatal(err)
		}
		s.one(which)
		return
	}
	if s.reference() {
		s.singles()
		s.pairs()
		s.mixes()
	}
	if s.failed == nil {
		t.Log(s.tally())
		return
	}
	smallest := s.shrink(s.failed)
	failures, replays := s.replay(smallest.schedule)
	t.Error(s.report(smallest, failures, replays))
}

// collectRarely makes the garbage collector run more rarely, unless GOGC differs from the default. A run makes much
// garbage and keeps little, so collections would take a third of its processor time. undo restores the setting.
func collectRarely() (undo func()) {
	const usual, rare = 100, 400
	before := debug.SetGCPercent(rare)
	undo = func() { debug.SetGCPercent(before) }
	if before != usual {
		undo()
	}
	return undo
}

// limitOf returns how long the search takes.
func limitOf(p *Plan) time.Duration {
	switch {
	case *budget != 0:
		return *budget
	case p.Budget != 0:
		return p.Budget
	case testing.Short():
		return 3 * time.Second
	}
	return 30 * time.Second
}

// one plays one schedule, and reports what happened.
func (s *search) one(which schedule) {
	s.t.Helper()
	if !s.reference() {
		s.t.Error(s.report(s.failed, 1, 1))
		return
	}
	o := s.try(which)
	for _, d := range which {
		if !slices.Contains(o.happened, d) {
			s.t.Errorf("explore: %s did not happen, because the run has no such request; its requests are %s", d, o.classes())
		}
	}
	if len(o.wrong) > 0 {
		s.t.Error(s.report(o, 1, 1))
		return
	}
	s.t.Logf("explore: the program does not break under %s\n\n%s", which, o.tale())
}

// classes returns the classes of the requests that the program sent, and how many of each it sent.
func (r *result) classes() string {
	numbers := map[string]int{}
	for _, p := range r.points {
		numbers[p.place.class] = max(numbers[p.place.class], p.place.number)
	}
	var texts []string
	for _, class := range slices.Sorted(maps.Keys(numbers)) {
		texts = append(texts, place{class, numbers[class]}.String())
	}
	return strings.Join(texts, ", ")
}

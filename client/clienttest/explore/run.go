package explore

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// The flags of a test that explores.
var (
	budget = flag.Duration("explore.budget", 0, "how long the search for bugs takes; 0 means Plan.Budget")
	only   = flag.String("explore.schedule", "", "the only schedule to play, as a failure shows it")
)

// Run explores the program, and fails the test with the smallest schedule that breaks it.
func Run(t *testing.T, p Plan) {
	t.Helper()
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { clienttest.Start(t, p.Server) }) // fails if the options are invalid
	s := &search{t: t, plan: &p, limit: limitOf(&p)}
	if !s.reference() {
		s.report()
		return
	}
	if *only != "" {
		one, err := parseSchedule(*only)
		if err != nil {
			t.Fatal(err)
		}
		s.try(one)
	} else {
		s.singles()
		s.pairs()
	}
	s.report()
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

// search looks for a schedule that breaks the program.
type search struct {
	t     *testing.T
	plan  *Plan
	limit time.Duration
	begin time.Time
	kinds []kind   // the only kinds of disturbances; nil means all
	want  *outcome // without disturbances

	mu     sync.Mutex
	tried  int
	failed *outcome // the first
}

// outcome is what a run has led to, after its end.
type outcome struct {
	*result
	wrong []string
}

// play plays a schedule in a bubble of its own.
func (s *search) play(which schedule) *outcome {
	done, never := make(chan *outcome, 1), make(chan struct{}) // outside of the bubble
	go func() {
		var o *outcome
		synctest.Test(s.t, func(*testing.T) {
			r := play(s.plan, which)
			o = &outcome{result: r}
			if s.want != nil && len(differences(s.want.state, r.state)) > 0 {
				o.wrong = differences(s.want.state, r.again())
			}
			r.end()
			o.wrong = append(o.wrong, r.findings...)
			if len(others()) > 0 {
				done <- o
				<-never // a bubble cannot end before its goroutines
			}
		})
		done <- o
	}()
	return <-done
}

// reference plays the history without disturbances, twice. It reports whether nothing was wrong, and both ended alike.
func (s *search) reference() bool {
	s.begin = time.Now()
	first, second := s.play(nil), s.play(nil)
	s.want = first
	if len(first.wrong) == 0 {
		for _, line := range differences(first.state, second.state) {
			first.wrong = append(first.wrong, "a second run without a disturbance ends differently: "+line)
		}
	}
	if len(first.wrong) > 0 {
		s.failed = first
	}
	return s.failed == nil
}

// over reports whether the search has ended.
func (s *search) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil || time.Since(s.begin) > s.limit
}

// try plays a schedule.
func (s *search) try(which schedule) *outcome {
	o := s.play(which)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried++
	if len(o.wrong) > 0 && s.failed == nil {
		s.failed = o
	}
	return o
}

// all plays schedules on all processors until the search is over.
func (s *search) all(schedules <-chan schedule) {
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for which := range schedules {
				if !s.over() {
					s.try(which)
				}
			}
		})
	}
	workers.Wait()
}

// singles plays each disturbance at each point.
func (s *search) singles() { s.all(s.each(nil, s.want, 0)) }

// each sends the schedules with one disturbance more, at all points from one on.
func (s *search) each(before schedule, run *outcome, from int) <-chan schedule {
	schedules := make(chan schedule)
	send := func(d disturbance) {
		if s.kinds == nil || slices.Contains(s.kinds, d.kind) {
			schedules <- append(before[:len(before):len(before)], d)
		}
	}
	go func() {
		defer close(schedules)
		for _, p := range run.points[min(from, len(run.points)):] {
			for _, d := range disturbancesAt(p, s.watched()) {
				send(d)
			}
		}
		for i := range run.steps {
			send(disturbance{kind: unseen, place: place{step, i + 1}})
		}
	}()
	return schedules
}

// watched returns the resources that the program watches.
func (s *search) watched() (names []string) {
	for _, p := range s.want.points {
		if name := p.request.Resource.Resource; p.request.Verb == "watch" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pairs plays pairs of disturbances.
func (s *search) pairs() {
	for i, p := range s.want.points {
		for _, d := range disturbancesAt(p, s.watched()) {
			if s.over() {
				return
			}
			first := schedule{d}
			s.all(s.each(first, s.try(first), i+1))
		}
	}
}

// report fails the test if a schedule has broken the program, or says what was tried.
func (s *search) report() {
	if s.failed == nil {
		s.t.Logf("explore: nothing found in %d schedules over %d requests and %d steps, in %v", s.tried, len(s.want.points),
			s.want.steps, time.Since(s.begin).Round(time.Millisecond))
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "explore: the program breaks under %s (schedule %d)\n", orNothing(s.failed.schedule), s.tried)
	for _, line := range s.failed.wrong {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	b.WriteString("\nWhat happened:\n")
	for i, line := range s.failed.story {
		fmt.Fprintf(&b, "%4d %s\n", i+1, line)
	}
	if len(s.failed.schedule) > 0 {
		fmt.Fprintf(&b, "\nTo play it again: go test -run '^%s$' -explore.schedule=%s", s.t.Name(), s.failed.schedule)
	}
	s.t.Error(b.String())
}

func orNothing(s schedule) string {
	if len(s) == 0 {
		return "no disturbance"
	}
	return s.String()
}

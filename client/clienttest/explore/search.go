package explore

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// search looks for a schedule that breaks the program.
type search struct {
	t     *testing.T
	plan  *Plan
	limit time.Duration
	seed  uint64 // of the first mix
	begin time.Time
	kinds []kind   // the kinds of disturbances to try; nil means all
	want  *outcome // the run without disturbances
	rests references
	paces []time.Duration // how long each rest must be before the first disturbance; nil if that is unknown

	mu      sync.Mutex
	failed  *outcome        // the first run that broke the program
	seen    map[uint64]bool // the hashes of the futures that were tried
	all     []disturbance   // each disturbance that can happen alone
	counts  counts
	virtual time.Duration // the virtual time of all runs
}

// counts has the numbers of runs and of tried schedules.
type counts struct{ runs, singles, pairs, mixes, equal int }

// reference plays the history without disturbances, at least twice. It reports whether nothing was wrong and the runs
// ended alike.
func (s *search) reference() bool {
	s.begin = time.Now()
	s.seen = map[uint64]bool{}
	s.rests.play = func(which schedule) *outcome { return s.play(which, nil) }
	first := s.rests.play(nil)
	if first.owners || s.plan.Controllers != nil {
		s.plan.collects, s.plan.served, s.plan.documents = first.owners, append(first.kinds, first.existing...), &documents{}
		first = s.rests.play(nil)
	}
	s.paces = first.paces
	second := s.rests.play(nil)
	if !alike(first, second) { // the program waits for a time, or the difference is random
		second = s.rests.play(nil)
	}
	if !alike(first, second) {
		s.paces = nil
		second = s.rests.play(nil)
	}
	s.want = first
	if len(first.wrong) == 0 {
		first.wrong = append(first.wrong, second.findings...)
	}
	if len(first.wrong) == 0 {
		for _, line := range first.unlikeRests(second.result) {
			first.wrong = append(first.wrong, "a second run without a disturbance ends differently: "+line)
		}
	}
	for i, field := range s.plan.IgnoreFields {
		if resource, _, _ := strings.Cut(field, "."); !slices.Contains(first.wrote, resource) {
			first.wrong = append(first.wrong, fmt.Sprintf("Plan.IgnoreFields[%d] is %q, but nobody has written to %s", i, field, resource))
		}
	}
	if len(first.wrong) > 0 {
		s.failed = first
	}
	return s.failed == nil
}

// alike reports whether the program sent the same kinds of writes at the same steps in two runs, both had the same
// states at rest, and nothing was wrong in the second.
func alike(a, b *outcome) bool {
	return len(b.wrong) == 0 && len(a.unlikeRests(b.result)) == 0 && maps.Equal(a.writes(), b.writes())
}

// unlikeRests returns how the states of another run at its rests differ from those of this run.
func (r *result) unlikeRests(other *result) (texts []string) {
	for at := range min(len(r.states), len(other.states)) {
		texts = append(texts, differences(r.states[at], other.states[at])...)
	}
	return texts
}

// writes returns the classes of the program's writes, each with a step of the history at which the program sent such a
// write. It does not count the writes, because their number is random.
func (r *result) writes() map[place]bool {
	all := map[place]bool{}
	for _, p := range r.points {
		if p.writes() {
			all[place{p.place.class, p.step}] = true
		}
	}
	return all
}

// over reports whether the search has ended.
func (s *search) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed != nil || time.Since(s.begin) > s.limit
}

// try plays a schedule, and keeps the first run that breaks the program.
func (s *search) try(which schedule) *outcome {
	o := s.play(which, s.referenceOf)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(o.wrong) > 0 && s.failed == nil {
		s.failed = o
	}
	return o
}

// count adds one to one of the counts.
func (s *search) count(of *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*of++
}

// work runs tasks on all processors until there are no more tasks or stop returns true.
func work(tasks iter.Seq[func()], stop func() bool) {
	queue := make(chan func())
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for task := range queue {
				task()
			}
		})
	}
	for task := range tasks {
		if stop() {
			break
		}
		queue <- task
	}
	close(queue)
	workers.Wait()
}

// singles plays each disturbance at each point.
func (s *search) singles() {
	work(func(yield func(func()) bool) {
		for d, key := range s.candidates(s.want) {
			s.all = append(s.all, d)
			if !s.fresh(key) {
				continue
			}
			if !yield(func() { s.count(&s.counts.singles); s.try(schedule{d}) }) {
				return
			}
		}
	}, s.over)
}

// candidates returns the disturbances that may happen after the last disturbance of a run, each with the hash of its
// future, or 0 if the future is unknown.
func (s *search) candidates(run *outcome) iter.Seq2[disturbance, uint64] {
	allowed := func(d disturbance) bool { return s.allows(d.kind) && run.schedule.takes(d) }
	return func(yield func(disturbance, uint64) bool) {
		points, steps := run.after()
		for _, p := range points {
			for _, d := range disturbancesAt(p, s.want.result) {
				if allowed(d) && !yield(d, p.future(d)) {
					return
				}
			}
		}
		for number := steps + 1; number <= run.steps; number++ {
			for _, d := range disturbancesOfStep(number, s.want.result) {
				if allowed(d) && !yield(d, 0) {
					return
				}
			}
		}
		for _, d := range run.atRests {
			if allowed(d) && d.place.number > run.edited() && !yield(d, 0) {
				return
			}
		}
	}
}

func (s *search) allows(k kind) bool { return s.kinds == nil || slices.Contains(s.kinds, k) }

// fresh reports whether no schedule was tried whose future has this hash, and records the hash. 0 stands for an unknown
// future, which is always fresh.
func (s *search) fresh(future uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[future] {
		s.counts.equal++
		return false
	}
	if future != 0 && len(s.seen) < most {
		s.seen[future] = true
	}
	return true
}

// most bounds how many futures are kept, so that the memory of a search does not grow for hours.
const most = 1 << 20

// after returns the requests after the last disturbance of the run, and the number of steps that the history had begun
// by then.
func (r *result) after() (points []*point, steps int) {
	from := 0
	for i, p := range r.points {
		if len(p.wrong) > 0 {
			from, steps = i+1, p.step
		}
	}
	for _, d := range r.schedule {
		if d.place.class == step {
			steps = max(steps, d.place.number)
		}
	}
	for from < len(r.points) && r.points[from].step < steps {
		from++
	}
	return r.points[from:], steps
}

// edited returns the number of the last rest at which the schedule has a disturbance; 0 if there is none.
func (r *result) edited() (last int) {
	for _, d := range r.schedule {
		if d.place.class == atRest {
			last = max(last, d.place.number)
		}
	}
	return last
}

// batch is how many pairs with the same first disturbance are played before the pairs with the next first disturbance.
const batch = 16

// pairs plays pairs of disturbances during half of the time that is left. It goes through all first disturbances again
// and again, each time with the next batch of second disturbances. So a search without time for all pairs has tried
// some pairs with each first disturbance.
func (s *search) pairs() {
	end := time.Now().Add((s.limit - time.Since(s.begin)) / 2)
	over := func() bool { return s.over() || time.Now().After(end) }
	for round, more := 0, true; more && !over(); round++ {
		var mu sync.Mutex
		more = false
		work(func(yield func(func()) bool) {
			for _, first := range s.all {
				task := func() {
					if s.second(first, round*batch, over) {
						mu.Lock()
						defer mu.Unlock()
						more = true
					}
				}
				if !yield(task) {
					return
				}
			}
		}, over)
	}
}

// second plays a batch of pairs with the same first disturbance. It skips as many pairs as from says. It reports
// whether there are more.
func (s *search) second(first disturbance, from int, over func() bool) bool {
	run, number := s.try(schedule{first}), 0
	for d, key := range s.candidates(run) {
		number++
		switch {
		case number <= from:
			continue
		case number > from+batch:
			return true
		case over():
			return false
		}
		if s.fresh(key) {
			s.count(&s.counts.pairs)
			s.try(schedule{first, d})
		}
	}
	return false
}

// tally describes what the search has tried.
func (s *search) tally() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("explore: nothing found at %s and %s: %s, %s",
		amount(len(s.want.points), "request"), amount(s.want.steps, "step"), amount(s.counts.singles, "single disturbance"),
		amount(s.counts.pairs, "pair"))
	if s.counts.mixes > 0 {
		text += fmt.Sprintf(", %s with seeds %d to %d", amount(s.counts.mixes, "random mix"), s.seed, s.seed+uint64(s.counts.mixes)-1)
	}
	return text + fmt.Sprintf("; %s skipped because an equal one was tried; %.1f virtual hours in %s, in %v",
		amount(s.counts.equal, "schedule"), s.virtual.Hours(), amount(s.counts.runs, "run"), time.Since(s.begin).Round(100*time.Millisecond))
}

// amount returns a number with a noun.
func amount(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun[len(noun)-1] == 'x':
		return fmt.Sprint(n, " ", noun, "es")
	}
	return fmt.Sprint(n, " ", noun, "s")
}

// announce prints a schedule before it is played, if -explore.trace is set.
func announce(which schedule) {
	if *trace {
		fmt.Fprintln(os.Stderr, "explore: play", orNothing(which))
	}
}

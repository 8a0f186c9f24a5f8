package explore

import (
	"fmt"
	"strings"
	"time"
)

// How much of a story is told.
const (
	around    = 2       // requests before and after each line that is told anyway
	ending    = 6       // requests at the end
	repeats   = 4       // how often the same line is told
	fewest    = 3       // lines that are left out together, or more
	differing = 12      // requests that write to an object that is not as it should be
	longest   = 100_000 // lines that are kept
)

// line is something that happened in a run.
type line struct {
	at       time.Duration
	text     string
	ordinary bool   // a request at which nothing goes wrong
	object   string // that a request wrote to, as in configmaps default/home
	failed   bool   // the server has answered with an error
}

// story is what happened in a run. Guarded by the mutex of its world.
type story struct {
	lines   []line
	further int // ordinary lines that were not kept
}

// add adds a line.
func (s *story) add(l line) {
	if l.ordinary && len(s.lines) >= longest {
		s.further++
		return
	}
	s.lines = append(s.lines, l)
}

// tell adds a line about something that a person or the explorer does.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story.add(line{at: time.Since(w.begin), text: fmt.Sprintf(format, args...)})
}

// note adds a line about a request of the program at which nothing goes wrong.
func (w *world) note(p *point, text string, failed bool) {
	l := line{at: time.Since(w.begin), text: text, ordinary: true, failed: failed}
	if p.writes() {
		l.object = p.object()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story.add(l)
}

// tale returns the story of a run for people. The requests of quiet stretches are left out. Those around each
// disturbance, at the end, and to objects that are not as they should be are told.
func (o *outcome) tale() string {
	told := o.told()
	var b strings.Builder
	left := 0
	omit := func() {
		if left > 0 {
			fmt.Fprintf(&b, "       ... %s left out\n", amount(left, "line"))
		}
		left = 0
	}
	for i, l := range o.story.lines {
		if !told[i] {
			left++
			continue
		}
		omit()
		fmt.Fprintf(&b, "%4d %9.3fs  %s\n", i+1, l.at.Seconds(), l.text)
	}
	left += o.story.further
	omit()
	return b.String()
}

// told returns which lines are told.
func (o *outcome) told() []bool {
	lines := o.story.lines
	told := make([]bool, len(lines))
	seen := map[string]int{}
	for i, l := range lines {
		if seen[l.text]++; l.ordinary || seen[l.text] > repeats {
			continue
		}
		for j := max(0, i-around); j <= min(i+around, len(lines)-1); j++ {
			told[j] = true
		}
	}
	for i := max(0, len(lines)-ending); i < len(lines); i++ {
		told[i] = true
	}
	wrong := strings.Join(o.wrong, "\n")
	for i, found := len(lines)-1, 0; i >= 0 && found < differing; i-- {
		if object := lines[i].object; object != "" && strings.Contains(wrong, object) {
			told[i] = true
			found++
		}
	}
	for i := range told { // to leave out a line or two makes nothing shorter
		for j := i + 1; told[i] && j < min(i+1+fewest, len(told)); j++ {
			if told[j] {
				for k := i + 1; k < j; k++ {
					told[k] = true
				}
				break
			}
		}
	}
	return told
}

package explore

import (
	"fmt"
	"strings"
	"time"
)

// The bounds on the lines of a story that are told.
const (
	around    = 2       // lines told before and after each line that is not ordinary
	ending    = 6       // lines at the end that are told
	repeats   = 4       // how often an identical line that is not ordinary is told
	fewest    = 3       // a gap of fewer lines is told too
	differing = 12      // writes to differing objects that are told
	longest   = 100_000 // a story of this many lines keeps no further ordinary lines
)

// line is something that happened in a run.
type line struct {
	at       time.Duration
	text     string
	ordinary bool   // an undisturbed request of the program
	object   string // the object that a request wrote to, as in configmaps default/home
	failed   bool   // the server has answered with an error
}

// story is what happened in a run. The mutex of its world guards it.
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

// tell adds a line about anything but an undisturbed request of the program.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story.add(line{at: time.Since(w.begin), text: fmt.Sprintf(format, args...)})
}

// note adds a line about an undisturbed request of the program.
func (w *world) note(p *point, text string, failed bool) {
	l := line{at: time.Since(w.begin), text: text, ordinary: true, failed: failed}
	if p.writes() {
		l.object = p.object()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story.add(l)
}

// tale returns the story of a run as text. It leaves out ordinary lines, except those near other lines, those at the
// end, and writes to objects that differ.
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

// told reports for each line of the story whether tale has it.
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
	for i := range told { // leaving out a line or two would make nothing shorter
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

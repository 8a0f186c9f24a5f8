package jsonstream

import (
	"errors"
	"io"
	"iter"
)

// StepKind is the kind of a Step.
type StepKind int

// The kinds of steps.
const (
	// Starved: all that has arrived has been framed, and the next step needs more of the body. The loop reads from the
	// body into Step.Into, and calls Step.Fill with the result. Before it reads, the loop does everything that must not
	// wait for more of the body.
	Starved StepKind = iota
	// Headed: Step.Header is the list's header. This step comes once: before the first item if the server has written
	// the header there, and otherwise after the last.
	Headed
	// Framed: Step.Frame is an event, or the item of a list, which has no Type. Its bytes are valid until the next
	// step.
	Framed
	// Failed: Step.Err says why the body cannot be framed any further. It is the last step.
	Failed
)

// Step is one step through a body.
type Step struct {
	Kind   StepKind
	Into   []byte
	Header Header
	Frame  Frame
	Err    error

	n   int // the argument of Fill
	err error
}

// Fill sets the result of a read into s.Into.
func (s *Step) Fill(n int, err error) { s.n, s.err = n, err }

// Filled returns the result that Fill has set.
func (s *Step) Filled() (n int, err error) { return s.n, s.err }

// Steps iterates over the rest of the list; the loop itself reads from the body. The list must have a nil reader. The
// step is valid until the next one. If the loop is left in the middle of a list, the list cannot be used any more.
func (l *List) Steps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		step := asked(&l.s, yield)
		headed := false
		for {
			err := l.Open()
			if err == nil && !headed {
				// A server writes kind and metadata before the items; if it does not, they are known at the end.
				if h, known := l.Header(); known && h.Kind != "" && h.APIVersion != "" {
					headed, step.Kind, step.Header = true, Headed, h
					if !yield(step) {
						return
					}
				}
			}
			if err == nil {
				step.Frame.Item, err = l.Next()
			}
			switch {
			case errors.Is(err, errLeft):
				return
			case err == io.EOF:
				if !headed {
					step.Kind, step.Header = Headed, l.header
					yield(step)
				}
				return
			case err != nil:
				step.Kind, step.Err = Failed, err
				yield(step)
				return
			}
			step.Kind = Framed
			if !yield(step) {
				return
			}
		}
	}
}

// Steps iterates over the rest of the watch; the loop itself reads from the body. The watch must have a nil reader.
// The step is valid until the next one. If the loop is left in the middle of a watch, the watch cannot be used any
// more.
func (w *Watch) Steps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		step := asked(&w.s, yield)
		for {
			if w.err == nil {
				w.err = w.next(&step.Frame)
			}
			switch err := w.err; {
			case err == io.EOF || errors.Is(err, errLeft):
				return
			case err != nil:
				step.Kind, step.Err = Failed, err
				yield(step)
				return
			}
			step.Kind = Framed
			if !yield(step) {
				return
			}
		}
	}
}

// errLeft ends the framing of a body whose loop has been left.
var errLeft = errors.New("the loop was left")

// asked makes s ask the loop for bytes, and returns the step with which it asks.
func asked(s *scanner, yield func(*Step) bool) *Step {
	step := &Step{}
	s.r = loop{step, yield}
	return step
}

// loop is the scanner's reader if the loop over the steps reads the body.
type loop struct {
	step  *Step
	yield func(*Step) bool
}

// Read implements io.Reader.
func (l loop) Read(p []byte) (int, error) {
	s := l.step
	s.Kind, s.Into, s.n, s.err = Starved, p, 0, nil
	if !l.yield(s) {
		return 0, errLeft
	}
	return s.n, s.err
}

package recorder

import (
	"fmt"
	"maps"
	"strings"
)

// Status is a snapshot of the state of a recorder. Each record and each repetition is counted once: Recorded is the sum
// of Sent, Waiting and all of Dropped.
type Status struct {
	// Running says that Run has been called and has not returned.
	Running bool
	// Recorded is how many records have been made.
	Recorded int
	// Sent is how many of them were sent to the server.
	Sent int
	// Waiting is how many have yet to be sent. Repetitions wait for the next update of their count.
	Waiting int
	// Dropped is how many have been dropped, by cause.
	Dropped map[Cause]int
	// Cut is how many were longer than the server allows. They are also counted above.
	Cut int
	// Err is the error of the last request. It is nil if that succeeded.
	Err error
}

// Status returns the current state.
func (r *Recorder) Status() Status {
	if r == nil {
		return Status{Dropped: map[Cause]int{}}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book
	return Status{
		Running: r.running, Recorded: b.recorded, Sent: b.sent, Waiting: b.waiting(), Dropped: maps.Clone(b.dropped), Cut: b.cut, Err: b.err,
	}
}

// String returns the status on one line.
func (s Status) String() string {
	var t strings.Builder
	fmt.Fprintf(&t, "recorded %d, sent %d, waiting %d", s.Recorded, s.Sent, s.Waiting)
	for _, cause := range causes() {
		if n := s.Dropped[cause]; n > 0 {
			fmt.Fprintf(&t, ", dropped %d (%s)", n, cause)
		}
	}
	if s.Cut > 0 {
		fmt.Fprintf(&t, ", cut %d", s.Cut)
	}
	if s.Err != nil {
		fmt.Fprintf(&t, ", error: %v", s.Err)
	}
	return t.String()
}

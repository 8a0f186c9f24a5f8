package wsmux

import (
	"io"
	"sync"
)

// Spool holds the bytes of one output between the connection, which adds them, and a Writer, which takes its time.
type Spool struct {
	limit int

	mu      sync.Mutex // guards the rest
	changed *sync.Cond
	held    []byte // at most limit
	ended   bool   // nothing more is added
	dropped bool   // nobody takes what is held
}

func NewSpool(limit int) *Spool {
	s := &Spool{limit: limit}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Add adds p, and waits for room while the spool is full.
func (s *Spool) Add(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(p) > 0 {
		for len(s.held) == s.limit && !s.dropped {
			s.changed.Wait()
		}
		if s.dropped {
			return
		}
		n := min(len(p), s.limit-len(s.held))
		s.held, p = append(s.held, p[:n]...), p[n:]
		s.changed.Broadcast()
	}
}

// End says that nothing more is added.
func (s *Spool) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

// Drop throws away what is held and what is added.
func (s *Spool) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped, s.held = true, nil
	s.changed.Broadcast()
}

// Drain writes what is added to w, until the end or an error of w.
func (s *Spool) Drain(w io.Writer) error {
	var taken []byte
	for {
		s.mu.Lock()
		for len(s.held) == 0 && !s.ended && !s.dropped {
			s.changed.Wait()
		}
		taken, s.held = s.held, taken[:0] // the Writer has one buffer while the other one is filled
		s.changed.Broadcast()
		s.mu.Unlock()
		if len(taken) == 0 {
			return nil
		}
		n, err := w.Write(taken)
		if err == nil && n < len(taken) {
			err = io.ErrShortWrite
		}
		if err != nil {
			s.Drop()
			return err
		}
	}
}

package wsmux

import (
	"io"
	"runtime"
	"sync"
)

const (
	// minRing is the size with which the memory of a spool begins. It doubles when it is full.
	minRing = 1 << 10
	// maxWrite is how much a spool hands on at once, so that there is room again soon.
	maxWrite = 64 << 10
)

// Spool holds the bytes of one output between the connection, which adds them, and a Writer, which takes its time. One
// goroutine adds, and one drains. A spool that has held nothing has no memory.
type Spool struct {
	limit int

	// mu guards the rest. The bytes of the ring are read and written without it: Drain reads those that are held, and
	// the goroutine that adds writes the others.
	mu      sync.Mutex
	filled  sync.Cond // for Drain: more is held, or nothing more comes
	emptied sync.Cond // for the goroutine that adds
	ring    []byte    // at most limit
	start   int       // of what is held
	held    int
	ended   bool // nothing more is added
	dropped bool // nobody takes what is held
}

func NewSpool(limit int) *Spool {
	s := &Spool{limit: limit}
	s.filled.L, s.emptied.L = &s.mu, &s.mu
	return s
}

// Add adds p, and waits for room while the spool is full.
func (s *Spool) Add(p []byte) {
	for len(p) > 0 {
		room := s.room()
		if room == nil {
			return
		}
		n := copy(room, p)
		s.add(n)
		p = p[n:]
	}
}

// Fill adds what r has, and waits for room while the spool is full. It returns the error of r, unless that is io.EOF.
func (s *Spool) Fill(r io.Reader) error {
	for {
		room := s.room()
		if room == nil {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		n, err := r.Read(room)
		s.add(n)
		runtime.Gosched() // Drain goes on here rather than in another thread, which would have to be woken
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// room waits for room, and returns where the next bytes belong; nil if nobody takes them.
func (s *Spool) room() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held == s.limit && !s.dropped {
		s.filled.Signal()
		s.emptied.Wait()
	}
	switch {
	case s.dropped:
		return nil
	case s.held == len(s.ring):
		s.grow()
	case s.held == 0:
		s.start = 0
	}
	if end := s.start + s.held; end < len(s.ring) {
		return s.ring[end:]
	} else {
		return s.ring[end-len(s.ring) : s.start]
	}
}

// grow makes room in a larger ring. Drain may still write from the old one.
func (s *Spool) grow() {
	larger := make([]byte, min(s.limit, max(minRing, 2*len(s.ring))))
	n := copy(larger, s.ring[s.start:])
	copy(larger[n:], s.ring[:s.start])
	s.ring, s.start = larger, 0
}

// add says that n bytes are where room has said.
func (s *Spool) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dropped && n > 0 {
		s.held += n
		s.filled.Signal()
	}
}

// End says that nothing more is added.
func (s *Spool) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.filled.Signal()
}

// Drop throws away what is held and what is added.
func (s *Spool) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped, s.ring, s.start, s.held = true, nil, 0, 0
	s.filled.Signal()
	s.emptied.Signal()
}

// Drain writes what is added to w, until the end or an error of w.
func (s *Spool) Drain(w io.Writer) error {
	for {
		part := s.part()
		if len(part) == 0 {
			return nil
		}
		n, err := w.Write(part)
		if err == nil && n < len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			s.Drop()
			return err
		}
		s.free(n)
	}
}

// part waits for the next bytes to write. There are none if nothing more comes.
func (s *Spool) part() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held == 0 && !s.ended && !s.dropped {
		s.filled.Wait()
	}
	n := min(s.held, len(s.ring)-s.start, maxWrite)
	return s.ring[s.start : s.start+n]
}

// free makes room of the first n bytes.
func (s *Spool) free(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dropped {
		return
	}
	s.held -= n
	if s.start += n; s.start == len(s.ring) {
		s.start = 0
	}
	s.emptied.Signal()
}

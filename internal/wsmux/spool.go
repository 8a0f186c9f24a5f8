package wsmux

import (
	"io"
	"runtime"
	"sync"
)

const (
	// minRing is the initial size of a ring, in bytes. The size doubles, up to the limit, when the ring is full.
	minRing = 1 << 10
	// maxWrite bounds one Write of Drain, in bytes, so that room is freed soon.
	maxWrite = 64 << 10
)

// Spool buffers the bytes of one output between the connection and a slow Writer. One goroutine adds bytes, and one
// drains them. A spool allocates memory when the first bytes are added.
type Spool struct {
	limit int

	// mu guards the fields below, but not the bytes of the ring: Drain reads the held bytes, and the adding goroutine
	// writes the free ones.
	mu      sync.Mutex
	filled  sync.Cond // for Drain: bytes were added, or the spool ended
	emptied sync.Cond // for the adding goroutine: room was freed
	ring    []byte    // at most limit
	start   int       // index of the first held byte
	held    int
	ended   bool // nothing more is added
	dropped bool // all bytes are discarded
}

func NewSpool(limit int) *Spool {
	s := &Spool{limit: limit}
	s.filled.L, s.emptied.L = &s.mu, &s.mu
	return s
}

// Add adds p. It waits for room while the spool is full.
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

// Fill adds all bytes of r. It waits for room while the spool is full. It returns the error of r, unless that is
// io.EOF.
func (s *Spool) Fill(r io.Reader) error {
	for {
		room := s.room()
		if room == nil {
			_, err := io.Copy(io.Discard, r)
			return err
		}
		n, err := r.Read(room)
		s.add(n)
		runtime.Gosched() // let Drain run in this thread, instead of waking another one
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// room waits for free memory and returns it; nil after Drop.
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

// grow replaces the ring by a larger one. Drain may still write from the old one.
func (s *Spool) grow() {
	larger := make([]byte, min(s.limit, max(minRing, 2*len(s.ring))))
	n := copy(larger, s.ring[s.start:])
	copy(larger[n:], s.ring[:s.start])
	s.ring, s.start = larger, 0
}

// add records that n bytes were written to the memory from room.
func (s *Spool) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dropped && n > 0 {
		s.held += n
		s.filled.Signal()
	}
}

// End records that no more bytes are added.
func (s *Spool) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.filled.Signal()
}

// Drop discards all held bytes, and all bytes that are added later.
func (s *Spool) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped, s.ring, s.start, s.held = true, nil, 0, 0
	s.filled.Signal()
	s.emptied.Signal()
}

// Drain writes the added bytes to w. It returns nil after Drop, or after End once it has written all bytes. It returns
// an error of w at once.
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

// part waits for the next bytes to write. It returns none after Drop, or after End once nothing is held.
func (s *Spool) part() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held == 0 && !s.ended && !s.dropped {
		s.filled.Wait()
	}
	n := min(s.held, len(s.ring)-s.start, maxWrite)
	return s.ring[s.start : s.start+n]
}

// free removes the first n bytes.
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

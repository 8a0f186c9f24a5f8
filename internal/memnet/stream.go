package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// BufferSize is how many unread bytes one direction of a connection holds.
const BufferSize = 256 << 10

// stream is one direction: a bounded buffer between a writing end and a reading one.
type stream struct {
	// mu protects everything. changed is broadcast whenever a waiting reader or writer may need to look again.
	mu      sync.Mutex
	changed sync.Cond

	data []byte // data[off:] is what has not been read
	off  int

	writerErr  error // the error of writes; set once the writing end is closed: the reader gets end after the data
	end        error // io.EOF, or syscall.ECONNRESET after Break
	readerGone bool  // the reading end is closed
	aborted    bool  // Reset: both ends fail, and data is dropped

	readDeadline, writeDeadline deadline
}

func newStream() *stream {
	s := &stream{end: io.EOF}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerGone:
			return 0, net.ErrClosed
		case s.aborted:
			return 0, syscall.ECONNRESET
		case s.readDeadline.passed:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case s.off < len(s.data):
			n := copy(p, s.data[s.off:])
			if s.off += n; s.off == len(s.data) {
				s.data, s.off = s.data[:0], 0
			}
			s.changed.Broadcast()
			return n, nil
		case s.writerErr != nil:
			return 0, s.end
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.writerErr != nil:
			return n, s.writerErr
		case s.aborted:
			return n, syscall.ECONNRESET
		case s.readerGone:
			return n, syscall.EPIPE
		case s.writeDeadline.passed:
			return n, os.ErrDeadlineExceeded
		}
		if room := min(BufferSize-(len(s.data)-s.off), len(p)); room > 0 {
			s.put(p[:room])
			n, p = n+room, p[room:]
			s.changed.Broadcast()
		}
		if len(p) == 0 {
			return n, nil
		}
		s.changed.Wait()
	}
}

// put appends p. If the buffer has no room for p at its end, put first moves the unread bytes to the front.
func (s *stream) put(p []byte) {
	if s.off > 0 && len(s.data)+len(p) > cap(s.data) {
		s.data, s.off = s.data[:copy(s.data, s.data[s.off:])], 0
	}
	s.data = append(s.data, p...)
}

// closeWriter ends the stream after the bytes that were written. Writes fail with err from now on; the first call's
// error stays, except that net.ErrClosed replaces another.
func (s *stream) closeWriter(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writerErr == nil || err == net.ErrClosed {
		s.writerErr = err
	}
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

// breakWriter ends the stream with a reset after the bytes that were written.
func (s *stream) breakWriter() {
	s.mu.Lock()
	s.end = syscall.ECONNRESET
	s.mu.Unlock()
	s.closeWriter(syscall.ECONNRESET)
}

func (s *stream) closeReader() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readerGone {
		return net.ErrClosed
	}
	s.readerGone = true
	s.data, s.off = nil, 0
	s.readDeadline.stop()
	s.changed.Broadcast()
	return nil
}

func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aborted = true
	s.data, s.off = nil, 0
	s.readDeadline.stop()
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

func (s *stream) setReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readerGone {
		return net.ErrClosed
	}
	s.readDeadline.set(s, t)
	return nil
}

func (s *stream) setWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writerErr == net.ErrClosed {
		return net.ErrClosed
	}
	s.writeDeadline.set(s, t)
	return nil
}

// deadline is a point in time after which one end's calls fail. The stream's lock protects it.
type deadline struct {
	timer  *time.Timer
	passed bool
}

// set replaces the deadline. The timer of the previous deadline may have fired already and wait for the lock: it finds
// that it is no longer the current one, and does nothing.
func (d *deadline) set(s *stream, t time.Time) {
	d.stop()
	d.passed = false
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.timer == timer {
				d.timer, d.passed = nil, true
				s.changed.Broadcast()
			}
		})
		d.timer = timer
		return
	}
	d.passed = true
	s.changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

package remote

import (
	"os"
	"sync"
	"time"
)

const (
	// firstRoom is the initial size of a portBuffer, in bytes. The size doubles when a read fills all of the free
	// memory.
	firstRoom = 4 << 10
	// maxRoom is the maximum size of a portBuffer, in bytes.
	maxRoom = 256 << 10
)

// portBuffer holds the bytes of one direction of a port, between an adding and a taking side. Either side may copy
// bytes (add, take). A side that is a single goroutine may also use the memory of the buffer directly (room and added,
// next and taken).
//
// A call that waits fails when the deadline of its side passes; the buffer stays as it is.
type portBuffer struct {
	// mu guards the fields below, but not the bytes of ring: the slice that next returned belongs to the taker until
	// taken, and the slice that room returned belongs to the adder until added. changed is signaled on every change.
	mu      sync.Mutex
	changed sync.Cond

	ring   []byte // its length is a power of 2, or 0
	head   int    // the index of the first held byte, if held is not 0
	held   int
	filled bool // the last slice of room was filled, so the ring should grow
	busy   bool // a call of add is writing; other calls wait. It is not a mutex, so that a waiting call can end at its deadline

	lost   int   // bytes that kill discarded before the taker had used them
	end    error // the error of the taking side once nothing is held; nil while more bytes may come
	refuse error // the error of the adding side; nil while it may add

	adding, taking portDeadline
}

func newPortBuffer() *portBuffer {
	b := &portBuffer{}
	b.changed.L = &b.mu
	return b
}

// add adds all of p, without bytes of other calls in between. With an error, n is the number of bytes added before it.
func (b *portBuffer) add(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := false // this call has the turn to write
	for {
		switch {
		case b.refuse != nil:
			err = b.refuse
		case b.adding.passed:
			err = os.ErrDeadlineExceeded
		}
		if mine = mine || !b.busy; err == nil && mine {
			b.busy = true
			n += b.put(p[n:])
		}
		if err != nil || mine && n == len(p) {
			if mine {
				b.busy = false
				b.changed.Broadcast()
			}
			return n, err
		}
		b.changed.Wait()
	}
}

// put adds as many bytes of p as there is room for.
func (b *portBuffer) put(p []byte) (n int) {
	b.grow(b.held + len(p))
	for n < len(p) && b.held < len(b.ring) {
		k := copy(b.free(), p[n:])
		n, b.held = n+k, b.held+k
	}
	if n > 0 {
		b.changed.Broadcast()
	}
	return n
}

// room waits for free memory and returns it. The caller fills some of it and calls added with the number of bytes.
func (b *portBuffer) room() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.refuse != nil:
			return nil, b.refuse
		case b.adding.passed:
			return nil, os.ErrDeadlineExceeded
		}
		if b.held == 0 {
			b.head = 0 // so that the free memory is in one piece
		}
		if b.filled || len(b.ring) == 0 {
			b.filled = false
			b.grow(len(b.ring) + 1)
		}
		if free := b.free(); len(free) > 0 {
			return free, nil
		}
		b.changed.Wait()
	}
}

func (b *portBuffer) added(room []byte, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.filled = n == len(room); n > 0 && b.ring != nil {
		b.held += n
		b.changed.Broadcast()
	}
}

// grow grows the ring to at least want bytes, or to maxRoom.
func (b *portBuffer) grow(want int) {
	size := max(len(b.ring), firstRoom)
	for size < want && size < maxRoom {
		size *= 2
	}
	if size == len(b.ring) {
		return
	}
	ring := make([]byte, size)
	n := copy(ring, b.first())
	copy(ring[n:], b.ring[:b.held-n])
	b.ring, b.head = ring, 0
}

// first returns the held bytes up to the end of the ring; the others are at its beginning.
func (b *portBuffer) first() []byte { return b.ring[b.head:min(b.head+b.held, len(b.ring))] }

// free returns the first contiguous piece of free memory.
func (b *portBuffer) free() []byte {
	tail := b.head + b.held
	if tail >= len(b.ring) {
		return b.ring[tail-len(b.ring) : b.head]
	}
	return b.ring[tail:]
}

// take copies held bytes to p. It waits until there is at least one.
func (b *portBuffer) take(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.wait(len(p) == 0); err != nil {
		return 0, err
	}
	n := 0
	for n < len(p) && b.held > 0 {
		k := copy(p[n:], b.first())
		n += k
		b.drop(k)
	}
	return n, nil
}

// next waits for bytes and returns some of them. The caller uses them and calls taken with the number of used bytes.
func (b *portBuffer) next() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.wait(false); err != nil {
		return nil, err
	}
	return b.first(), nil
}

func (b *portBuffer) taken(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost -= min(n, b.lost) // kill was called between next and taken
	b.drop(min(n, b.held))   // nothing is held after kill
}

func (b *portBuffer) drop(n int) {
	if n > 0 {
		b.held -= n
		b.head = (b.head + n) & (len(b.ring) - 1)
		b.changed.Broadcast()
	}
}

// wait waits for bytes, unless nothing is wanted.
func (b *portBuffer) wait(nothing bool) error {
	for {
		switch {
		case b.taking.passed:
			return os.ErrDeadlineExceeded
		case b.held > 0:
			return nil
		case b.end != nil && !nothing:
			return b.end
		case nothing:
			return nil
		}
		b.changed.Wait()
	}
}

// finish ends the buffer: from now on add fails with refuse, and take returns the held bytes and then end.
func (b *portBuffer) finish(refuse, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse == nil {
		b.refuse = refuse
	}
	if b.end == nil {
		b.end = end
	}
	b.changed.Broadcast()
}

// kill discards the held bytes. From now on both sides fail with err, except that the adding side keeps an earlier
// error.
func (b *portBuffer) kill(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse == nil {
		b.refuse = err
	}
	b.end = err
	b.lost += b.held
	b.ring, b.head, b.held = nil, 0, 0
	b.adding.stop()
	b.taking.stop()
	b.changed.Broadcast()
}

// unused returns why bytes were discarded before the taker had used them; nil if no bytes were discarded. It must be
// called after both sides have ended.
func (b *portBuffer) unused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == 0 {
		return nil
	}
	return b.end
}

// drain waits until the buffer holds fewer bytes than held, and returns how many it holds. It returns 0 once the buffer
// has ended.
func (b *portBuffer) drain(held int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.held >= held && b.held > 0 && b.refuse == nil {
		b.changed.Wait()
	}
	if b.refuse != nil {
		return 0
	}
	return b.held
}

// late reports whether the deadline of the adding side has passed.
func (b *portBuffer) late() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.adding.passed
}

func (b *portBuffer) setAdding(t time.Time) { b.set(&b.adding, t) }
func (b *portBuffer) setTaking(t time.Time) { b.set(&b.taking, t) }

func (b *portBuffer) set(d *portDeadline, t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.stop()
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		d.passed = true
		b.changed.Broadcast()
		return
	}
	// The timer may fire while another one replaces it. Its function then waits for mu, and finds that it is no longer
	// the current timer.
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if d.timer == timer {
			d.timer, d.passed = nil, true
			b.changed.Broadcast()
		}
	})
	d.timer = timer
}

// portDeadline is the deadline of the calls of one side. The buffer's mu guards it.
type portDeadline struct {
	timer  *time.Timer // nil if there is no deadline, or it has passed
	passed bool
}

func (d *portDeadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	*d = portDeadline{}
}

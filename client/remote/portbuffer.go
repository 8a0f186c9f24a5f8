package remote

import (
	"os"
	"sync"
	"time"
)

const (
	// firstRoom is how many bytes a portBuffer has room for at first. It doubles while it is filled at once.
	firstRoom = 4 << 10
	// maxRoom bounds it.
	maxRoom = 256 << 10
)

// portBuffer holds the bytes of one direction of a port, between those who add and those who take. Either side may copy
// bytes (add, take), or use the memory of the buffer (room and added, next and taken) if it is one goroutine.
//
// A call that waits ends at the deadline of its side, which leaves the buffer as it is.
type portBuffer struct {
	// mu guards the rest, but not the bytes of ring: what next has returned belongs to the taker until taken, and what
	// room has returned to the adder until added. changed says that anything has changed.
	mu      sync.Mutex
	changed sync.Cond

	ring   []byte // its length is a power of 2, or 0
	head   int    // ring[head] is the first byte that is held, if there is one
	held   int
	filled bool // the last room was used up, so the next one should be larger
	busy   bool // a call of add has the turn. It is no mutex, so that a goroutine that waits for it heeds its deadline

	lost   int   // bytes that were held when kill threw them away, and that the taker has not used
	end    error // of those who take, once nothing is held; nil while more may come
	refuse error // of those who add; nil while they may

	adding, taking portDeadline
}

func newPortBuffer() *portBuffer {
	b := &portBuffer{}
	b.changed.L = &b.mu
	return b
}

// add adds p, and returns how much of it it has added before an error. Nothing that others add comes between.
func (b *portBuffer) add(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := false // the turn
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

// put adds the bytes of p that there is room for.
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

// room waits for free memory, and returns it; added says how much of it has got bytes.
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
			b.head = 0 // as much as there is in one piece
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

// grow makes the ring have want bytes, or as many as it may.
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

// first returns the bytes that are held up to the end of the ring; further ones are at its beginning.
func (b *portBuffer) first() []byte { return b.ring[b.head:min(b.head+b.held, len(b.ring))] }

// free returns memory that is free in one piece.
func (b *portBuffer) free() []byte {
	tail := b.head + b.held
	if tail >= len(b.ring) {
		return b.ring[tail-len(b.ring) : b.head]
	}
	return b.ring[tail:]
}

// take copies bytes to p, and waits for the first one.
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

// next waits for bytes, and returns some of them; taken says that they are used.
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
	b.lost -= min(n, b.lost) // kill has come between next and taken
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

// finish ends the buffer: add fails from now on. take returns the bytes that are held, and then end.
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

// kill throws away what is held. Both sides get err from now on, or adders the error that they get already.
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

// unused returns why bytes were thrown away before they were taken, or nil if none were. It may be called once both
// sides have ended.
func (b *portBuffer) unused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == 0 {
		return nil
	}
	return b.end
}

// drain waits until fewer than held bytes are held, and returns how many. It returns 0 if nobody takes them any more.
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

// late reports whether the deadline of those who add has passed.
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
	// The timer may fire while another one replaces it. It then waits for mu, and finds that it is not the present one.
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

// portDeadline is a time after which the calls of one side fail. The buffer's lock guards it.
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

package network

import (
	"net"
	"net/http"
	"sync"
)

// Traffic counts the work that must end before connections may be closed: running handlers, and connections on which
// net/http still sends the rest of an answer after the handler has returned.
type Traffic struct {
	mu     sync.Mutex
	n      int
	active map[net.Conn]bool
	zero   chan struct{} // made by Done, closed when n is 0 for the first time after that
	closed bool
}

// Add records that n handlers start, or end if n is negative.
func (t *Traffic) Add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += n
	t.check()
}

// State records that a connection starts or stops having a request.
func (t *Traffic) State(c net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch is, was := state == http.StateActive, t.active[c]; {
	case is && !was:
		if t.active == nil {
			t.active = map[net.Conn]bool{}
		}
		t.active[c] = true
		t.n++
	case was && !is:
		delete(t.active, c)
		t.n--
		t.check()
	}
}

// Done returns a channel that is closed as soon as there is nothing to wait for.
func (t *Traffic) Done() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.zero = make(chan struct{})
	t.check()
	return t.zero
}

func (t *Traffic) check() {
	if t.n == 0 && t.zero != nil && !t.closed {
		t.closed = true
		close(t.zero)
	}
}

package clienttest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/memnet"
)

// conn is the server's end of a connection, on which faults can happen.
type conn struct {
	net.Conn
	door    *door
	replica int // the number of the replica that it leads to

	mu            sync.Mutex // guards the rest
	frozen        bool       // nothing arrives any more, either way
	closed        bool
	chunk         int // where not 0, so many bytes are written at a time,
	every         time.Duration
	writeDeadline time.Time
	changed       chan struct{} // closed when one of the others changes; nil while nobody waits
}

type connKey struct{}

// withConn puts the connection into the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns the connection of a request, nil for one that came in by another server.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// set changes the connection's state and wakes a write that looks at it.
func (c *conn) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Read reads into nowhere while the connection is frozen. The end of the other side is seen all the same, which the
// client cannot tell and which frees what nobody uses.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		c.mu.Lock()
		frozen, closed := c.frozen, c.closed
		c.mu.Unlock()
		switch {
		case !frozen:
			return n, err
		case closed:
			return 0, net.ErrClosed
		case err != nil:
			return 0, err
		}
	}
}

func (c *conn) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		size, lost, err := c.turn(len(p))
		if err != nil {
			return n, err
		}
		if lost {
			return n + len(p), nil
		}
		m, err := c.Conn.Write(p[:size])
		if n += m; err != nil {
			return n, err
		}
		p = p[m:]
	}
	return n, nil
}

// turn waits until something may be written, and says how much of what is left, or that it is lost.
func (c *conn) turn(left int) (size int, lost bool, err error) {
	var due *time.Timer
	for {
		c.mu.Lock()
		switch {
		case c.closed:
			err = net.ErrClosed
		case c.frozen:
			lost = true
		case c.chunk == 0:
			size = left
		case !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline):
			err = os.ErrDeadlineExceeded
		case c.every <= 0:
			size = min(c.chunk, left)
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		chunk, every, deadline, changed := c.chunk, c.every, c.writeDeadline, c.changed
		c.mu.Unlock()
		if err != nil || lost || size > 0 {
			return size, lost, err
		}
		if due == nil {
			due = time.NewTimer(every)
			defer due.Stop()
		}
		late := &time.Timer{}
		if left := time.Until(deadline); !deadline.IsZero() && left > 0 {
			late = time.NewTimer(left)
		}
		select {
		case <-due.C:
			size = min(chunk, left)
		case <-late.C:
		case <-changed:
		}
		if late.C != nil {
			late.Stop()
		}
		if size > 0 {
			return size, false, nil
		}
	}
}

func (c *conn) Close() error {
	var frozen, closed bool
	c.set(func() { frozen, closed, c.closed = c.frozen, c.closed, true })
	if closed {
		return net.ErrClosed
	}
	c.door.leave(c, frozen)
	if frozen {
		return c.Conn.SetDeadline(time.Unix(1, 0)) // a read that waits ends
	}
	return c.Conn.Close()
}

// CloseWrite lets net/http end a connection without a reset.
func (c *conn) CloseWrite() error {
	c.mu.Lock()
	frozen := c.frozen
	c.mu.Unlock()
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok && !frozen {
		return w.CloseWrite()
	}
	return nil
}

func (c *conn) SetDeadline(t time.Time) error {
	return c.deadline(func() error {
		c.writeDeadline = t
		return c.Conn.SetDeadline(t)
	})
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.deadline(func() error { return c.Conn.SetReadDeadline(t) })
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.deadline(func() error {
		c.writeDeadline = t
		return c.Conn.SetWriteDeadline(t)
	})
}

// deadline sets one, unless the connection is closed: Close of a frozen one ends a read by a deadline, and net/http, which
// takes its own away before it waits for the next request, may come after that.
func (c *conn) deadline(set func() error) (err error) {
	c.set(func() {
		if err = net.ErrClosed; !c.closed {
			err = set()
		}
	})
	return err
}

// freeze makes the connection a half-open one.
func (c *conn) freeze() { c.set(func() { c.frozen = true }) }

// drip makes the connection a slow one.
func (c *conn) drip(chunk int, every time.Duration) {
	c.set(func() { c.chunk, c.every = max(1, chunk), every })
}

// reset ends the connection with a reset: at once, or after what was written.
func (c *conn) reset(afterWritten bool) {
	switch raw := c.Conn.(type) {
	case *memnet.Conn:
		if afterWritten {
			raw.Break()
		} else {
			raw.Reset()
		}
	case *net.TCPConn:
		_ = raw.SetLinger(0) // close with RST instead of FIN
	}
	_ = c.Close()
}

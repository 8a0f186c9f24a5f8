package network

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

// Conn is the server's end of a connection, with injected faults.
type Conn struct {
	net.Conn
	door    *Door
	Replica int // the number of the replica that it leads to

	mu            sync.Mutex // guards the rest
	frozen        bool       // nothing arrives any more, in either direction
	closed        bool
	chunk         int           // how many bytes are written at a time; 0 means all of them
	every         time.Duration // the pause before each chunk
	writeDeadline time.Time
	changed       chan struct{} // closed when another field changes; nil while no goroutine waits
}

type connKey struct{}

// WithConn adds the connection to the context of its requests.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// ConnOf returns the connection of a request, or nil for one that another server has accepted.
func ConnOf(r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	return c
}

// set changes the connection's state and wakes a write that waits for a change.
func (c *Conn) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Read discards what it reads while the connection is frozen. It still notices when the client closes its end, so that
// unused connections are freed; the client cannot observe that.
func (c *Conn) Read(p []byte) (int, error) {
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

func (c *Conn) Write(p []byte) (n int, err error) {
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

// turn waits until something may be written. It returns how many of the remaining bytes to write, or that they are
// lost.
func (c *Conn) turn(left int) (size int, lost bool, err error) {
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

func (c *Conn) Close() error {
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
func (c *Conn) CloseWrite() error {
	c.mu.Lock()
	frozen := c.frozen
	c.mu.Unlock()
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok && !frozen {
		return w.CloseWrite()
	}
	return nil
}

func (c *Conn) SetDeadline(t time.Time) error {
	return c.deadline(func() error {
		c.writeDeadline = t
		return c.Conn.SetDeadline(t)
	})
}

func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.deadline(func() error { return c.Conn.SetReadDeadline(t) })
}

func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.deadline(func() error {
		c.writeDeadline = t
		return c.Conn.SetWriteDeadline(t)
	})
}

// deadline sets a deadline, unless the connection is closed. Close of a frozen connection ends a read by setting a
// deadline in the past. net/http removes its own deadline before it waits for the next request, perhaps after Close;
// that must not remove the deadline that Close has set.
func (c *Conn) deadline(set func() error) (err error) {
	c.set(func() {
		if err = net.ErrClosed; !c.closed {
			err = set()
		}
	})
	return err
}

// Freeze makes the connection half-open.
func (c *Conn) Freeze() { c.set(func() { c.frozen = true }) }

// Drip makes the connection slow.
func (c *Conn) Drip(chunk int, every time.Duration) {
	c.set(func() { c.chunk, c.every = max(1, chunk), every })
}

// Reset ends the connection with a reset: at once, or after the bytes that were written.
func (c *Conn) Reset(afterWritten bool) {
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

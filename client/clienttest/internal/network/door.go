// Package network is the server's end of the network: a door that accepts connections and injects faults into them,
// and an authority that signs certificates.
package network

import (
	"context"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/internal/memnet"
)

// Door accepts connections. It hands them to the present http.Server, and keeps track of the open ones, to inject
// faults into them.
type Door struct {
	Listener net.Listener
	Replicas int

	mu      sync.Mutex // guards the rest
	conns   map[*Conn]struct{}
	held    []net.Conn // closed by the server while frozen; their clients must not notice
	count   int        // connections accepted so far
	silent  bool       // new connections are frozen from the start
	refusal error      // the error of dials; nil accepts them

	// GoAway starts another shift, because only Shutdown makes net/http send GOAWAY at any time, and a server that was
	// shut down accepts no more connections.
	start   func(net.Listener) *http.Server
	shift   *shift
	servers []*http.Server
	serving sync.WaitGroup // goroutines in Serve
}

// NewDoor returns a door for the connections that l accepts, which it distributes to the replicas in turn.
func NewDoor(l net.Listener, replicas int) *Door {
	return &Door{Listener: l, Replicas: replicas, conns: map[*Conn]struct{}{}}
}

// shift is a listener with the connections of one http.Server.
type shift struct {
	door   *Door
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (s *shift) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *shift) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *shift) Addr() net.Addr { return s.door.Listener.Addr() }

// next starts another shift. It does nothing before the first.
func (d *Door) next() (ended *http.Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.start == nil {
		return nil
	}
	if n := len(d.servers); n > 0 {
		ended = d.servers[n-1]
	}
	d.shift = &shift{door: d, conns: make(chan net.Conn), closed: make(chan struct{})}
	srv, l := d.start(d.shift), d.shift
	d.servers = append(d.servers, srv)
	d.serving.Go(func() {
		if srv.TLSConfig != nil {
			_ = srv.ServeTLS(l, "", "")
			return
		}
		_ = srv.Serve(l)
	})
	return ended
}

// Serve accepts connections until the listener is closed, and returns the reason.
func (d *Door) Serve(start func(net.Listener) *http.Server) error {
	d.mu.Lock()
	d.start = start
	d.mu.Unlock()
	d.next()
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return err
		}
		d.hand(d.enter(c))
	}
}

// enter records a connection.
func (d *Door) enter(raw net.Conn) *Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &Conn{Conn: raw, door: d, Replica: d.count % d.Replicas, frozen: d.silent}
	d.count++
	d.conns[c] = struct{}{}
	return c
}

// hand gives a connection to the present shift.
func (d *Door) hand(c net.Conn) {
	for {
		d.mu.Lock()
		s := d.shift
		d.mu.Unlock()
		select {
		case s.conns <- c:
			return
		case <-s.closed: // another shift follows
		}
	}
}

// Shut ends the last shift. It returns every server that has had a shift, as soon as none of them accepts connections.
func (d *Door) Shut() []*http.Server {
	d.mu.Lock()
	d.start = nil
	s := d.shift
	d.mu.Unlock()
	_ = s.Close()
	d.serving.Wait()
	return d.servers
}

// leave forgets a connection that the server has closed. A frozen connection stays open, and its client does not
// notice.
func (d *Door) leave(c *Conn, frozen bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	if frozen {
		d.held = append(d.held, c.Conn)
	}
}

// Release closes the connections that no http.Server has closed: those that a handler has taken over, and those that
// leave has kept.
func (d *Door) Release() {
	for _, c := range d.Open() {
		_ = c.Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.held {
		_ = c.Close()
	}
	d.held = nil
}

// Dial connects a client to the server.
func (d *Door) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	err := d.refusal
	d.mu.Unlock()
	if err != nil {
		if errno, ok := err.(syscall.Errno); ok {
			err = os.NewSyscallError("connect", errno)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: d.Listener.Addr(), Err: err}
	}
	if l, ok := d.Listener.(*memnet.Listener); ok {
		return l.DialContext(ctx, network, address)
	}
	return (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, network, address)
}

// Open returns the connections that are open.
func (d *Door) Open() []*Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.conns))
}

// Silence freezes new connections from the start, or stops doing so.
func (d *Door) Silence(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent = on
}

// Refuse makes dials fail, unless err is nil.
func (d *Door) Refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refusal = err
}

// GoAway starts another shift, and makes the previous one send GOAWAY to its clients. It returns false before the
// first shift.
func (d *Door) GoAway() bool {
	ended := d.next()
	if ended == nil {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // requests in progress go on
	_ = ended.Shutdown(ctx)
	return true
}

package clienttest

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/internal/memnet"
)

// door is where connections come in. It hands them on to the http.Server of the time, and knows those that are open,
// so that faults can be made of them.
type door struct {
	listener net.Listener
	replicas int

	mu      sync.Mutex // guards the rest
	conns   map[*conn]struct{}
	held    []net.Conn // closed by the server while frozen: their clients must not be told
	count   int        // connections until now
	silent  bool       // new connections are frozen from the start
	refusal error      // what dials get; nil accepts them

	// GoAway starts another shift, because Shutdown is what makes net/http send GOAWAY at any time, and a server that was
	// shut down takes no more connections.
	start   func(net.Listener) *http.Server
	shift   *shift
	servers []*http.Server
	serving sync.WaitGroup // goroutines in Serve
}

func newDoor(l net.Listener, replicas int) *door {
	return &door{listener: l, replicas: replicas, conns: map[*conn]struct{}{}}
}

// shift is the connections of one http.Server, as a listener.
type shift struct {
	door   *door
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

func (s *shift) Addr() net.Addr { return s.door.listener.Addr() }

// next starts another shift. It does nothing before the first.
func (d *door) next() (ended *http.Server) {
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

// serve accepts connections until the listener is closed, and returns why it was.
func (d *door) serve(start func(net.Listener) *http.Server) error {
	d.mu.Lock()
	d.start = start
	d.mu.Unlock()
	d.next()
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return err
		}
		d.hand(d.enter(c))
	}
}

// enter notes a connection.
func (d *door) enter(raw net.Conn) *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &conn{Conn: raw, door: d, replica: d.count % d.replicas, frozen: d.silent}
	d.count++
	d.conns[c] = struct{}{}
	return c
}

// hand gives a connection to the present shift.
func (d *door) hand(c net.Conn) {
	for {
		d.mu.Lock()
		s := d.shift
		d.mu.Unlock()
		select {
		case s.conns <- c:
			return
		case <-s.closed: // another one follows
		}
	}
}

// shut ends the last shift and returns every server that has had one, when none of them takes connections any more.
func (d *door) shut() []*http.Server {
	d.mu.Lock()
	d.start = nil
	s := d.shift
	d.mu.Unlock()
	_ = s.Close()
	d.serving.Wait()
	return d.servers
}

// leave forgets a connection that the server has closed. One that is frozen stays open, and its client is not told.
func (d *door) leave(c *conn, frozen bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	if frozen {
		d.held = append(d.held, c.Conn)
	}
}

// release closes what no http.Server has closed: connections that a handler has taken over, and what leave has kept.
func (d *door) release() {
	for _, c := range d.open() {
		_ = c.Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.held {
		_ = c.Close()
	}
	d.held = nil
}

// dial connects a client to the server.
func (d *door) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	err := d.refusal
	d.mu.Unlock()
	if err != nil {
		if errno, ok := err.(syscall.Errno); ok {
			err = os.NewSyscallError("connect", errno)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: d.listener.Addr(), Err: err}
	}
	if l, ok := d.listener.(*memnet.Listener); ok {
		return l.DialContext(ctx, network, address)
	}
	return (&net.Dialer{Timeout: 30 * time.Second}).DialContext(ctx, network, address)
}

// open returns the connections that are open.
func (d *door) open() []*conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*conn
	for c := range d.conns {
		all = append(all, c)
	}
	return all
}

// Connections returns how many connections are open, frozen ones included until the server gives them up.
func (s *Server) Connections() int { return len(s.door.open()) }

// Freeze makes every open connection half-open, as when a firewall has forgotten it or the host of the other end has
// lost its power: nothing arrives any more, in either direction, and neither side is told, not even of an end. It
// returns how many there were. New connections work.
//
// The server itself notices when the client closes its end, so that what a test has given up does not stay.
func (s *Server) Freeze() int {
	all := s.door.open()
	for _, c := range all {
		c.freeze()
	}
	return len(all)
}

// BlackHole makes the server accept connections and stay silent on them, until it is called with false. What was
// accepted meanwhile stays silent, and connections that were open before are not touched; [Server.Freeze] is for those.
func (s *Server) BlackHole(on bool) {
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	s.door.silent = on
}

// Refuse makes dials through the Dial of Config fail with err, such as syscall.ECONNREFUSED, syscall.EMFILE or a
// *net.DNSError, until it is called with nil. Open connections live on.
func (s *Server) Refuse(err error) {
	s.door.mu.Lock()
	defer s.door.mu.Unlock()
	s.door.refusal = err
}

// GoAway makes the server tell its clients to use other connections, as one does that is about to stop: GOAWAY on HTTP/2
// (RFC 9113, section 6.8), whose streams that are under way go on, and on HTTP/1.1 the end of each connection after its
// request. Idle connections are closed. It returns how many were open.
//
// A GOAWAY that is sent so names the newest stream, so no request is lost by it. For one that names an older stream
// there is no way through net/http.
func (s *Server) GoAway() int {
	n := s.Connections()
	ended := s.door.next()
	if ended == nil {
		return 0
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is under way goes on
	_ = ended.Shutdown(ctx)
	return n
}

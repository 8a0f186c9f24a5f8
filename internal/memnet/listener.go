package memnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// port is the port of every listener.
const port = 80

// newHost returns a host that no other listener has. The host is random, because a counter would be package state. It
// is in the domain that RFC 2606 reserves for names that never resolve: a client without the listener's DialContext
// fails, instead of reaching another server.
func newHost() string { return fmt.Sprintf("memnet-%016x.invalid", rand.Uint64()) }

// Listener is an in-memory net.Listener. Make one with Listen.
type Listener struct {
	host string

	// mu protects the rest. arrived is signalled when queue grows and when closed becomes true.
	mu      sync.Mutex
	arrived sync.Cond
	queue   []*Conn // dialled, not accepted yet; oldest first
	dialled int
	closed  bool
}

// Listen returns a listener. No other listener of the process has its address, so clients that tell servers apart by
// their addresses do so here too. It can be reached only through its DialContext. It runs no goroutine, so an unused
// listener need not be closed; but connections that are dialled and not accepted stay open, without an answer, until
// Close.
func Listen() *Listener {
	l := &Listener{host: newHost()}
	l.arrived.L = &l.mu
	return l
}

// Accept returns the next connection, and waits for one. After Close it returns an error that is net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.closed {
		l.arrived.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: network, Addr: l.Addr(), Err: net.ErrClosed}
	}
	c := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	return c, nil
}

// Close ends Accept and refuses further dials. Connections that are not accepted yet are reset; accepted ones stay
// open. A second Close returns an error that is net.ErrClosed.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: network, Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.closed = true
	for _, c := range l.queue {
		c.Reset()
	}
	l.queue = nil
	l.arrived.Broadcast()
	return nil
}

// Addr returns the address to dial, in the form host:port.
func (l *Listener) Addr() net.Addr { return addr{l.host, port} }

// DialContext connects to the listener. It has the signature of net.Dialer's method, so that it can be used in an
// http.Transport. netw must be "tcp", "tcp4" or "tcp6"; otherwise the error is a net.UnknownNetworkError. If address
// is not the listener's, or after Close, the error is syscall.ECONNREFUSED, as for a closed port. It does not wait for
// Accept. The connection is a *Conn.
func (l *Listener) DialContext(ctx context.Context, netw, address string) (net.Conn, error) {
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: netw, Addr: name(address), Err: err}
	}
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	switch netw {
	case "tcp", "tcp4", "tcp6":
	default:
		return fail(net.UnknownNetworkError(netw))
	}
	if address != l.Addr().String() {
		return fail(syscall.ECONNREFUSED)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fail(syscall.ECONNREFUSED)
	}
	l.dialled++
	client, server := pipe(addr{l.host, firstClientPort + l.dialled}, addr{l.host, port})
	l.queue = append(l.queue, server)
	l.arrived.Signal()
	return client, nil
}

const (
	network         = "memnet"
	firstClientPort = 1024
)

// addr is the address of one end. Client ports count up, without TCP's bound.
type addr struct {
	host string
	port int
}

func (a addr) Network() string { return network }
func (a addr) String() string  { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// name is the address of a dial, whatever its form, for the error of the dial.
type name string

func (n name) Network() string { return network }
func (n name) String() string  { return string(n) }

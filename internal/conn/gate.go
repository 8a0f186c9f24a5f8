package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// patience is how long a dial waits for the one under way. It is longer than a handshake takes on a slow network.
const patience = 2 * time.Second

// gate lets one dial at a time through to a server that speaks HTTP/2. Without it, net/http dials for every request that finds no
// connection with room, although one connection has room for hundreds of requests:
//
//   - Dials wait in a line. The first one has the turn. If it fails, or its request ends, the next one has it.
//   - Once the first one has made a connection, net/http hands the connection to all requests whose dials are in the line. Each of
//     them uses it, or finds it full and dials again. So a new line begins, and the old one has no turn any more.
//   - A dial whose request gets a connection meanwhile, or ends, does not happen.
//   - A dial that has waited for patience happens, so that one that hangs holds up nobody for longer.
//   - Once a server has chosen HTTP/1, where each request under way needs a connection, no dial waits.
//
// A gate is for the requests of one http.Transport.
type gate struct {
	patience time.Duration
	http1    chan struct{} // closed once the server has chosen HTTP/1
	once     sync.Once     // closes http1

	mu   sync.Mutex // guards line; taken after the lock of an ask
	line line
}

// line holds a value during a turn.
type line chan struct{}

func newGate(patience time.Duration) *gate {
	return &gate{patience: patience, http1: make(chan struct{}), line: make(line, 1)}
}

func (g *gate) now() line {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.line
}

// next begins a new line after l.
func (g *gate) next(l line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == l {
		g.line = make(line, 1)
	}
}

// errNotNeeded is the end of a dial that no request waits for. No caller sees it.
var errNotNeeded = errors.New("the connection is not needed any more")

// enter waits until a dial may begin. ctx is that of the dial, in which net/http keeps the values of the request's context.
func (g *gate) enter(ctx context.Context) error {
	a, ok := ctx.Value(askKey{}).(*ask)
	if !ok {
		return nil
	}
	l := g.now() // before needless, so that a connection made in between is one that the request is handed
	needless := a.needless()
	select {
	case <-needless:
		return errNotNeeded
	case <-g.http1:
		return nil
	default:
	}
	timer := time.NewTimer(g.patience)
	defer timer.Stop()
	select {
	case l <- struct{}{}:
		if !a.own(l, needless) {
			<-l
			return errNotNeeded
		}
	case <-needless:
		return errNotNeeded
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.http1:
	case <-timer.C:
	}
	return nil
}

// send sends a request whose dials go through the gate.
func (g *gate) send(t *http.Transport, r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" || r.Header.Get("Upgrade") != "" { // HTTP/1, whatever the server speaks
		return t.RoundTrip(r)
	}
	a := &ask{g: g}
	a.trace = httptrace.ClientTrace{GetConn: a.get, GotConn: a.got}
	ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), askKey{}, a), &a.trace)
	resp, err := t.RoundTrip(r.WithContext(ctx))
	a.end()
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

type askKey struct{}

// ask is what a request says about its need of a connection. http.Transport may look for one several times, which begins each
// time by get. It waits for none of the earlier dials then: it has been handed a connection, which was full or broken.
type ask struct {
	g     *gate
	trace httptrace.ClientTrace

	mu     sync.Mutex    // guards the rest
	needs  bool          // a connection
	change chan struct{} // closed when needs is set; nil if no dial waits
	turns  []line        // the lines in which a dial of this request has the turn
}

// get says that the request waits for a connection from now on.
func (a *ask) get(string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(true)
	a.made()
}

// got is called with the connection that the request uses.
func (a *ask) got(info httptrace.GotConnInfo) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(false)
	if len(a.turns) == 0 {
		return
	}
	if c, ok := info.Conn.(*tls.Conn); ok && c.ConnectionState().NegotiatedProtocol != "h2" {
		a.g.once.Do(func() { close(a.g.http1) })
	}
	a.made()
}

// end says that the request needs no connection any more.
func (a *ask) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(false)
	for _, l := range a.turns {
		<-l
	}
	a.turns = nil
}

func (a *ask) set(needs bool) {
	a.needs = needs
	if a.change != nil {
		close(a.change)
		a.change = nil
	}
}

// made says that all who are in line with the request are handed a connection.
func (a *ask) made() {
	for _, l := range a.turns {
		a.g.next(l)
	}
	a.turns = nil
}

// needless returns a channel that is closed when a dial that begins now is not needed.
func (a *ask) needless() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.change == nil {
		a.change = make(chan struct{})
	}
	change := a.change
	if !a.needs {
		a.set(false)
	}
	return change
}

// own notes that a dial has the turn in l, unless it is not needed any more.
func (a *ask) own(l line, needless <-chan struct{}) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if (<-chan struct{})(a.change) != needless {
		return false
	}
	a.turns = append(a.turns, l)
	return true
}

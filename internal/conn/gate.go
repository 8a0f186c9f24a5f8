package conn

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"
)

// patience is how long a request waits while another one looks for a connection. A handshake takes less, unless the
// network loses a packet.
const patience = time.Second

// gate lets one request at a time look for a connection, if the server speaks HTTP/2. Without it, net/http dials for
// each request that finds no connection with room, although one connection has room for hundreds of requests. A
// request that finds room has left the gate within microseconds. If one has to dial, the others wait, until one of
// these happens:
//
//   - The dial has succeeded or failed. The next request looks for a connection, and finds the new one.
//   - Another request has ended, so an older connection has room for one more.
//   - The request has waited for patience. Then it dials as well, so a dial that hangs delays no request for longer.
//   - The server has chosen HTTP/1, where each request under way needs a separate connection. Then no request waits any
//     more.
//
// A gate is for the requests of one http.Transport to one origin. A nil gate lets all requests through.
type gate struct {
	patience time.Duration

	mu      sync.Mutex // guards the rest
	http1   bool       // the server has chosen HTTP/1
	seeking bool       // a request looks for a connection
	room    int        // requests that have ended since seeking began; each lets one more pass
	waiting []chan struct{}
}

// send sends a request through the gate.
func (g *gate) send(t *http.Transport, r *http.Request) (*http.Response, error) {
	if g == nil {
		return t.RoundTrip(r)
	}
	seeks, err := g.enter(r.Context())
	if err != nil {
		CloseBody(r)
		return nil, err
	}
	if !seeks {
		return t.RoundTrip(r)
	}
	var once sync.Once
	found := func(http1 bool) { once.Do(func() { g.leave(http1) }) }
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		c, ok := info.Conn.(*tls.Conn)
		found(ok && c.ConnectionState().NegotiatedProtocol != "h2")
	}}
	resp, err := t.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	found(false) // if RoundTrip failed before GotConn
	return resp, err
}

// enter waits until a request may look for a connection. If seeks is true, no other request may do so until this one
// calls leave.
func (g *gate) enter(ctx context.Context) (seeks bool, err error) {
	var impatient <-chan time.Time
	for {
		turn, seeks := g.try(impatient != nil)
		if turn == nil {
			return seeks, nil
		}
		if impatient == nil {
			timer := time.NewTimer(g.patience)
			defer timer.Stop()
			impatient = timer.C
		}
		select {
		case <-turn:
		case <-impatient:
			g.giveUp(turn)
			return false, nil
		case <-ctx.Done():
			g.giveUp(turn)
			return false, fmt.Errorf("wait for a connection that another request dials: %w", ContextError(ctx))
		}
	}
}

// try lets a request pass, or returns a channel that is closed when the request may try again. A request that has
// waited before goes to the front of the line.
func (g *gate) try(waited bool) (turn chan struct{}, seeks bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.http1:
		return nil, false
	case !g.seeking:
		g.seeking = true
		return nil, true
	case g.room > 0:
		g.room--
		return nil, false
	}
	turn = make(chan struct{})
	if waited {
		g.waiting = slices.Insert(g.waiting, 0, turn)
	} else {
		g.waiting = append(g.waiting, turn)
	}
	return turn, false
}

// leave records that the seeking request has a connection, or has failed to get one.
func (g *gate) leave(http1 bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seeking, g.room = false, 0
	g.http1 = g.http1 || http1
	g.wake()
	for g.http1 && len(g.waiting) > 0 {
		g.wake()
	}
}

// ended records that a request has ended, so its connection has room for another.
func (g *gate) ended() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seeking {
		g.room++
		g.wake()
	}
}

// giveUp takes a request out of the line. If the request has been woken already, giveUp wakes another one in its place.
func (g *gate) giveUp(turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, turn); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	} else if !g.seeking || g.room > 0 {
		g.wake()
	}
}

// wake lets the first request in the line try again. The caller holds mu.
func (g *gate) wake() {
	if len(g.waiting) > 0 {
		close(g.waiting[0])
		g.waiting = slices.Delete(g.waiting, 0, 1)
	}
}

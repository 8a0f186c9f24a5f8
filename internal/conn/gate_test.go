package conn

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// gated is a server with TLS, and a generation whose dials it counts.
type gated struct {
	*generation
	url   string
	dials atomic.Int64
}

// newGated starts a server. hook, if set, is called with the number of a dial before it begins, and may fail it. A request waits
// for another one for so long that only a hang shows.
func newGated(t *testing.T, http2 int, handler http.HandlerFunc, hook func(ctx context.Context, dial int64) error) *gated {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2 > 0
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: http2}
	server.StartTLS()
	t.Cleanup(server.Close)
	s := &gated{url: server.URL}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		n := s.dials.Add(1)
		if hook != nil {
			if err := hook(ctx, n); err != nil {
				return nil, err
			}
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	address := must(url.Parse(server.URL))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	var err error
	if s.generation, err = newGeneration(Options{Server: address, Dial: dial}, identity{ca: ca}); err != nil {
		t.Fatal(err)
	}
	s.callGate.patience, s.watchGate.patience = time.Hour, time.Hour
	t.Cleanup(s.retire)
	return s
}

// get sends a request. The caller closes the body of the answer.
func (s *gated) get(ctx context.Context) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	s.begin()
	resp, err := s.send(r)
	if err == nil && resp.Request != r {
		return nil, errors.New("the answer has another request")
	}
	return resp, err
}

// try sends a request and drops the answer.
func (s *gated) try(ctx context.Context) error {
	resp, err := s.get(ctx)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// closable is a body that knows whether it has been closed.
type closable struct {
	strings.Reader
	closed atomic.Bool
}

func (c *closable) Close() error {
	c.closed.Store(true)
	return nil
}

func answer(http.ResponseWriter, *http.Request) {}

// Net/http dialled for every request that found no connection with room: hundreds of times for a thousand watches.
func TestRequestsShareDialledConnections(t *testing.T) {
	var used sync.Map
	s := newGated(t, 250, func(w http.ResponseWriter, r *http.Request) {
		used.Store(r.RemoteAddr, true)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			resp, err := s.get(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			context.AfterFunc(ctx, func() { _ = resp.Body.Close() })
		})
	}
	all.Wait()
	cancel()
	conns := 0
	used.Range(func(any, any) bool { conns++; return true })
	if dials := int(s.dials.Load()); conns < 4 || dials > 3*conns { // hundreds without the gate
		t.Errorf("%d dials for %d connections, want at most three times as many; 4 connections are needed", dials, conns)
	}
	t.Logf("%d dials for %d connections", s.dials.Load(), conns)
}

// Net/http closed all but 25 of the connections after each round, and dialled again.
func TestHTTP1KeepsAsManyConnectionsAsWereInUse(t *testing.T) {
	const clients, rounds = 256, 3
	var mu sync.Mutex
	arrived, together := 0, make(chan struct{})
	s := newGated(t, 0, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		wait := together
		if arrived++; arrived == clients {
			arrived, together = 0, make(chan struct{})
			close(wait)
		}
		mu.Unlock()
		<-wait // so that no request uses the connection of another
	}, nil)
	for range rounds {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				if err := s.try(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := s.dials.Load(); n != clients {
		t.Errorf("%d dials in %d rounds of %d requests", n, rounds, clients)
	}
}

func TestADialThatFailsEndsOneRequest(t *testing.T) {
	broken := errors.New("broken")
	s := newGated(t, 250, answer, func(_ context.Context, dial int64) error {
		if dial == 1 {
			return broken
		}
		return nil
	})
	var failed atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := s.try(t.Context()); errors.Is(err, broken) {
				failed.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := failed.Load(); n != 1 {
		t.Errorf("%d requests failed, want 1", n)
	}
}

// hangs returns a hook for newGated whose first dial reports that it has begun, and waits to be let go.
func hangs() (hook func(context.Context, int64) error, begun, letGo chan struct{}) {
	begun, letGo = make(chan struct{}), make(chan struct{})
	return func(_ context.Context, dial int64) error {
		if dial == 1 {
			close(begun)
			<-letGo
		}
		return nil
	}, begun, letGo
}

func TestADialThatHangsDelaysNoRequestForLong(t *testing.T) {
	hook, begun, letGo := hangs()
	s := newGated(t, 250, answer, hook)
	s.callGate.patience = time.Millisecond
	first := make(chan error, 1)
	go func() { first <- s.try(t.Context()) }()
	<-begun
	if err := s.try(t.Context()); err != nil { // dials by itself
		t.Error(err)
	}
	// The connection of the second request is everybody's, although the dial still hangs.
	if err := <-first; err != nil {
		t.Error(err)
	}
	s.callGate.patience = time.Hour
	if err := s.try(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.dials.Load(); n != 2 {
		t.Errorf("%d dials, want 2", n)
	}
	close(letGo)
}

func TestARequestThatWaitsForADialCanBeCancelled(t *testing.T) {
	hook, begun, letGo := hangs()
	s := newGated(t, 250, answer, hook)
	first := make(chan error, 1)
	go func() { first <- s.try(t.Context()) }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	body := &closable{}
	go func() {
		r := must(http.NewRequestWithContext(ctx, http.MethodPost, s.origin.String(), body))
		s.begin()
		_, err := s.send(r)
		second <- err
	}()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled request ended with %v", err)
	}
	if !body.closed.Load() {
		t.Error("its body stays open")
	}
	close(letGo)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if n := s.dials.Load(); n != 1 {
		t.Errorf("%d dials, want 1", n)
	}
}

// The request whose dial hangs is cancelled. The next one must not wait for that dial.
func TestACancelledRequestGivesItsTurnBack(t *testing.T) {
	hook, begun, letGo := hangs()
	s := newGated(t, 250, answer, hook)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- s.try(ctx) }()
	<-begun
	second := make(chan error, 1)
	go func() { second <- s.try(t.Context()) }()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled request ended with %v", err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	close(letGo)
}

// A server that says GOAWAY takes no further requests on the connection: each request after it needs another.
func TestConnectionsThatGoAwayAreReplaced(t *testing.T) {
	var requests atomic.Int64
	s := newGated(t, 5, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%10 == 0 {
			w.Header().Set("Connection", "close") // the HTTP/2 server says GOAWAY
		}
	}, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 5 {
				if err := s.try(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := s.dials.Load(); n < 2 {
		t.Errorf("%d dials; the connections have not gone away", n)
	}
}

// crowded is a server that takes one request at a time on a connection. The first one is under way; a second one dials until letGo
// is closed; and a third one waits.
type crowded struct {
	*gated
	first         *http.Response
	answered      chan struct{} // ends the first one
	second, third chan error
	letGo         chan struct{}
}

func newCrowded(t *testing.T, call Call) *crowded {
	t.Helper()
	begun := make(chan struct{})
	c := &crowded{answered: make(chan struct{}), second: make(chan error, 1), third: make(chan error, 1), letGo: make(chan struct{})}
	var requests atomic.Int64
	handler := func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			_ = http.NewResponseController(w).Flush()
			<-c.answered
		}
	}
	c.gated = newGated(t, 1, handler, func(_ context.Context, dial int64) error {
		if dial == 2 {
			close(begun)
			<-c.letGo
		}
		return nil
	})
	ctx := call.With(t.Context())
	var err error
	if c.first, err = c.get(ctx); err != nil {
		t.Fatal(err)
	}
	go func() { c.second <- c.try(ctx) }()
	<-begun
	go func() { c.third <- c.try(ctx) }()
	for g := c.gateOf(call); c.line(g) == 0; {
		time.Sleep(time.Millisecond)
	}
	return c
}

func (c *crowded) gateOf(call Call) *gate {
	if call.Watch {
		return &c.watchGate
	}
	return &c.callGate
}

// line returns how many requests wait.
func (c *crowded) line(g *gate) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// endFirst ends the first request, in good order or by the client's will.
func (c *crowded) endFirst(t *testing.T, read bool) {
	t.Helper()
	if read {
		close(c.answered)
		if _, err := io.Copy(io.Discard, c.first.Body); err != nil {
			t.Error(err)
		}
	} else {
		defer close(c.answered)
	}
	if err := c.first.Body.Close(); err != nil {
		t.Error(err)
	}
}

// end lets the dial go on, and waits for what is under way.
func (c *crowded) end(t *testing.T, under ...chan error) {
	t.Helper()
	close(c.letGo)
	for _, request := range under {
		if err := <-request; err != nil {
			t.Error(err)
		}
	}
}

func TestARequestThatEndsLeavesItsRoom(t *testing.T) {
	c := newCrowded(t, Call{})
	c.endFirst(t, true)
	if err := <-c.third; err != nil { // while the second one dials
		t.Error(err)
	}
	c.end(t, c.second)
	if n := c.dials.Load(); n != 2 {
		t.Errorf("%d dials, want 2", n)
	}
}

// A server that shuts down ends all its watches in good order, and their connection takes no others. And net/http does not use the
// room of a request that the client has ended before the server has said that it knows.
func TestWatchesAndBrokenRequestsLeaveNoRoom(t *testing.T) {
	for _, tc := range []struct {
		name string
		call Call
		read bool
	}{{"a watch", Call{Watch: true}, true}, {"a broken request", Call{}, false}} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCrowded(t, tc.call)
			c.endFirst(t, tc.read)
			if n := c.line(c.gateOf(tc.call)); n != 1 {
				t.Errorf("%d requests wait, want 1", n)
			}
			c.end(t, c.second, c.third)
		})
	}
}

func TestUpgradesPlainHTTPAndOtherServersDoNotWait(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(answer))
	defer plain.Close()
	other := httptest.NewTLSServer(http.HandlerFunc(answer)) // all have one certificate
	defer other.Close()
	for _, tc := range []struct {
		name, server, to, upgrade string
	}{
		{name: "a connection of its own", upgrade: "websocket"},
		{name: "without TLS", server: plain.URL, to: plain.URL},
		{name: "to another server", to: other.URL},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newGated(t, 250, answer, nil)
			s.callGate.seeking = true // nobody leaves
			address := s.origin.String()
			if tc.to != "" {
				address = tc.to
			}
			if tc.server != "" {
				s.origin = must(url.Parse(tc.server))
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tc.upgrade != "" {
				r.Header.Set("Connection", "Upgrade")
				r.Header.Set("Upgrade", tc.upgrade)
			}
			s.begin()
			resp, err := s.send(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newLine returns a gate at which one request seeks, and what the others wait for.
func newLine(t *testing.T, others int) (g *gate, turns []chan struct{}) {
	t.Helper()
	g = &gate{patience: time.Hour}
	if turn, seeks := g.try(false); turn != nil || !seeks {
		t.Fatal("the first request does not seek")
	}
	for range others {
		turn, seeks := g.try(false)
		if turn == nil || seeks {
			t.Fatal("two requests seek")
		}
		turns = append(turns, turn)
	}
	return g, turns
}

// woken returns which requests may try again.
func woken(turns []chan struct{}) (which []int) {
	for i, turn := range turns {
		select {
		case <-turn:
			which = append(which, i)
		default:
		}
	}
	return which
}

func TestARequestThatIsWokenAndGivesUpWakesTheNext(t *testing.T) {
	for name, wake := range map[string]func(*gate){"left": func(g *gate) { g.leave(false) }, "ended": (*gate).ended} {
		g, turns := newLine(t, 3)
		wake(g)
		if got := woken(turns); !slices.Equal(got, []int{0}) {
			t.Errorf("%s: woken: %v", name, got)
		}
		g.giveUp(turns[0])
		if got := woken(turns); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("%s: woken after the first gave up: %v", name, got)
		}
		g.try(false) // takes the turn
		g.giveUp(turns[1])
		if got := woken(turns); !slices.Equal(got, []int{0, 1}) {
			t.Errorf("%s: woken without a turn: %v", name, got)
		}
	}
}

func TestARequestThatIsOvertakenStaysTheFirst(t *testing.T) {
	g, turns := newLine(t, 2)
	g.leave(false)
	g.try(false) // overtakes the first
	again, _ := g.try(true)
	g.leave(false)
	if got := woken(append(turns, again)); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("woken: %v", got)
	}
}

func TestRoomIsForgottenWithTheDial(t *testing.T) {
	g, _ := newLine(t, 0)
	g.ended()
	g.leave(false)
	g.ended() // nobody seeks
	g.try(false)
	if turn, _ := g.try(false); turn == nil {
		t.Error("a request passes for the room of an earlier dial")
	}
}

func TestRequestsDoNotWaitWithHTTP1(t *testing.T) {
	g, turns := newLine(t, 2)
	g.leave(true)
	if got := woken(turns); len(got) != 2 {
		t.Errorf("woken: %v", got)
	}
	g.leave(false) // of one that sought before
	for range 2 {
		if turn, seeks := g.try(false); turn != nil || seeks {
			t.Error("a request seeks or waits")
		}
	}
}

// A request whose ctx has ended as it was woken leaves its turn to the next one, and none is forgotten.
func TestTheGateForgetsNoRequest(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			g := &gate{patience: time.Hour}
			if seed%4 == 0 {
				g.patience = 3 * time.Millisecond
			}
			var seeking, tokens, asked, passed, seekers, gaveUp atomic.Int64
			var all sync.WaitGroup
			for range 100 {
				begin, dial, use := random.IntN(20), random.IntN(3), random.IntN(10)
				hasty, ends := random.IntN(4) == 0, random.IntN(2) == 0
				http1 := seed%5 == 0 && random.IntN(50) == 0
				all.Go(func() {
					time.Sleep(time.Duration(begin) * time.Millisecond)
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if hasty {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(use)*time.Millisecond)
					}
					defer cancel()
					asked.Add(1)
					seeks, err := g.enter(ctx)
					switch {
					case err != nil:
						if !hasty || !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						gaveUp.Add(1)
						return
					case seeks:
						seekers.Add(1)
						if seeking.Add(1) > 1 {
							t.Error("two requests look for a connection at a time")
						}
						time.Sleep(time.Duration(dial) * time.Millisecond)
						seeking.Add(-1)
						g.leave(http1)
					case tokens.Add(-1) < 0 && g.patience == time.Hour && seed%5 != 0:
						t.Error("a request has passed although no other has ended")
					}
					passed.Add(1)
					time.Sleep(time.Duration(use) * time.Millisecond)
					if ends {
						tokens.Add(1)
						g.ended()
					}
				})
			}
			all.Wait() // a request that nobody wakes is a deadlock, or waits for an hour
			if g.seeking || len(g.waiting) > 0 {
				t.Errorf("at the end a request seeks: %v, and %d wait", g.seeking, len(g.waiting))
			}
			if asked.Load() != passed.Load()+gaveUp.Load() || seekers.Load() == 0 {
				t.Errorf("%d asked, %d passed, %d gave up", asked.Load(), passed.Load(), gaveUp.Load())
			}
		})
	}
}

package conn

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gated is a server with TLS, and a generation whose dials it counts.
type gated struct {
	*generation
	url   string
	dials atomic.Int64
}

// newGated starts a server. hook, if set, is called with the number of a dial before it begins, and may fail it. A dial waits for
// another one without a bound.
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
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	var err error
	if s.generation, err = newGeneration(Options{Dial: dial}, identity{ca: ca}); err != nil {
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
	return s.send(r)
}

// try sends a request and drops the answer.
func (s *gated) try(ctx context.Context) error {
	resp, err := s.get(ctx)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func answer(http.ResponseWriter, *http.Request) {}

// Net/http dialled for every request that found no connection with room: hundreds of times for a thousand watches.
func TestRequestsShareWhatIsDialled(t *testing.T) {
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
	if dials := int(s.dials.Load()); conns < 4 || dials > 2*conns {
		t.Errorf("%d dials for %d connections, want at most twice as many; 4 connections are needed", dials, conns)
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

func TestADialThatHangsHoldsUpNobodyForLong(t *testing.T) {
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
	go func() { second <- s.try(ctx) }()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled request ended with %v", err)
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
			for range 20 {
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
	if len(s.callGate.now()) != 0 {
		t.Error("a dial has still its turn")
	}
}

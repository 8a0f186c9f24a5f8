package conn

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

func TestHTTP1KeepsAsManyConnectionsAsWereInUse(t *testing.T) {
	const clients, rounds = 256, 3
	var mu sync.Mutex
	arrived, together := 0, make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		wait := together
		if arrived++; arrived == clients {
			arrived, together = 0, make(chan struct{})
			close(wait)
		}
		mu.Unlock()
		<-wait // so that no request uses the connection of another
	}))
	t.Cleanup(server.Close)
	var dials atomic.Int64
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	g, err := newGeneration(Options{Dial: dial}, identity{ca: ca})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.retire)
	for range rounds {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
				if err != nil {
					t.Error(err)
					return
				}
				g.begin()
				resp, err := g.send(r)
				if err != nil {
					t.Error(err)
					return
				}
				if err := resp.Body.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := dials.Load(); n != clients {
		t.Errorf("%d dials in %d rounds of %d requests", n, rounds, clients)
	}
}

package remote_test

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// tunneller is an HTTP proxy on loopback that makes tunnels.
type tunneller struct {
	url   *url.URL
	ca    []byte // PEM; nil without TLS
	close func() // waits until all tunnels have ended
}

func newTunneller(t testing.TB, secure bool, dial func(hr *http.Request) (net.Conn, error)) *tunneller {
	t.Helper()
	var tunnels sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		if hr.Method != http.MethodConnect {
			http.Error(w, "only tunnels", http.StatusMethodNotAllowed)
			return
		}
		up, err := dial(hr)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		down, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			_ = up.Close()
			return
		}
		tunnels.Go(func() { _, _ = io.Copy(up, buffered); _ = up.Close() })
		tunnels.Go(func() { _, _ = io.Copy(down, up); _ = down.Close() })
	}))
	p := &tunneller{close: func() {
		server.Close()
		tunnels.Wait()
	}}
	if secure {
		server.StartTLS()
		p.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	} else {
		server.Start()
	}
	var err error
	if p.url, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	return p
}

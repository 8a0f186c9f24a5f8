package client_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/memnet"
)

// network is what lies between a client and a server in memory: it counts connections and can fall silent.
type network struct {
	listener *memnet.Listener
	mu       sync.Mutex // guards wires
	wires    []*wire
}

// wire is the client's end of a connection. Once it is silent nothing passes any more, and nobody is told.
type wire struct {
	net.Conn
	silent, closed atomic.Bool
}

func (w *wire) Read(p []byte) (int, error) {
	for {
		n, err := w.Conn.Read(p)
		if err != nil || !w.silent.Load() {
			return n, err
		}
	}
}

func (w *wire) Write(p []byte) (int, error) {
	if w.silent.Load() {
		return len(p), nil
	}
	return w.Conn.Write(p)
}

func (w *wire) Close() error {
	w.closed.Store(true)
	return w.Conn.Close()
}

func (n *network) dial(ctx context.Context, netw, address string) (net.Conn, error) {
	conn, err := n.listener.DialContext(ctx, netw, address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn}
	n.mu.Lock()
	n.wires = append(n.wires, w)
	n.mu.Unlock()
	return w, nil
}

// silence makes the connections that there are fall silent.
func (n *network) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.wires {
		w.silent.Store(true)
	}
}

// count returns how many connections were made, and how many of them the client has not closed.
func (n *network) count() (made, open int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.wires {
		if !w.closed.Load() {
			open++
		}
	}
	return len(n.wires), open
}

// protocol is how the server of a test speaks.
type protocol string

const (
	http1 protocol = "HTTP/1.1"
	http2 protocol = "HTTP/2"
)

// host returns the name of the server's host.
func (n *network) host(t testing.TB) string {
	t.Helper()
	host, _, err := net.SplitHostPort(n.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// serveOver runs a server in memory until the test ends: HTTP/2 over TLS, or plain HTTP/1.1.
func serveOver(t testing.TB, p protocol, h http.Handler, configure func(*http.Server)) (client.Config, *network) {
	t.Helper()
	n := &network{listener: memnet.Listen()}
	srv := &http.Server{Handler: h, ErrorLog: quiet()}
	cfg := client.Config{Server: "http://" + n.listener.Addr().String(), Dial: n.dial, Proxy: noProxy}
	if p == http2 {
		ca := newAuthority(t)
		srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{must[tls.Certificate](t)(tls.X509KeyPair(ca.issue(t, n.host(t))))}}
		cfg.Server, cfg.TLS.CAData = "https://"+n.listener.Addr().String(), client.Secret(ca.pem)
	}
	if configure != nil {
		configure(srv)
	}
	var served sync.WaitGroup
	srv.ConnState = countConns(&served)
	served.Go(func() {
		if p == http2 {
			_ = srv.ServeTLS(n.listener, "", "")
		} else {
			_ = srv.Serve(n.listener)
		}
	})
	t.Cleanup(func() {
		_ = srv.Close()
		served.Wait()
	})
	return cfg, n
}

// serveRaw runs a server in memory until the test ends; it reads a request, and says what speak writes to the connection.
func serveRaw(t testing.TB, speak func(net.Conn)) client.Config {
	t.Helper()
	l := memnet.Listen()
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = conn.Close() }()
				// A request that has no body is a few hundred bytes, written at once.
				if _, err := conn.Read(make([]byte, 64<<10)); err == nil {
					speak(conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	return client.Config{Server: "http://" + l.Addr().String(), Dial: l.DialContext, Proxy: noProxy}
}

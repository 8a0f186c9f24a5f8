package conn

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// generation holds the connections of one identity, in three http.Transports: one for watches, one for upgrades, and
// one for all other requests. So a watch whose caller does not read, or many watches on one connection, delay no other
// request.
//
// A generation is retired when another takes its place. It then accepts no new requests, and those under way continue
// to their end. After the last of them it closes all its connections. A connection that is still being dialled is
// closed as soon as it is established.
type generation struct {
	identity
	calls *http.Transport
	watch *http.Transport
	// upgrade makes a new connection for each request. An upgrade may start any action, so it must not be sent twice.
	// But on a connection that has been used before, net/http sends a GET again if the connection breaks; and a
	// request that must not be sent again would fail whenever the server has just closed such a connection.
	upgrade *http.Transport

	origin              *url.URL // the origin of the requests that go through a gate
	callGate, watchGate gate

	mu       sync.Mutex // guards the rest
	requests int        // under way, until their bodies are closed
	retired  bool
	conns    map[*conn]struct{} // the open connections
}

// newGeneration returns a generation without connections. i.ca has been checked, so it can be parsed.
func newGeneration(o Options, i identity) (*generation, error) {
	tlsConfig := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         o.ServerName,
		InsecureSkipVerify: o.Insecure,
	}
	if i.ca != nil {
		pool, err := certPool(i.ca)
		if err != nil {
			return nil, err
		}
		tlsConfig.RootCAs = pool
	}
	if i.cert != nil {
		tlsConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return i.cert, nil }
	}
	g := &generation{identity: i, origin: o.Server, conns: make(map[*conn]struct{})}
	g.callGate.patience, g.watchGate.patience = patience, patience
	p := &proxies{next: o.Proxy, ca: i.ca, insecure: o.Insecure}
	if p.next == nil {
		p.next = http.ProxyFromEnvironment
	}
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	dial = g.dial(p.dial(dial))
	g.calls = o.newTransport(tlsConfig, p.choose, dial)
	g.watch = o.newTransport(tlsConfig.Clone(), p.choose, dial) // net/http writes to it
	g.upgrade = o.newTransport(tlsConfig.Clone(), p.choose, dial)
	g.upgrade.DisableKeepAlives, g.upgrade.ForceAttemptHTTP2, g.upgrade.HTTP2 = true, false, nil
	// Without this limit, a server that accepts a watch and never answers would look like a watch without events.
	g.watch.ResponseHeaderTimeout = MaxHeaderWait
	if !o.NoHeaderTimeout {
		g.calls.ResponseHeaderTimeout, g.upgrade.ResponseHeaderTimeout = MaxHeaderWait, MaxHeaderWait
	}
	return g, nil
}

func (o Options) newTransport(tlsConfig *tls.Config, proxy func(*http.Request) (*url.URL, error), dial dialer) *http.Transport {
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: handshakeTimeout,
		DisableCompression:  o.Uncompressed,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: math.MaxInt32, // the client keeps as many idle connections as were in use
		IdleConnTimeout:     90 * time.Second,

		MaxResponseHeaderBytes: MaxHeaders,
		// If the other end of a connection silently goes away, the client notices within 45 s.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// MaxHeaders bounds the headers of an answer, in bytes. An API server's have a few KiB.
const MaxHeaders = 1 << 20

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// begin adds a request to the count; end subtracts it.
func (g *generation) begin() {
	g.mu.Lock()
	g.requests++
	g.mu.Unlock()
}

func (g *generation) end() {
	g.mu.Lock()
	g.requests--
	g.mu.Unlock()
	g.sweep()
}

// retire marks the generation: it gets no further requests.
func (g *generation) retire() {
	g.mu.Lock()
	g.retired = true
	g.mu.Unlock()
	g.calls.CloseIdleConnections()
	g.watch.CloseIdleConnections()
	g.sweep()
}

// sweep closes all connections of the generation if it is retired and no request uses it.
func (g *generation) sweep() {
	g.mu.Lock()
	over := g.retired && g.requests == 0
	var conns []*conn
	if over {
		conns = slices.Collect(maps.Keys(g.conns))
	}
	g.mu.Unlock()
	if !over {
		return
	}
	g.calls.CloseIdleConnections() // an orderly close, if the protocol has one
	g.watch.CloseIdleConnections()
	for _, c := range conns {
		_ = c.Close()
	}
}

// send sends a request that begin has counted.
func (g *generation) send(r *http.Request) (*http.Response, error) {
	t, gate := g.calls, &g.callGate
	switch {
	case r.Header.Get("Upgrade") != "":
		t = g.upgrade
	case CallOf(r.Context()).Watch:
		t, gate = g.watch, &g.watchGate
	}
	if r.URL.Scheme != "https" || !sameOrigin(r.URL, g.origin) || t == g.upgrade { // another origin, or HTTP/1
		gate = nil
	}
	resp, err := gate.send(t, r)
	if err != nil {
		g.end()
		return resp, err
	}
	resp.Request = r
	b := &body{ReadCloser: resp.Body, g: g}
	if t == g.calls { // a watch mostly ends because its connection ends, which makes no room
		b.gate = gate
	}
	resp.Body = b
	if w, ok := b.ReadCloser.(io.Writer); ok { // the connection itself, after 101
		resp.Body = &duplexBody{body: b, Writer: w}
	}
	return resp, nil
}

// body tells its generation when it is closed.
type body struct {
	io.ReadCloser
	g    *generation
	gate *gate // may be nil
	once sync.Once
	eof  atomic.Bool // the body has been read to its end
}

func (b *body) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if err == io.EOF {
		b.eof.Store(true)
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		if b.eof.Load() {
			b.gate.ended()
		}
		b.g.end()
	})
	return err
}

type duplexBody struct {
	*body
	io.Writer
}

// dial wraps a dialer so that the generation knows its connections.
func (g *generation) dial(next dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, g: g}
		g.mu.Lock()
		g.conns[c] = struct{}{}
		late := g.retired && g.requests == 0
		g.mu.Unlock()
		if late {
			_ = c.Close()
		}
		return c, nil
	}
}

// conn is a connection that its generation knows until it is closed.
type conn struct {
	net.Conn
	g *generation
}

func (c *conn) Close() error {
	c.g.mu.Lock()
	delete(c.g.conns, c)
	c.g.mu.Unlock()
	return c.Conn.Close()
}

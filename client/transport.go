package client

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxWatchWait bounds how long a server may take to begin a watch. An API server may hold a request back for up to a minute,
// its own bound for requests, while it is short of capacity or its cache catches up; the rest is for the way. Without a
// bound a server that accepts a watch and never answers would look like one on which nothing happens. Other calls have
// no such bound: nobody mistakes one that takes long for one that is done.
const maxWatchWait = 75 * time.Second

// transport is two http.Transports: one for watches, which share no connection with what is soon over, and one for the rest.
// So a watch that is not read for a while, or many that fill a connection, hold no other request up. They are made when
// the first request needs them, so that New does no I/O although the CA may be in a file. A file that cannot be read fails
// the request, and is tried again by the next.
type transport struct {
	cfg Config

	mu    sync.Mutex // guards the rest; both are nil, or none is
	calls *http.Transport
	watch *http.Transport
}

// watching is the key of the context of requests that are watches. The transport cannot tell by the verb, which HTTP does
// not know, and a context survives redirects and what Config.Wrap does to a request.
type watching struct{}

func newTransport(cfg Config) (*transport, error) {
	if err := cfg.TLS.validateData(); err != nil {
		return nil, err
	}
	// The caller may change its bytes later.
	cfg.TLS.CAData = slices.Clone(cfg.TLS.CAData)
	cfg.TLS.CertData = slices.Clone(cfg.TLS.CertData)
	cfg.TLS.KeyData = slices.Clone(cfg.TLS.KeyData)
	return &transport{cfg: cfg}, nil
}

// validateData checks what can be checked without I/O: certificates and keys that are given as data.
func (t TLS) validateData() error {
	if len(t.CAData) > 0 {
		if _, err := certPool(t.CAData); err != nil {
			return fmt.Errorf("client.Config: TLS.CAData: %w", err)
		}
	}
	switch {
	case len(t.CertData) > 0 && len(t.KeyData) > 0:
		if _, err := tls.X509KeyPair(t.CertData, t.KeyData); err != nil {
			return fmt.Errorf("client.Config: TLS.CertData and TLS.KeyData: %w", err)
		}
	case len(t.CertData) > 0 && !hasBlock(t.CertData, "CERTIFICATE"):
		return errors.New("client.Config: TLS.CertData: no PEM certificate in it")
	case len(t.KeyData) > 0 && !hasBlock(t.KeyData, "PRIVATE KEY"):
		return errors.New("client.Config: TLS.KeyData: no PEM private key in it")
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	calls, watch, err := t.get()
	if err != nil {
		closeBody(r)
		return nil, err
	}
	if r.Context().Value(watching{}) != nil {
		return watch.RoundTrip(r)
	}
	return calls.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses.
func (t *transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls != nil {
		t.calls.CloseIdleConnections()
		t.watch.CloseIdleConnections()
	}
}

func (t *transport) get() (calls, watch *http.Transport, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil {
		tlsConfig, err := t.cfg.TLS.config()
		if err != nil {
			return nil, nil, err
		}
		t.calls = t.cfg.newTransport(tlsConfig)
		t.watch = t.cfg.newTransport(tlsConfig.Clone()) // net/http writes to it
		t.watch.ResponseHeaderTimeout = maxWatchWait
	}
	return t.calls, t.watch, nil
}

func (c Config) newTransport(tlsConfig *tls.Config) *http.Transport {
	proxy := c.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	dial := c.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dial,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     90 * time.Second,
		// A connection whose other end has gone without a word is noticed within 45 s.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// config returns what crypto/tls needs, reading the CA file.
func (t TLS) config() (*tls.Config, error) {
	cfg := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.Insecure,
	}
	// Without a pool the system's certificates are trusted, so a file with nothing in it must be an error.
	switch {
	case len(t.CAData) > 0:
		pool, err := certPool(t.CAData)
		if err != nil {
			return nil, fmt.Errorf("TLS.CAData: %w", err)
		}
		cfg.RootCAs = pool
	case t.CAFile != "":
		b, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read TLS.CAFile: %w", err)
		}
		pool, err := certPool(b)
		if err != nil {
			return nil, fmt.Errorf("read TLS.CAFile: %s: %w", t.CAFile, err)
		}
		cfg.RootCAs = pool
	}
	if t.CertFile != "" || len(t.CertData) > 0 {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return t.certificate()
		}
	}
	return cfg, nil
}

// certificate reads the client's certificate and key; it is called for each new connection.
func (t TLS) certificate() (*tls.Certificate, error) {
	cert, key := t.CertData, t.KeyData
	var err error
	if len(cert) == 0 {
		if cert, err = os.ReadFile(t.CertFile); err != nil {
			return nil, fmt.Errorf("read TLS.CertFile: %w", err)
		}
	}
	if len(key) == 0 {
		if key, err = os.ReadFile(t.KeyFile); err != nil {
			return nil, fmt.Errorf("read TLS.KeyFile: %w", err)
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return &pair, nil
}

func certPool(data []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("no PEM certificate in it")
	}
	return pool, nil
}

// hasBlock reports whether data has a PEM block whose type ends in suffix.
func hasBlock(data []byte, suffix string) bool {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil || strings.HasSuffix(block.Type, suffix) {
			return block != nil
		}
	}
}

// closeBody does what a RoundTripper owes the request that it does not send.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// stayOnOrigin follows redirects within the server's origin, for reads only: credentials never reach another origin
// (CVE-2022-3172), and a write is never sent twice.
func stayOnOrigin(server *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case !sameOrigin(r.URL, server):
			return fmt.Errorf("server redirects to %q, which is not its own origin %q",
				r.URL.Scheme+"://"+r.URL.Host, server.Scheme+"://"+server.Host)
		case via[0].Method != http.MethodGet:
			return fmt.Errorf("server redirects a %s request", via[0].Method)
		case len(via) >= 10:
			return errors.New("server redirects more than 10 times")
		}
		return nil
	}
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

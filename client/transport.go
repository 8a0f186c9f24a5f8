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

// transport is a http.Transport that is made when the first request needs it, so that New does no I/O although the CA may
// be in a file. A file that cannot be read fails the request, and is tried again by the next.
type transport struct {
	cfg Config

	mu   sync.Mutex // guards real
	real *http.Transport
}

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
	real, err := t.get()
	if err != nil {
		closeBody(r)
		return nil, err
	}
	return real.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses.
func (t *transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.real != nil {
		t.real.CloseIdleConnections()
	}
}

func (t *transport) get() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.real != nil {
		return t.real, nil
	}
	tlsConfig, err := t.cfg.TLS.config()
	if err != nil {
		return nil, err
	}
	proxy := t.cfg.Proxy
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	dial := t.cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	t.real = &http.Transport{
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
	return t.real, nil
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

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const handshakeTimeout = 10 * time.Second

// proxies chooses proxies, and makes the TLS connections to those that are https. net/http would make them with the
// configuration for the server: with its name, and with the client's certificate, which is none of the proxy's business.
// For net/http they are plain http proxies, and the connection to them happens to be one of TLS.
type proxies struct {
	next     func(*http.Request) (*url.URL, error)
	ca       []byte // vouches for proxies beside the system's authorities
	insecure bool

	mu     sync.Mutex // guards secure
	secure map[string]string
}

// choose implements http.Transport.Proxy.
func (p *proxies) choose(r *http.Request) (*url.URL, error) {
	u, err := p.next(r)
	if err != nil {
		for wrong := (*url.Error)(nil); errors.As(err, &wrong); { // it has the URL in it, with the password
			err = wrong.Err
		}
		return nil, fmt.Errorf("choose a proxy: %w", err)
	}
	if u == nil || !strings.EqualFold(u.Scheme, "https") {
		return u, nil
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "443"
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) { // of which net/http makes another
		return nil, fmt.Errorf("the host of an https proxy must be ASCII, got %q", host)
	}
	plain := *u
	plain.Scheme, plain.Host = "http", net.JoinHostPort(host, port)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.secure == nil {
		p.secure = make(map[string]string)
	}
	p.secure[plain.Host] = host
	return &plain, nil
}

// dial wraps a dialer.
func (p *proxies) dial(next dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		p.mu.Lock()
		host := p.secure[address]
		p.mu.Unlock()
		if err != nil || host == "" {
			return conn, err
		}
		cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: p.insecure}
		if p.ca != nil {
			if cfg.RootCAs, err = x509.SystemCertPool(); err != nil {
				cfg.RootCAs = x509.NewCertPool()
			}
			cfg.RootCAs.AppendCertsFromPEM(p.ca)
		}
		ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
		defer cancel()
		secure := tls.Client(conn, cfg)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("connect to the proxy %s: %w", address, err)
		}
		return secure, nil
	}
}

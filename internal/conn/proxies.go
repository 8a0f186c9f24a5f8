package conn

import (
	"cmp"
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
// configuration for the server: with its name, and with the client's certificate, which is none of the proxy's
// business. For net/http they are plain http proxies, and the connection to them happens to be one of TLS.
type proxies struct {
	next     func(*http.Request) (*url.URL, error)
	ca       []byte // vouches for proxies beside the system's authorities
	insecure bool

	mu     sync.Mutex        // guards the rest
	secure map[string]string // the names of https proxies, by address
	socks  map[string]bool   // the addresses of SOCKS proxies
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
	if u == nil {
		return nil, nil
	}
	host, port := u.Hostname(), u.Port()
	switch strings.ToLower(u.Scheme) {
	case "socks5", "socks5h":
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.socks == nil {
			p.socks = make(map[string]bool)
		}
		p.socks[net.JoinHostPort(host, cmp.Or(port, "1080"))] = true
		return u, nil
	case "https":
	default:
		return u, nil
	}
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
		host, socks := p.secure[address], p.socks[address]
		p.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case socks:
			if conn.SetDeadline(time.Now().Add(handshakeTimeout)) != nil { // a connection of Config.Dial need not have them
				return conn, nil
			}
			return &socksConn{Conn: conn}, nil
		case host == "":
			return conn, nil
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

// socksConn is a connection to a SOCKS proxy, whose deadline holds until the proxy has done its part: net/http bounds
// the rest, and not that. All messages of SOCKS begin with a version, 1 or 5 (RFC 1928 and 1929), with which neither
// TLS nor HTTP begins.
type socksConn struct {
	net.Conn
	done bool // set by the first Write of what follows, before there are others
}

func (c *socksConn) Write(b []byte) (int, error) {
	if !c.done && len(b) > 0 && b[0] > 5 {
		c.done = true
		if err := c.SetDeadline(time.Time{}); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}

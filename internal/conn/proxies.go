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

// proxies chooses proxies, and makes the TLS connections to https proxies. net/http would use the server's TLS
// configuration for these: the server's name, and the client's certificate, which the proxy must not see. So net/http
// sees plain http proxies, and the dialer makes the TLS connection to them.
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
		for wrong := (*url.Error)(nil); errors.As(err, &wrong); { // a *url.Error contains the URL, with the password
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
	port = cmp.Or(port, "443")
	if strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) { // net/http would change such a name
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

// dial returns a dialer that connects with next, and makes the TLS connection to an https proxy.
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
			if conn.SetDeadline(time.Now().Add(handshakeTimeout)) != nil { // Config.Dial may not support deadlines
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

// socksConn is a connection to a SOCKS proxy, with a deadline for the SOCKS handshake: net/http limits only the time
// after that handshake. Every SOCKS message begins with a version, 1 or 5 (RFC 1928 and 1929). Neither TLS nor HTTP
// begins with such a byte.
type socksConn struct {
	net.Conn
	done bool // set by the first Write after the handshake, before there are concurrent ones
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

package client_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
)

// behaviour 75: the proxies of the environment are used, except for what NO_PROXY names, by address ranges too. net/http
// reads the environment once in a process, so this is one of its own.
func TestProxiesOfTheEnvironment(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDialledThroughTheEnvironment$", "-test.v")
	cmd.Env = append(os.Environ(), "BOWLINE_TEST_CHILD=1",
		"HTTP_PROXY=http://proxy.invalid:3128", "HTTPS_PROXY=socks5://socks.invalid:1080", "NO_PROXY=10.0.0.0/8,fd00::/8,.internal",
		"http_proxy=", "https_proxy=", "no_proxy=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for server, want := range map[string]string{
		"http://10.1.2.3:8080":     "10.1.2.3:8080",
		"http://[fd00::1]:8080":    "[fd00::1]:8080",
		"https://api.internal":     "api.internal:443",
		"http://11.1.2.3:8080":     "proxy.invalid:3128",
		"http://[fe00::1]:8080":    "proxy.invalid:3128",
		"https://api.example.com":  "socks.invalid:1080",
		"http://api.example.com":   "proxy.invalid:3128",
		"http://127.0.0.1:8080":    "127.0.0.1:8080",
		"https://internal.invalid": "socks.invalid:1080",
	} {
		if line := fmt.Sprintf("dialled %s for %s\n", want, server); !strings.Contains(string(out), line) {
			t.Errorf("want %sin\n%s", line, out)
		}
	}
}

// TestDialledThroughTheEnvironment is the process that TestProxiesOfTheEnvironment starts; the servers are as there.
func TestDialledThroughTheEnvironment(t *testing.T) {
	servers := []string{
		"http://10.1.2.3:8080", "http://[fd00::1]:8080", "https://api.internal", "http://11.1.2.3:8080", "http://[fe00::1]:8080",
		"https://api.example.com", "http://api.example.com", "http://127.0.0.1:8080", "https://internal.invalid",
	}
	if os.Getenv("BOWLINE_TEST_CHILD") == "" {
		servers = nil
	}
	for _, server := range servers {
		c := dial(t, client.Config{Server: server, Retry: client.Retry{Attempts: 1}, Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			fmt.Printf("dialled %s for %s\n", address, server)
			return nil, errors.New("no network")
		}})
		_, err := client.For(c, slims).Get(t.Context(), web)
		wantErr(t, err, "no network")
	}
}

// behaviour 75; guarantee S18
func TestASOCKSProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isWatch(r) {
				begun(w, r)
				return
			}
			answer{body: object("a", "1")}.write(w)
		}))
		proxy := memnet.Listen()
		asked := make(chan string, 2)
		var served sync.WaitGroup
		direct := cfg.Dial
		for range 2 { // a connection for watches, and one for the rest
			served.Go(func() {
				if err := socks(t.Context(), proxy, direct, asked); err != nil {
					t.Error(err)
				}
			})
		}
		server := strings.TrimPrefix(cfg.Server, "http://")
		cfg.Dial = proxy.DialContext
		cfg.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("socks5://" + proxy.Addr().String()) }
		c := dial(t, cfg)
		must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
		end := follows(t, client.For(c, slims))
		for range 2 {
			if got := <-asked; got != server {
				t.Errorf("the proxy was asked for %s, want %s", got, server)
			}
		}
		time.Sleep(time.Minute) // what bounds the proxy does not bound the watch
		if err := end(); err != nil {
			t.Error(err)
		}
		synctest.Wait() // until the connection is idle
		c.Close()
		served.Wait()
	})
}

// socks serves one connection as RFC 1928 says: without authentication, to a name, by a command CONNECT.
func socks(
	ctx context.Context, l net.Listener, dial func(ctx context.Context, network, address string) (net.Conn, error), asked chan<- string,
) error {
	down, err := l.Accept()
	if err != nil {
		return err
	}
	defer func() { _ = down.Close() }()
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, readErr := io.ReadFull(down, b); readErr != nil && err == nil {
			err = readErr
		}
		return b
	}
	read(int(read(2)[1])) // the methods
	_, _ = down.Write([]byte{5, 0})
	name := read(int(read(5)[4]))
	port := read(2)
	if err != nil {
		return err
	}
	address := net.JoinHostPort(string(name), fmt.Sprint(binary.BigEndian.Uint16(port)))
	asked <- address
	up, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_, _ = down.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(up, down); _ = up.Close() })
	both.Go(func() { _, _ = io.Copy(down, up); _ = down.Close() })
	both.Wait()
	return nil
}

// places is a network of several servers, by address.
type places map[string]*memnet.Listener

func (p places) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l := p[address]; l != nil {
		return l.DialContext(ctx, network, l.Addr().String())
	}
	return nil, fmt.Errorf("nobody is at %s", address)
}

// behaviour 75; guarantees S1 and S18: everything goes through the proxy, watches too; what is for the proxy goes to the proxy,
// and what is for the server to the server.
func TestAProxyGetsOnlyItsOwnCredentials(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca, elsewhere := newAuthority(t), newAuthority(t)
				srv := &people{}
				cfg, n := serveOver(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Authorization") != "Bearer t0k3n" || r.Header.Get("Proxy-Authorization") != "" {
						t.Errorf("the server got %v", r.Header)
					}
					srv.ServeHTTP(w, r)
				}), asksForCertificates)
				server := n.listener.Addr().String()

				listener := memnet.Listen()
				proxy := &http.Server{ErrorLog: quiet(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
					if r.Method != http.MethodConnect || r.Host != server || user != "me" || password != "pr0xy" || r.Header.Get("Authorization") != "" {
						t.Errorf("the proxy got %s %s with %v", r.Method, r.Host, r.Header)
					}
					if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
						t.Error("the proxy was shown a certificate")
					}
					up, err := n.listener.DialContext(r.Context(), "tcp", server)
					if err != nil {
						t.Error(err)
						return
					}
					w.WriteHeader(http.StatusOK)
					down, buffered, err := http.NewResponseController(w).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					var both sync.WaitGroup
					both.Go(func() { _, _ = io.Copy(up, buffered); _ = up.Close() })
					both.Go(func() { _, _ = io.Copy(down, up); _ = down.Close() })
					both.Wait()
				})}
				pair := must[tls.Certificate](t)(tls.X509KeyPair(elsewhere.issue(t, "proxy.invalid")))
				proxy.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
				var served sync.WaitGroup
				served.Go(func() {
					if scheme == "https" {
						_ = proxy.ServeTLS(listener, "", "")
					} else {
						_ = proxy.Serve(listener)
					}
				})
				defer served.Wait()
				defer func() { _ = proxy.Close() }()

				cert, key := ca.issue(t, "jane")
				cfg.TLS.CertData, cfg.TLS.KeyData, cfg.BearerToken = client.Secret(cert), client.Secret(key), "t0k3n"
				cfg.TLS.ServerName, _, _ = net.SplitHostPort(server) // which is not the proxy's
				cfg.Dial = places{"proxy.invalid:3128": listener}.dial
				cfg.Proxy = func(*http.Request) (*url.URL, error) {
					return url.Parse(scheme + "://me:pr0xy@proxy.invalid:3128")
				}
				if scheme == "https" {
					_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
					wantErr(t, err, "connect to the proxy proxy.invalid:3128: tls: failed to verify certificate")
					cfg.TLS.CAData = cfg.TLS.CAData + client.Secret(elsewhere.pem)
				}
				c := dial(t, cfg)
				r := client.For(c, slims)
				must[*Slim](t)(r.Get(t.Context(), web))
				end := follows(t, r)
				if got := srv.all(); got != "jane jane" {
					t.Errorf("the server met %s", got)
				}
				if err := end(); err != nil {
					t.Error(err)
				}
				c.Close()
			})
		})
	}
}

func TestAnHTTPSProxyWhoseHostIsNotASCII(t *testing.T) {
	c := dial(t, client.Config{Server: "https://h", Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("https://pröxy") }})
	_, err := client.For(c, slims).Get(t.Context(), web)
	wantErr(t, err, `the host of an https proxy must be ASCII, got "pröxy"`)
}

// A SOCKS proxy that said nothing held its callers for good, and the time that others are given looked like the end of the
// caller's context.
func TestAProxyThatSaysNothingIsGivenUp(t *testing.T) {
	for scheme, test := range map[string]struct {
		within time.Duration
		want   string
	}{
		"http":   {time.Minute, "a time limit of the transport passed: context deadline exceeded"},
		"https":  {10 * time.Second, "a time limit of the transport passed: proxyconnect tcp: connect to the proxy "},
		"socks5": {10 * time.Second, "i/o timeout"},
	} {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				defer close(over)
				cfg := serveRaw(t, func(net.Conn) { <-over })
				proxy := &url.URL{Scheme: scheme, Host: strings.TrimPrefix(cfg.Server, "http://")}
				cfg.Server, cfg.Proxy = "https://server.invalid", func(*http.Request) (*url.URL, error) { return proxy, nil }
				start := time.Now()
				_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
				wantErr(t, err, test.want)
				if took := time.Since(start); took != test.within {
					t.Errorf("it took %v, want %v", took, test.within)
				}
				if n := apierrors.NetworkOf(err); n != apierrors.NetworkTimeout {
					t.Errorf("that is %q", n)
				}
			})
		})
	}
}

package remote_test

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
)

// behaviour 163
func TestThroughAProxy(t *testing.T) {
	for name, tc := range map[string]struct{ server, proxy bool }{ // whether they speak TLS
		"http": {false, false}, "to https": {true, false}, "https": {false, true}, "https to https": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{Listener: listener, TLS: tc.server})
			p := &proxy{passing: httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}}
			front := httptest.NewUnstartedServer(p)
			if tc.proxy {
				front.StartTLS()
			} else {
				front.Start()
			}
			cfg := r.Config()
			cfg.Dial = nil
			if tc.proxy {
				cfg.TLS.CAData += client.Secret(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}))
			}
			cfg.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(front.URL) }
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 1<<20)
			_, _ = rand.Read(data)
			cat := remote.Command(client.For(c, pods), web, "cat")
			cat.Stdin = bytes.NewReader(data)
			if out, err := cat.Output(t.Context()); err != nil || !bytes.Equal(out, data) {
				t.Errorf("cat: %d bytes of %d, %v", len(out), len(data), err)
			}
			c.Close()
			front.Close()
			p.tunnels.Wait()
			if tunnels, passed := p.opened.Load(), p.passed.Load(); tunnels+passed == 0 || (tunnels > 0) != tc.server {
				t.Errorf("the proxy opened %d tunnels, and passed %d requests on", tunnels, passed)
			}
		})
	}
}

func TestAProxyThatCannotUpgrade(t *testing.T) {
	r := newRig(t, &containers.Server{Run: programs}, clienttest.Options{})
	r.Intercept(func(*http.Request) http.HandlerFunc {
		return func(w http.ResponseWriter, hr *http.Request) { // takes the headers of a hop away, as HTTP asks for
			hr.Header.Del("Connection")
			hr.Header.Del("Upgrade")
			r.ServeHTTP(w, hr)
		}
	})
	err := remote.Command(r.pods, web, "echo").Run(t.Context())
	wantText(t, err, "400", "unable to upgrade", "does not ask for it")
}

// proxy opens tunnels for CONNECT, and passes other requests on.
type proxy struct {
	passing        httputil.ReverseProxy
	opened, passed atomic.Int64
	tunnels        sync.WaitGroup
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		p.passed.Add(1)
		p.passing.ServeHTTP(w, r)
		return
	}
	p.opened.Add(1)
	p.tunnels.Add(1) // before the server forgets the connection: from then on its Close does not wait for this handler
	defer p.tunnels.Done()
	up, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	down, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	for from, to := range map[net.Conn]net.Conn{up: down, down: up} {
		p.tunnels.Go(func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
			_ = from.Close()
		})
	}
}

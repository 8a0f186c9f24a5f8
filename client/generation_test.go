package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
)

// people is a server that remembers whose certificates came, and refuses some of them. Watches go on until they are left.
type people struct {
	mu      sync.Mutex // guards the rest
	got     []string
	refused string
}

func (p *people) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user := "nobody"
	if len(r.TLS.PeerCertificates) > 0 {
		user = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	p.mu.Lock()
	p.got = append(p.got, user)
	refused := user == p.refused
	p.mu.Unlock()
	switch {
	case refused:
		answer{code: 401, body: status(401, "Unauthorized", "no")}.write(w)
	case isWatch(r):
		begun(w, r)
	default:
		answer{body: object("a", "1")}.write(w)
	}
}

func (p *people) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	got := strings.Join(p.got, " ")
	p.got = nil
	return got
}

func (p *people) refuse(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = user
}

// asksForCertificates makes a server of serveOver ask its clients who they are.
func asksForCertificates(s *http.Server) { s.TLSConfig.ClientAuth = tls.RequestClientCert }

// open returns how many connections are open once nothing moves.
func (n *network) open() int {
	synctest.Wait()
	_, open := n.count()
	return open
}

// follows starts a watch, and returns when it has begun; what it returns ends the watch and says what ended it before.
func follows(t *testing.T, r client.Resource[*Slim]) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	began, result := make(chan struct{}), make(chan error, 1)
	go func() {
		var once sync.Once
		for _, err := range r.Watch(ctx, client.WatchOptions{}) {
			once.Do(func() { close(began) })
			if err != nil {
				result <- err
				return
			}
		}
		result <- nil
	}()
	<-began
	return func() error {
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the watch has ended before: %w", err)
		}
		return nil
	}
}

// behaviours 122 and 131, fault F30: what is new is for new requests; those under way, and their connections, go on to
// their end. Another token alone changes no connection.
func TestANewCertificateIsForNewConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		srv := &people{}
		cfg, n := serveOver(t, http2, srv, asksForCertificates)
		var now client.Credential
		as := func(user string) {
			pair := must[tls.Certificate](t)(tls.X509KeyPair(ca.issue(t, user)))
			now.Certificate = &pair
		}
		as("first")
		fetches := 0
		cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			fetches++
			now.Token, now.Expires = client.Secret(fmt.Sprint("t", fetches)), time.Now().Add(10*time.Minute)
			return now, nil
		})
		c := dial(t, cfg)
		r := client.For(c, slims)
		must[*Slim](t)(r.Get(t.Context(), web))
		end := follows(t, r)
		for range 3 { // the token changes
			time.Sleep(time.Minute)
			must[*Slim](t)(r.Get(t.Context(), web))
			time.Sleep(10 * time.Minute)
			must[*Slim](t)(r.Get(t.Context(), web))
		}
		made, _ := n.count()
		if got := srv.all(); got != "first first first first first first first first" || fetches < 3 {
			t.Errorf("the server met %s, with %d tokens", got, fetches)
		}
		as("second")
		time.Sleep(10 * time.Minute)
		must[*Slim](t)(r.Get(t.Context(), web))
		again, _ := n.count()
		if got := srv.all(); got != "second" || again != made+1 {
			t.Errorf("the server met %s, on %d new connections", got, again-made)
		}
		if open := n.open(); open != 2 {
			t.Errorf("%d connections are open, want that of the watch and that of the second certificate", open)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if open := n.open(); open != 1 {
			t.Errorf("%d connections are open after the watch", open)
		}
		// The server does not want the certificate any more.
		srv.refuse("second")
		as("third")
		must[*Slim](t)(r.Get(t.Context(), web))
		if got := srv.all(); got != "second third" {
			t.Errorf("the server met %s", got)
		}
		c.Close()
		if open := n.open(); open != 0 {
			t.Errorf("%d connections are open after Close", open)
		}
	})
}

// swap changes a directory as a mounted secret changes: a link to all of its files is replaced.
func swap(t *testing.T, dir string, version int, files map[string][]byte) {
	t.Helper()
	data := filepath.Join(dir, fmt.Sprintf("..%d", version))
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		writeFile(t, filepath.Join(data, name), content)
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name))
	}
	link := filepath.Join(dir, "..new")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

// behaviour 131, fault F30, guarantee S19
func TestCertificateFilesAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		srv := &people{}
		cfg, n := serveOver(t, http2, srv, asksForCertificates)
		dir := t.TempDir()
		cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		version := 0
		as := func(user string) {
			version++
			cert, key := ca.issue(t, user)
			swap(t, dir, version, map[string][]byte{"tls.crt": cert, "tls.key": key})
		}
		var stale []string
		cfg.Hooks.Stale = func(_ context.Context, err error) { stale = append(stale, err.Error()) }
		r := client.For(dial(t, cfg), slims)
		get := func(want string) {
			t.Helper()
			must[*Slim](t)(r.Get(t.Context(), web))
			if got := srv.all(); got != want {
				t.Errorf("the server met %s, want %s", got, want)
			}
		}
		as("first")
		get("first")
		end := follows(t, r)
		srv.all()
		as("second")
		time.Sleep(20 * time.Second)
		get("first")
		time.Sleep(10 * time.Second)
		get("second")
		if open := n.open(); open != 2 {
			t.Errorf("%d connections are open, want two", open)
		}
		// A refusal makes the next look at once.
		as("third")
		srv.refuse("second")
		get("second third")
		// What is bad changes nothing, and somebody is told, not each time.
		version++
		cert, _ := ca.issue(t, "fourth")
		swap(t, dir, version, map[string][]byte{"tls.crt": cert, "tls.key": pemOf(t, newKey(t))})
		time.Sleep(time.Minute)
		get("third")
		get("third")
		if err := os.Remove(filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		get("third")
		if len(stale) != 2 || !strings.HasPrefix(stale[0], "load the client certificate: ") || !strings.HasPrefix(stale[1], "read TLS.CertFile: open ") {
			t.Errorf("told %q", stale)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
		if open := n.open(); open != 1 {
			t.Errorf("%d connections are open, want one", open)
		}
	})
}

// behaviour 130, fault F30, guarantee S19
func TestTheCAFileIsReadAgain(t *testing.T) {
	for _, p := range []protocol{http2} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var pair tls.Certificate
			one, other := newAuthority(t), newAuthority(t)
			cfg, n := serveOver(t, p, &people{}, func(s *http.Server) {
				s.TLSConfig = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
					mu.Lock()
					defer mu.Unlock()
					return &pair, nil
				}}
			})
			host, _, _ := net.SplitHostPort(n.listener.Addr().String())
			by := func(a *authority) {
				mu.Lock()
				defer mu.Unlock()
				pair = must[tls.Certificate](t)(tls.X509KeyPair(a.issue(t, host)))
			}
			dir := t.TempDir()
			cfg.TLS.CAData, cfg.TLS.CAFile = "", filepath.Join(dir, "ca.crt")
			var stale []string
			cfg.Hooks.Stale = func(_ context.Context, err error) { stale = append(stale, err.Error()) }
			r := client.For(dial(t, cfg), slims)
			get := func() error { return drop(r.Get(t.Context(), web)) }

			by(one)
			swap(t, dir, 1, map[string][]byte{"ca.crt": one.pem})
			if err := get(); err != nil {
				t.Fatal(err)
			}
			end := follows(t, r)
			// Another authority at once for both: the handshake that fails looks.
			by(other)
			swap(t, dir, 2, map[string][]byte{"ca.crt": other.pem})
			n.sever(t)
			if err := get(); err != nil {
				t.Error(err)
			}
			if err := drop(r.Create(t.Context(), &Slim{Identity: at(web)})); err != nil {
				t.Error(err)
			}
			if err := end(); err == nil {
				t.Error("the watch lives on, although its connection is cut")
			}
			end = follows(t, r)

			// What is bad changes nothing.
			for version, bad := range [][]byte{nil, []byte("nonsense"), []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")} {
				swap(t, dir, 10+version, map[string][]byte{"ca.crt": bad})
				time.Sleep(time.Minute)
				if err := get(); err != nil {
					t.Error(err)
				}
			}
			_ = os.Remove(filepath.Join(dir, "..data"))
			time.Sleep(time.Minute)
			if err := get(); err != nil {
				t.Error(err)
			}
			if len(stale) != 4 || !strings.Contains(stale[0], "found no PEM certificate") || !strings.Contains(stale[3], "read TLS.CAFile: open ") {
				t.Errorf("told %q", stale)
			}
			// One that is trusted no longer is not trusted on new connections. The watch goes on.
			made, _ := n.count()
			swap(t, dir, 20, map[string][]byte{"ca.crt": one.pem})
			time.Sleep(time.Minute)
			if err := get(); !errors.As(err, new(x509.UnknownAuthorityError)) {
				t.Errorf("error is %v", err)
			}
			if again, _ := n.count(); again == made {
				t.Error("no new connection was made")
			}
			if err := end(); err != nil {
				t.Error(err)
			}
			if open := n.open(); open != 0 {
				t.Errorf("%d connections are open", open)
			}
		})
	}
}

// sever cuts all connections.
func (n *network) sever(t *testing.T) {
	t.Helper()
	n.mu.Lock()
	for _, w := range n.wires {
		_ = w.Close()
	}
	n.mu.Unlock()
	synctest.Wait()
}

// behaviours 131, 132 and 133: many clients come and go. The bubble sees to it that no goroutine stays.
func TestClientsThatWereClosedLeaveNothingBehind(t *testing.T) {
	const clients = 120 // each makes two handshakes
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		cfg, n := serveOver(t, http2, &people{}, asksForCertificates)
		var early uint64
		for i := range clients {
			cert, key := ca.issue(t, fmt.Sprint("user", i))
			cfg.TLS.CertData, cfg.TLS.KeyData = client.Secret(cert), client.Secret(key)
			c := must[*client.Client](t)(client.New(cfg))
			r := client.For(c, slims)
			for _, err := range r.Watch(t.Context(), client.WatchOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			must[*Slim](t)(r.Get(t.Context(), web))
			c.Close()
			if _, open := n.count(); open != 0 {
				t.Fatalf("%d connections are open after Close", open)
			}
			if i != clients/5 && i != clients-1 {
				continue
			}
			n.forget()
			time.Sleep(time.Minute) // net/http forgets a connection when it would have probed it next
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if early == 0 {
				early = m.HeapAlloc
			} else if m.HeapAlloc > early+1<<20 {
				t.Errorf("the heap has %d bytes after a fifth of the clients, and %d after all of them", early, m.HeapAlloc)
			}
		}
	})
}

// forget lets go of the connections that are closed.
func (n *network) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := n.wires[:0]
	for _, w := range n.wires {
		if !w.closed.Load() {
			kept = append(kept, w)
		}
	}
	clear(n.wires[len(kept):])
	n.wires = kept
}

// behaviours 133 and 134: a Close in the midst of dials and requests harms nobody, and what is under way can be left.
func TestCloseBesideRequests(t *testing.T) {
	overBoth(t, func(t *testing.T, p protocol) {
		cfg, n := serveOver(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isWatch(r) {
				begun(w, r)
				return
			}
			answer{body: object("a", "1")}.write(w)
		}), nil)
		direct := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(time.Millisecond)
			return direct(ctx, network, address)
		}
		c := dial(t, cfg)
		r := client.For(c, slims)
		end := follows(t, r)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 20 {
					if _, err := r.Get(t.Context(), web); err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				for range 10 {
					time.Sleep(300 * time.Microsecond)
					c.Close()
				}
			})
			all.Go(func() { // leaves while the connection is dialled
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Microsecond)
				defer cancel()
				_, _ = r.Get(ctx, web)
			})
		}
		all.Wait()
		if err := end(); err != nil {
			t.Error(err)
		}
		c.Close()
		time.Sleep(time.Second)
		if open := n.open(); open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}

func TestAnswersAreAskedForUncompressed(t *testing.T) {
	for uncompressed, want := range map[bool]string{false: "gzip", true: ""} {
		srv := says(object("a", "1"))
		cfg := serve(t, srv)
		cfg.Uncompressed = uncompressed
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		if got := srv.one(t).header.Get("Accept-Encoding"); got != want {
			t.Errorf("Uncompressed: %v asks for %q", uncompressed, got)
		}
	}
}

package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	return &authority{
		cert: must[*x509.Certificate](t)(x509.ParseCertificate(der)), key: key,
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}
}

// issue returns a certificate for name, a host or a user, and its key, as PEM.
func (a *authority) issue(t testing.TB, name string) (cert, key []byte) {
	t.Helper()
	return a.issueFrom(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

// issueFrom is issue with another begin and end.
func (a *authority) issueFrom(t testing.TB, name string, begin, end time.Time) (cert, key []byte) {
	t.Helper()
	k := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: begin, NotAfter: end,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key))
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pemOf(t, k)
}

// startTLS runs an https server on loopback, with a certificate of ca for 127.0.0.1.
func startTLS(t testing.TB, ca *authority, h http.Handler, configure func(*tls.Config)) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	pair := must[tls.Certificate](t)(tls.X509KeyPair(ca.issue(t, "127.0.0.1")))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if configure != nil {
		configure(srv.TLS)
	}
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// guarantee S3, behaviour 128
func TestOnlyTheConfiguredAuthorityIsTrusted(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	srv := startTLS(t, ca, says(object("a", "1")), nil)
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, data)
		return path
	}
	named, namedKey := ca.issue(t, "api.internal")
	namedServer := startTLS(t, ca, says(object("a", "1")), func(c *tls.Config) {
		c.Certificates = []tls.Certificate{must[tls.Certificate](t)(tls.X509KeyPair(named, namedKey))}
	})
	for _, test := range []struct {
		name   string
		server string
		tls    client.TLS
		want   string // empty: it connects
	}{
		{"its certificates as data", srv.URL, client.TLS{CAData: client.Secret(ca.pem)}, ""},
		{"its certificates in a file", srv.URL, client.TLS{CAFile: file("ca", ca.pem)}, ""},
		{"data wins over a file", srv.URL, client.TLS{CAData: client.Secret(ca.pem), CAFile: file("other", other.pem)}, ""},
		{"several certificates", srv.URL, client.TLS{CAData: client.Secret(other.pem) + client.Secret(ca.pem)}, ""},
		{"no check at all", srv.URL, client.TLS{Insecure: true}, ""},
		{"another name that the certificate has", namedServer.URL, client.TLS{CAData: client.Secret(ca.pem), ServerName: "api.internal"}, ""},

		{"the system's authorities", srv.URL, client.TLS{}, "certificate"},
		{"another authority", srv.URL, client.TLS{CAData: client.Secret(other.pem)}, "certificate"},
		{
			"a name that the certificate does not have", srv.URL,
			client.TLS{CAData: client.Secret(ca.pem), ServerName: "api.internal"},
			"api.internal",
		},
		{"the address, which the certificate does not have", namedServer.URL, client.TLS{CAData: client.Secret(ca.pem)}, "127.0.0.1"},
		{"a file that is not there", srv.URL, client.TLS{CAFile: filepath.Join(dir, "none")}, "read TLS.CAFile: open "},
		{"a file without a certificate", srv.URL, client.TLS{CAFile: file("text", []byte("text"))}, "found no PEM certificate"},
		// It would mean the system's authorities.
		{"an empty file", srv.URL, client.TLS{CAFile: file("empty", nil)}, "found no PEM certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, client.Config{Server: test.server, TLS: test.tls, Proxy: noProxy})
			_, err := client.For(c, slims).Get(t.Context(), web)
			if test.want != "" {
				wantErr(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAFileThatCouldNotBeReadIsTriedAgain(t *testing.T) {
	ca := newAuthority(t)
	srv := startTLS(t, ca, says(object("a", "1")), nil)
	path := filepath.Join(t.TempDir(), "ca")
	c := dial(t, client.Config{Server: srv.URL, TLS: client.TLS{CAFile: path}, Proxy: noProxy})
	_, err := client.For(c, slims).Get(t.Context(), web)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want that the file does not exist", err)
	}
	writeFile(t, path, ca.pem)
	if _, err := client.For(c, slims).Get(t.Context(), web); err != nil {
		t.Error(err)
	}
}

// guarantee S3, behaviour 127
func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	ca := newAuthority(t)
	for version, ok := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			srv := startTLS(t, ca, says(object("a", "1")), func(c *tls.Config) {
				c.MinVersion, c.MaxVersion = version, version
				c.NextProtos = []string{"http/1.1"} // HTTP/2 would refuse the old ones by itself
			})
			c := dial(t, client.Config{Server: srv.URL, TLS: client.TLS{CAData: client.Secret(ca.pem)}, Proxy: noProxy})
			if _, err := client.For(c, slims).Get(t.Context(), web); (err == nil) != ok {
				t.Errorf("error is %v, want none: %v", err, ok)
			}
		})
	}
}

// behaviour 131, as far as new connections go
func TestTheClientCertificateIsReadForEachConnection(t *testing.T) {
	ca := newAuthority(t)
	var mu sync.Mutex
	var users []string
	srv := startTLS(t, ca, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		users = append(users, r.TLS.PeerCertificates[0].Subject.CommonName)
		mu.Unlock()
		answer{body: object("a", "1")}.write(w)
	}), func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		c.ClientCAs.AddCert(ca.cert)
	})
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	as := func(user string) {
		cert, key := ca.issue(t, user)
		writeFile(t, certFile, cert)
		writeFile(t, keyFile, key)
	}
	c := dial(t, client.Config{
		Server: srv.URL, Proxy: noProxy, TLS: client.TLS{CAData: client.Secret(ca.pem), CertFile: certFile, KeyFile: keyFile},
	})
	r := client.For(c, slims)
	_, err := r.Get(t.Context(), web)
	wantErr(t, err, "read TLS.CertFile: open ")
	cert, _ := ca.issue(t, "first")
	writeFile(t, certFile, cert)
	_, err = r.Get(t.Context(), web)
	wantErr(t, err, "read TLS.KeyFile: open ")
	writeFile(t, keyFile, pemOf(t, newKey(t)))
	_, err = r.Get(t.Context(), web)
	wantErr(t, err, "load the client certificate: ")

	for _, user := range []string{"first", "second"} {
		as(user)
		c.Close()
		must[*Slim](t)(r.Get(t.Context(), web))
	}
	cert, key := ca.issue(t, "third")
	data := dial(t, client.Config{Server: srv.URL, Proxy: noProxy, TLS: client.TLS{
		CAData: client.Secret(ca.pem), CertData: client.Secret(cert), KeyData: client.Secret(key), CertFile: certFile, KeyFile: keyFile,
	}})
	must[*Slim](t)(client.For(data, slims).Get(t.Context(), web))
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(users, " "); got != "first second third" {
		t.Errorf("the server met %q", got)
	}
}

func TestHTTP2IsUsedWhereTheServerHasIt(t *testing.T) {
	ca := newAuthority(t)
	proto := make(chan string, 1)
	srv := startTLS(t, ca, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto <- r.Proto
		answer{body: object("a", "1")}.write(w)
	}), nil)
	c := dial(t, client.Config{Server: srv.URL, TLS: client.TLS{CAData: client.Secret(ca.pem)}, Proxy: noProxy})
	must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	if got := <-proto; got != "HTTP/2.0" {
		t.Errorf("the request came by %s", got)
	}
}

// guarantee S1, behaviour 135, CVE-2022-3172
func TestRedirectsStayWithinTheOrigin(t *testing.T) {
	const token = "t0k3n"
	ca := newAuthority(t)
	foreign := func(t *testing.T) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			t.Errorf("a foreign server got %s %s with Authorization %q", r.Method, r.URL, r.Header.Get("Authorization"))
			answer{body: object("a", "1")}.write(w)
		})
	}
	get := func(ctx context.Context, r client.Resource[*Slim]) error { _, err := r.Get(ctx, web); return err }
	for _, test := range []struct {
		name string
		to   func(t *testing.T, self string) string // where the first answer leads
		code int
		do   func(ctx context.Context, r client.Resource[*Slim]) error
		want string // empty: it is followed
	}{
		{"another path", func(_ *testing.T, self string) string { return self + "/elsewhere" }, 302, get, ""},
		{"a relative path", func(*testing.T, string) string { return "/elsewhere" }, 307, get, ""},
		{"a list", func(*testing.T, string) string { return "/elsewhere?list" }, 308, func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.List(ctx, client.ListOptions{})
			return err
		}, ""},
		{
			"a user of the server's choice",
			func(_ *testing.T, self string) string {
				return strings.Replace(self, "https://", "https://admin:pass@", 1) + "/elsewhere"
			}, 302,
			get, "server redirects to a URL with a user, which would replace the client's credentials",
		},
		{
			"another port", func(t *testing.T, _ string) string { return startTLS(t, ca, foreign(t), nil).URL }, 302,
			get, "is not its own origin",
		},
		{
			"another host",
			func(_ *testing.T, self string) string { return strings.Replace(self, "127.0.0.1", "localhost", 1) },
			307, get, `server redirects to "https://localhost:`,
		},
		{
			"plain http",
			func(_ *testing.T, self string) string { return strings.Replace(self, "https:", "http:", 1) }, 301, get,
			`server redirects to "http://`,
		},
		{
			"another scheme", func(*testing.T, string) string { return "file:///etc/passwd" }, 302, get,
			`server redirects to "file://"`,
		},
		{"nowhere", func(*testing.T, string) string { return "" }, 302, get, "(302)"},
		{"no URL", func(*testing.T, string) string { return "https://%zz" }, 302, get, "failed to parse Location header"},
		{"itself", func(_ *testing.T, self string) string { return self + "/again" }, 302, get, "more than 10 times"},
		{"a watch to another port", func(t *testing.T, _ string) string { return startTLS(t, ca, foreign(t), nil).URL }, 307, func(ctx context.Context, r client.Resource[*Slim]) error {
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				return err
			}
			return nil
		}, "is not its own origin"},
		{"a create", func(*testing.T, string) string { return "/elsewhere" }, 307, func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.Create(ctx, &Slim{Identity: meta.Identity{Namespace: "web"}})
			return err
		}, "server redirects a POST request; only GET requests are redirected"},
		{"a create as a GET", func(*testing.T, string) string { return "/elsewhere" }, 303, func(ctx context.Context, r client.Resource[*Slim]) error {
			_, err := r.Create(ctx, &Slim{Identity: meta.Identity{Namespace: "web"}})
			return err
		}, "server redirects a POST request; only GET requests are redirected"},
		{"a delete", func(*testing.T, string) string { return "/elsewhere" }, 308, func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		}, "server redirects a DELETE request; only GET requests are redirected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var location string
			srv := startTLS(t, ca, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+token {
					t.Errorf("%s came with Authorization %q", r.URL, got)
				}
				switch {
				case r.URL.Path != "/elsewhere":
					if location != "" {
						w.Header().Set("Location", location)
					}
					w.WriteHeader(test.code)
				case r.URL.RawQuery == "list":
					answer{body: listOf("1", "")}.write(w)
				default:
					answer{body: object("a", "1")}.write(w)
				}
			}), nil)
			location = test.to(t, srv.URL)
			c := dial(t, client.Config{Server: srv.URL, TLS: client.TLS{CAData: client.Secret(ca.pem)}, BearerToken: token, Proxy: noProxy})
			err := test.do(t.Context(), client.For(c, slims))
			switch {
			case test.want != "":
				wantErr(t, err, test.want)
			case err != nil:
				t.Error(err)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Errorf("error shows the token: %v", err)
			}
		})
	}
}

// guarantee S1: a replay follows a redirect no further than the first attempt, with what wraps the transport too.
func TestAReplayDoesNotLeaveTheOrigin(t *testing.T) {
	foreign := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a foreign server got %s with %v", r.URL, r.Header)
	}))
	var got []string
	cfg := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		switch len(got) {
		case 1:
			w.WriteHeader(http.StatusUnauthorized)
		case 2:
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		default:
			http.Redirect(w, r, strings.Replace(foreign.Server, ":80", ":81", 1)+"/x", http.StatusTemporaryRedirect)
		}
	}))
	cfg.Credentials = client.NewCredentials((&mint{}).fetch)
	wrapped := 0
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			wrapped++
			return next.RoundTrip(r)
		})
	}
	_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
	wantErr(t, err, "is not its own origin")
	if s := strings.Join(got, ", "); s != "Bearer t1, Bearer t2, Bearer t2" || wrapped != 3 {
		t.Errorf("the server got %s, and the wrapper %d requests", s, wrapped)
	}
}

// behaviour 75: the proxy that is configured is used, and the token is for the server only.
func TestProxies(t *testing.T) {
	ca := newAuthority(t)
	srv := startTLS(t, ca, says(object("a", "1")), nil)
	connects := make(chan *http.Request, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connects <- r
		up, err := net.Dial("tcp", r.Host)
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
	}))
	defer proxy.Close()
	c := dial(t, client.Config{
		Server: srv.URL, BearerToken: "t0k3n", TLS: client.TLS{CAData: client.Secret(ca.pem)},
		Proxy: func(*http.Request) (*url.URL, error) {
			u, err := url.Parse(proxy.URL)
			u.User = url.UserPassword("me", "pr0xy")
			return u, err
		},
	})
	must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	r := <-connects
	if r.Method != http.MethodConnect || "https://"+r.Host != srv.URL {
		t.Errorf("the proxy got %s %s", r.Method, r.Host)
	}
	if r.Header.Get("Authorization") != "" || !strings.HasPrefix(r.Header.Get("Proxy-Authorization"), "Basic ") {
		t.Errorf("the proxy got the headers %v", r.Header)
	}
	c.Close()

	failing := dial(t, client.Config{Server: srv.URL, Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy today") }})
	_, err := client.For(failing, slims).Get(t.Context(), web)
	wantErr(t, err, "no proxy today")
}

package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

var namespaces = client.Type[*configMap]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}

// signIn loads a kubeconfig for the server whose plugin prints the answers, one in each run, and returns a client and a
// function that counts the runs.
func signIn(t *testing.T, server *clienttest.Server, answers ...[]byte) (client.Resource[*configMap], func() int) {
	t.Helper()
	dir := t.TempDir()
	for i, answer := range answers {
		write(t, filepath.Join(dir, fmt.Sprint(i+1)), string(answer))
	}
	config := server.Config()
	file := write(t, filepath.Join(dir, "config"), one(
		fmt.Sprintf("server: %q, certificate-authority-data: %s", config.Server, base([]byte(config.TLS.CAData))),
		stanzaOf(t, "answers", "", dir)))
	l, err := Load(Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	l.Config.Dial = config.Dial
	c, err := client.New(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return client.For(c, namespaces), func() int {
		runs, err := os.ReadFile(filepath.Join(dir, "runs"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		return len(runs)
	}
}

// together calls Get many times at once, and fails the test with the errors.
func together(t *testing.T, r client.Resource[*configMap]) {
	t.Helper()
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := r.Get(t.Context(), meta.Key{Name: "default"}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

// behaviour 114, behaviour 115
func TestAClientRunsItsPluginWhenItNeedsTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{TLS: true})
		var want atomic.Value // the token that the server accepts
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.Header.Get("Authorization") == "Bearer "+want.Load().(string) {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		})
		ends := time.Now().Add(10 * time.Minute)
		r, runs := signIn(t, server,
			printed(v1, status{"token": "first", "expirationTimestamp": ends}), []byte(printToken(v1, "second")), []byte(printToken(v1, "third")))
		if runs() != 0 {
			t.Error("it runs before a credential is needed")
		}
		want.Store("first")
		together(t, r)
		if n := runs(); n != 1 {
			t.Errorf("%d runs for the first requests", n)
		}
		// The credential expires, and the next one is used before the server says so.
		time.Sleep(time.Until(ends))
		want.Store("second")
		together(t, r)
		if n := runs(); n != 2 {
			t.Errorf("%d runs after the first credential has expired", n)
		}
		// It is refused, which nobody notices.
		time.Sleep(time.Minute)
		want.Store("third")
		together(t, r)
		if n := runs(); n != 3 {
			t.Errorf("%d runs after the second credential was refused", n)
		}
	})
}

// behaviour 117: the error of the request is that of the plugin.
func TestARequestSaysWhyItsPluginHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{TLS: true})
		r, _ := signIn(t, server)
		_, err := r.Get(t.Context(), meta.Key{Name: "default"})
		failed := (*PluginError)(nil)
		if !errors.As(err, &failed) || !strings.HasSuffix(err.Error(), ": ended with exit status 1: no answer 1") {
			t.Errorf("error is %v", err)
		}
		if n := server.Requests(); len(n) != 0 {
			t.Errorf("the server was asked: %v", n)
		}
	})
}

// behaviour 122, as far as it is a plugin's: new connections are made with the certificate of the latest run.
func TestAClientUsesTheCertificateOfTheLatestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{TLS: true})
		var seen, refused atomic.Value
		seen.Store("")
		refused.Store("")
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			who := "nobody"
			if certs := r.TLS.PeerCertificates; len(certs) > 0 {
				who = certs[0].Subject.CommonName
			}
			if seen.Store(who); who != refused.Load() {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		})
		answer := func(user string) []byte {
			cert, key := server.ClientCertificate(user)
			return printed(v1, status{"clientCertificateData": string(cert), "clientKeyData": string(key)})
		}
		r, runs := signIn(t, server, answer("anna"), answer("berta"))
		together(t, r)
		if seen.Load() != "anna" || runs() != 1 {
			t.Errorf("server saw %v after %d runs", seen.Load(), runs())
		}
		refused.Store("anna")
		together(t, r)
		if seen.Load() != "berta" || runs() != 2 {
			t.Errorf("server saw %v after %d runs", seen.Load(), runs())
		}
	})
}

// The error of a call that ended while a plugin ran was that of its context, and named nothing; one of a credential that had
// expired did not say whose it was.
func TestErrorsOfCallsNameTheirPlugin(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{TLS: true})
	t.Run("a context that ends", func(t *testing.T) {
		calls, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer calls.Close()
		config := server.Config()
		file := write(t, filepath.Join(t.TempDir(), "config"), one(
			fmt.Sprintf("server: %q, certificate-authority-data: %s", config.Server, base([]byte(config.TLS.CAData))),
			stanzaOf(t, "wait", "", calls.Addr().String())))
		l, err := Load(Options{Path: file})
		if err != nil {
			t.Fatal(err)
		}
		l.Config.Dial = config.Dial
		c, err := client.New(l.Config)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runs := make(chan net.Conn, 1)
		go func() {
			defer close(runs)
			conn, err := calls.Accept() // the plugin calls, and waits
			if err != nil {
				t.Error(err)
				return
			}
			runs <- conn
			cancel()
		}()
		_, err = client.For(c, namespaces).Get(ctx, meta.Key{Name: "default"})
		_ = calls.Close() // who has not called will not
		if conn := <-runs; conn != nil {
			defer conn.Close()
		}
		self, _ := os.Executable()
		want := fmt.Sprintf(`get namespaces "default": get a credential: wait for the plugin %q of kubeconfig %s: users["u"].exec: context canceled`, self, file)
		if err == nil || err.Error() != want || !errors.Is(err, context.Canceled) {
			t.Errorf("error is\n%v, want\n%s", err, want)
		}
		if n := server.Requests(); len(n) != 0 {
			t.Errorf("the server was asked: %v", n)
		}
	})
	t.Run("a credential that has expired here", func(t *testing.T) {
		var stale []error
		r, _ := signIn(t, server, printed(v1, status{"token": "old", "expirationTimestamp": "2020-01-02T03:04:05Z"}))
		_, err := r.Get(client.WithHooks(t.Context(), client.Hooks{Stale: func(_ context.Context, err error) { stale = append(stale, err) }}), meta.Key{Name: "default"})
		if err != nil {
			t.Errorf("the server takes it, and the error is %v", err)
		}
		if len(stale) != 1 || !regexp.MustCompile(`credential from the plugin ".+" of kubeconfig .+: users\["u"\]\.exec expired at 2020-01-02T03:04:05Z, and the time here is `).MatchString(stale[0].Error()) {
			t.Errorf("told %v", stale)
		}
	})
}

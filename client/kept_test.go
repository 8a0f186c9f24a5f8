package client_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
)

// mount is a file system whose server may go away: then a read lasts until it is back, and brings what there was.
type mount struct {
	mu    sync.Mutex // guards the rest
	gone  chan struct{}
	reads int // under way
	most  int // reads at the same time
}

func (m *mount) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone, m.most = make(chan struct{}), 0
}

func (m *mount) back() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.gone)
	m.gone = nil
}

func (m *mount) open(name string) ([]byte, error) {
	m.mu.Lock()
	gone := m.gone
	m.reads++
	m.most = max(m.most, m.reads)
	m.mu.Unlock()
	b, err := os.ReadFile(name)
	if gone != nil {
		<-gone
	}
	m.mu.Lock()
	m.reads--
	m.mu.Unlock()
	return b, err
}

// together returns how many reads were under way at the same time since leave.
func (m *mount) together() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.most
}

// endsAfter calls get with a context that ends after limit, and fails the test unless the call ends then, for that reason, and
// names what was waited for.
func endsAfter(t *testing.T, limit time.Duration, get func(context.Context) error, named string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	err := get(ctx)
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != limit {
		t.Errorf("error after %v is %v, want that of the context after %v", took, err, limit)
	}
	wantErr(t, err, named)
}

// A token on a mount whose server was gone held every call, past its context, because it was read under a lock. It holds
// only those that have no token yet, until their contexts end.
func TestCallsDoNotWaitForATokenFilePastTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, m, srv := filepath.Join(t.TempDir(), "token"), &mount{}, &tokens{}
		writeFile(t, file, []byte("one"))
		cfg := serve(t, srv)
		cfg.BearerTokenFile = file
		c := dial(t, cfg)
		c.OpenWith(m.open)
		r := client.For(c, slims)
		get := func(ctx context.Context) error { return drop(r.Get(ctx, web)) }

		m.leave()
		var calls sync.WaitGroup
		for _, limit := range []time.Duration{time.Second, 5 * time.Second, 7 * time.Second} {
			calls.Go(func() {
				endsAfter(t, limit, get, "read Config.BearerTokenFile: "+file+": the system has not answered for "+limit.String())
			})
		}
		calls.Wait()
		c.Close() // nor is it held
		if n := m.together(); n != 1 || len(srv.got) != 0 {
			t.Errorf("%d reads at once, and the server got %q", n, srv.got)
		}
		calls.Go(func() { // waits until the mount is back
			if err := get(t.Context()); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		m.back()
		calls.Wait()
		if got := srv.last(); got != "Bearer one" {
			t.Errorf("the server got %q", got)
		}
	})
}

// A call without a deadline was held for good.
func TestAFileThatIsNotReadIsAnErrorAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, m := filepath.Join(t.TempDir(), "token"), &mount{}
		cfg := serve(t, &tokens{})
		cfg.BearerTokenFile, cfg.Retry = file, client.Retry{Attempts: 1}
		c := dial(t, cfg)
		c.OpenWith(m.open)
		m.leave()
		start := time.Now()
		err := drop(client.For(c, slims).Get(t.Context(), web))
		wantErr(t, err, "read Config.BearerTokenFile: "+file+": the system has not answered for 30s")
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("took %v", took)
		}
		m.back()
	})
}

// A token that had been read was of no use while it was read again. It is used, after a second, and somebody is told.
func TestATokenIsUsedWhileItsFileIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, m, srv := filepath.Join(t.TempDir(), "token"), &mount{}, &tokens{}
		writeFile(t, file, []byte("one"))
		cfg := serve(t, srv)
		cfg.BearerTokenFile = file
		var stale []string
		cfg.Hooks.Stale = func(_ context.Context, err error) { stale = append(stale, err.Error()) }
		c := dial(t, cfg)
		c.OpenWith(m.open)
		r := client.For(c, slims)
		send := func(want string, wait time.Duration) {
			t.Helper()
			start := time.Now()
			must[*Slim](t)(r.Get(t.Context(), web))
			if got, took := srv.last(), time.Since(start); got != "Bearer "+want || took != wait {
				t.Errorf("the server got %q after %v, want %s after %v", got, took, want, wait)
			}
		}
		send("one", 0)
		m.leave()
		time.Sleep(time.Minute)
		send("one", time.Second) // waits for the read, and not again
		send("one", 0)
		time.Sleep(20 * time.Second)
		send("one", 0)
		if want := "read Config.BearerTokenFile: " + file + ": the system has not answered for 1s"; len(stale) != 1 || stale[0] != want {
			t.Errorf("told %q, want %s", stale, want)
		}
		time.Sleep(time.Minute)
		send("one", 0)
		if len(stale) != 2 {
			t.Errorf("told %q", stale)
		}
		// The token is refused, and whether there is another cannot be read.
		srv.mu.Lock()
		srv.refused = "Bearer one"
		srv.mu.Unlock()
		if err := drop(r.Get(t.Context(), web)); err == nil {
			t.Error("a refused token is no error")
		}
		// The read that began before the refusal brings the refused token. It is not sent again: the file is read once more.
		writeFile(t, file, []byte("two"))
		m.back()
		synctest.Wait()
		sent := len(srv.got)
		send("two", 0)
		if n := len(srv.got) - sent; n != 1 {
			t.Errorf("the server got %d requests", n)
		}
		if n := m.together(); n != 1 {
			t.Errorf("%d reads at once", n)
		}
	})
}

// Certificates and authorities held every call in the same way, those for which a certificate was there too.
func TestCallsDoNotWaitForCertificateFilesPastTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, srv, m := newAuthority(t), &people{}, &mount{}
		cfg, _ := serveOver(t, http2, srv, asksForCertificates)
		dir := t.TempDir()
		cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		cert, key := ca.issue(t, "first")
		swap(t, dir, 1, map[string][]byte{"tls.crt": cert, "tls.key": key})
		var stale []string
		cfg.Hooks.Stale = func(_ context.Context, err error) { stale = append(stale, err.Error()) }
		c := dial(t, cfg)
		c.OpenWith(m.open)
		r := client.For(c, slims)
		get := func(ctx context.Context) error { return drop(r.Get(ctx, web)) }
		trust := func(ctx context.Context) error { return drop(c.Trust(ctx)) }

		m.leave()
		var calls sync.WaitGroup
		held := "read TLS.CertFile: " + cfg.TLS.CertFile + ": the system has not answered for "
		calls.Go(func() { endsAfter(t, time.Second, get, held+"1s") })
		calls.Go(func() { endsAfter(t, 5*time.Second, get, held+"5s") })
		calls.Go(func() { endsAfter(t, 3*time.Second, trust, held+"3s") })
		calls.Wait()
		c.Close()
		m.back()
		synctest.Wait()
		if err := get(t.Context()); err != nil || srv.all() != "first" {
			t.Errorf("error is %v", err)
		}

		// The next read hangs, and what is there is used.
		m.leave()
		cert, key = ca.issue(t, "second")
		swap(t, dir, 2, map[string][]byte{"tls.crt": cert, "tls.key": key})
		time.Sleep(time.Minute)
		start := time.Now()
		for range 3 {
			calls.Go(func() {
				if err := get(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if took, got := time.Since(start), srv.all(); took != time.Second || got != "first first first" {
			t.Errorf("the server met %s after %v", got, took)
		}
		if err := get(t.Context()); err != nil || time.Since(start) != time.Second {
			t.Errorf("after %v, error is %v", time.Since(start), err)
		}
		if len(stale) != 1 || !strings.HasPrefix(stale[0], held) {
			t.Errorf("told %q", stale)
		}
		m.back()
		synctest.Wait()
		srv.all()
		if err := get(t.Context()); err != nil || srv.all() != "second" {
			t.Errorf("the new certificate is not used; error is %v", err)
		}
		if n := m.together(); n != 1 {
			t.Errorf("%d reads at once", n)
		}
	})
}

// A request whose context had ended read its files first.
func TestARequestOfAnEndedContextReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := serve(t, http.NotFoundHandler())
		cfg.BearerTokenFile = "/t"
		c := dial(t, cfg)
		c.OpenWith(func(name string) ([]byte, error) {
			t.Errorf("opened %s", name)
			return nil, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := drop(client.For(c, slims).Get(ctx, web)); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		synctest.Wait() // a read would have begun
	})
}

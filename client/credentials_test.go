package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// mint hands out tokens t1, t2 and so on, each good for the same time.
type mint struct {
	life time.Duration // 0 = for good
	hold chan struct{} // where set, a fetch waits for it

	mu      sync.Mutex // guards the rest
	fetches []time.Time
	bad     error // what a fetch returns instead
	running int
}

func (m *mint) fetch(ctx context.Context) (client.Credential, error) {
	m.mu.Lock()
	if m.running++; m.running > 1 {
		panic("two fetches at once")
	}
	m.fetches = append(m.fetches, time.Now())
	n, err := len(m.fetches), m.bad
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.running--
		m.mu.Unlock()
	}()
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return client.Credential{}, context.Cause(ctx)
		}
	}
	c := client.Credential{Token: client.Secret(fmt.Sprintf("t%d", n))}
	if m.life > 0 {
		c.Expires = time.Now().Add(m.life)
	}
	return c, err
}

func (m *mint) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bad = err
}

func (m *mint) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.fetches)
}

// refuse makes the server refuse a token.
func (s *tokens) refuse(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = "Bearer " + token
}

func (s *tokens) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := strings.Join(s.got, " ")
	s.got = nil
	return strings.ReplaceAll(got, "Bearer ", "")
}

// minted runs a test in a bubble with a client whose tokens are of m.
func minted(t *testing.T, m *mint, f func(t *testing.T, srv *tokens, cfg client.Config, r client.Resource[*Slim])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := &tokens{}
		cfg := serve(t, srv)
		cfg.Credentials = client.NewCredentials(m.fetch)
		f(t, srv, cfg, client.For(dial(t, cfg), slims))
	})
}

// behaviour 114
func TestManyRequestsShareOneFetch(t *testing.T) {
	m := &mint{}
	minted(t, m, func(t *testing.T, srv *tokens, _ client.Config, r client.Resource[*Slim]) {
		m.hold = make(chan struct{})
		get := func() {
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if _, err := r.Get(t.Context(), web); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if m.hold != nil {
				close(m.hold)
			}
			all.Wait()
		}
		get()
		if got := srv.all(); got != strings.TrimSpace(strings.Repeat("t1 ", 20)) || m.count() != 1 {
			t.Errorf("the server got %s after %d fetches", got, m.count())
		}
		// A refusal of all of them is one refusal.
		m.hold = nil
		srv.refuse("t1")
		get()
		if got := srv.all(); strings.Count(got, "t2") != 20 || strings.Contains(got, "t3") || m.count() != 2 {
			t.Errorf("the server got %s after %d fetches", got, m.count())
		}
	})
}

func TestACredentialIsRefreshedBeforeItExpires(t *testing.T) {
	for _, test := range []struct {
		life, kept time.Duration // how long no other is looked for
	}{
		{time.Hour, 48 * time.Minute},
		{10 * time.Minute, 8 * time.Minute},
		{3 * time.Minute, 2 * time.Minute},
		{time.Minute, 30 * time.Second},
		{10 * time.Second, 5 * time.Second},
	} {
		t.Run(test.life.String(), func(t *testing.T) {
			m := &mint{life: test.life}
			minted(t, m, func(t *testing.T, srv *tokens, _ client.Config, r client.Resource[*Slim]) {
				must[*Slim](t)(r.Get(t.Context(), web))
				time.Sleep(test.kept - time.Second)
				must[*Slim](t)(r.Get(t.Context(), web))
				if m.count() != 1 {
					t.Error("another was fetched too soon")
				}
				time.Sleep(time.Second)
				m.hold = make(chan struct{})
				for range 3 {
					must[*Slim](t)(r.Get(t.Context(), web)) // by the old one, which waits for nothing
				}
				synctest.Wait()
				close(m.hold)
				synctest.Wait()
				must[*Slim](t)(r.Get(t.Context(), web))
				if got := srv.all(); got != "t1 t1 t1 t1 t1 t2" || m.count() != 2 {
					t.Errorf("the server got %s after %d fetches", got, m.count())
				}
				// Nobody asks for long: the next waits for another.
				m.hold = nil
				time.Sleep(10 * test.life)
				must[*Slim](t)(r.Get(t.Context(), web))
				if got := srv.all(); got != "t3" || m.count() != 3 {
					t.Errorf("the server got %s after %d fetches", got, m.count())
				}
			})
		})
	}
}

func TestARefreshThatFailsLeavesTheOldCredential(t *testing.T) {
	m := &mint{life: time.Hour}
	minted(t, m, func(t *testing.T, srv *tokens, cfg client.Config, _ client.Resource[*Slim]) {
		var mu sync.Mutex
		var stale []string
		type key struct{}
		cfg.Hooks.Stale = func(ctx context.Context, err error) {
			mu.Lock()
			defer mu.Unlock()
			stale = append(stale, fmt.Sprint(ctx.Value(key{}), ": ", err))
		}
		r := client.For(dial(t, cfg), slims)
		ctx := context.WithValue(t.Context(), key{}, "mine")
		must[*Slim](t)(r.Get(ctx, web))
		time.Sleep(50 * time.Minute)
		m.fail(errors.New("the vault is sealed"))
		start := time.Now()
		for range 590 { // each second until shortly before the end
			must[*Slim](t)(r.Get(ctx, web))
			time.Sleep(time.Second)
		}
		var after []string
		for _, at := range m.fetches[1:] {
			after = append(after, at.Sub(start).String())
		}
		if got := strings.Join(after, " "); got != "0s 10s 30s 1m10s 2m30s 4m30s 6m30s 8m30s" {
			t.Errorf("fetched after %s", got)
		}
		mu.Lock()
		if len(stale) != len(after) || stale[0] != "mine: get a credential: the vault is sealed" {
			t.Errorf("told %q", stale)
		}
		told := len(stale)
		mu.Unlock()

		// It is past its end, by this clock. The server's may be another, and decides.
		time.Sleep(time.Minute)
		srv.all()
		must[*Slim](t)(r.Get(ctx, web))
		synctest.Wait() // for the fetch that the request began, and does not wait for
		if got := srv.all(); got != "t1" {
			t.Errorf("the server got %s", got)
		}
		mu.Lock()
		if len(stale) != told+1 {
			t.Errorf("told %q of the end", stale[told:])
		}
		mu.Unlock()
		srv.refuse("t1")
		// The source is not hammered, and recovers.
		start, before := time.Now(), m.count()
		for range 60 {
			_, err := r.Get(ctx, web)
			wantErr(t, err, "get a credential: the vault is sealed; the last credential expired at 2000-01-01T01:00:00Z, and the server refuses it")
			is[*client.CredentialError](t, err)
			time.Sleep(time.Second)
		}
		if n := m.count() - before; n < 5 || n > 12 {
			t.Errorf("%d fetches in %v", n, time.Since(start))
		}
		m.fail(nil)
		time.Sleep(5 * time.Second)
		must[*Slim](t)(r.Get(ctx, web))
	})
}

// fault F28; any verb may be sent again, because 401 means that nothing was done.
func TestARefusedCredentialIsFetchedAnewAndTheRequestReplayed(t *testing.T) {
	m := &mint{}
	minted(t, m, func(t *testing.T, srv *tokens, cfg client.Config, r client.Resource[*Slim]) {
		must[*Slim](t)(r.Get(t.Context(), web))
		srv.all()
		n := 1
		for name, do := range map[string]func() error{
			"get":    func() error { return drop(r.Get(t.Context(), web)) },
			"create": func() error { return drop(r.Create(t.Context(), &Slim{Identity: at(web)})) },
			"delete": func() error { return r.Delete(t.Context(), web, client.DeleteOptions{}) },
		} {
			time.Sleep(time.Minute)
			srv.refuse(fmt.Sprintf("t%d", n))
			if err := do(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got, want := srv.all(), fmt.Sprintf("t%d t%d", n, n+1); got != want || m.count() != n+1 {
				t.Errorf("%s: the server got %s after %d fetches, want %s", name, got, m.count(), want)
			}
			n++
		}
	})
}

// lateRefusal holds the first request back until it is released.
type lateRefusal struct {
	tokens
	sent    atomic.Int64
	release chan struct{}
}

func (s *lateRefusal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.sent.Add(1) == 1 {
		<-s.release
	}
	s.tokens.ServeHTTP(w, r)
}

// A refusal says something of the token that was sent, and nothing of the one that has taken its place since.
func TestALateRefusalDoesNotFetchAnotherToken(t *testing.T) {
	m := &mint{}
	synctest.Test(t, func(t *testing.T) {
		srv := &lateRefusal{release: make(chan struct{})}
		srv.refuse("t1")
		cfg := serve(t, srv)
		cfg.Credentials = client.NewCredentials(m.fetch)
		r := client.For(dial(t, cfg), slims)
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := r.Get(t.Context(), web); err != nil {
				t.Errorf("the request that was answered late: %v", err)
			}
		})
		synctest.Wait()
		must[*Slim](t)(r.Create(t.Context(), &Slim{Identity: at(web)}))
		time.Sleep(time.Minute)
		close(srv.release)
		first.Wait()
		if got := srv.all(); got != "t1 t2 t1 t2" || m.count() != 2 {
			t.Errorf("the server got %s after %d fetches, want t1 t2 t1 t2 after 2", got, m.count())
		}
	})
}

// A source that has nothing better is not asked for each request that is refused.
func TestRefusalsDoNotHammerTheSource(t *testing.T) {
	var fetches atomic.Int64
	for _, test := range []struct {
		name  string
		fetch func() (client.Credential, error)
		sent  int // for each fetch
	}{
		{"the same again", func() (client.Credential, error) { return client.Credential{Token: "same"}, nil }, 0},
		{"another that is refused too", func() (client.Credential, error) {
			return client.Credential{Token: client.Secret(fmt.Sprint("new", fetches.Load()))}, nil
		}, 1},
		{"nothing", func() (client.Credential, error) {
			if fetches.Load() > 1 {
				return client.Credential{}, errors.New("no more")
			}
			return client.Credential{Token: "first"}, nil
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fetches.Store(0)
				srv := answers(answer{code: 401, body: status(401, "Unauthorized", "who is that")})
				cfg := serve(t, srv)
				cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
					fetches.Add(1)
					return test.fetch()
				})
				r := client.For(dial(t, cfg), slims)
				const requests = 100
				for range requests {
					_, err := r.Get(t.Context(), web)
					wantErr(t, err, "who is that")
					if !errors.Is(err, apierrors.Unauthorized) {
						t.Errorf("error is %v", err)
					}
					time.Sleep(100 * time.Millisecond)
				}
				n := int(fetches.Load())
				if n != 3 {
					t.Errorf("%d fetches in 10 s, want the first, and two because of refusals", n)
				}
				if got, want := len(srv.all()), requests+test.sent*(n-1); got != want {
					t.Errorf("the server got %d requests, want %d", got, want)
				}
			})
		})
	}
}

// Whoever waits for a credential leaves when its context ends, and the last one takes the fetch along.
func TestWaitingForACredentialEndsWithTheContext(t *testing.T) {
	m := &mint{}
	minted(t, m, func(t *testing.T, srv *tokens, _ client.Config, r client.Resource[*Slim]) {
		m.hold = make(chan struct{})
		var all sync.WaitGroup
		for n := range 3 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n+1)*time.Second)
				defer cancel()
				start := time.Now()
				if _, err := r.Get(ctx, web); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Duration(n+1)*time.Second {
					t.Errorf("it took %v: %v", time.Since(start), err)
				}
			})
		}
		time.Sleep(2500 * time.Millisecond)
		m.mu.Lock()
		running := m.running
		m.mu.Unlock()
		all.Wait()
		synctest.Wait()
		m.mu.Lock()
		if running != 1 || m.running != 0 {
			t.Errorf("%d fetches with one who waits, %d after", running, m.running)
		}
		m.mu.Unlock()
		close(m.hold)
		must[*Slim](t)(r.Get(t.Context(), web)) // that nobody waited is no failure
		if got := srv.all(); got != "t2" {
			t.Errorf("the server got %s", got)
		}
	})
}

// A fetch that nobody waited for any more, and that has not returned yet, is none for a request that comes meanwhile. That
// request waits until it has returned, since there is one at a time, and for another one then: what the first brings, an error
// most likely, is because nobody wanted it.
func TestARequestAfterACancelledFetchGetsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &tokens{}
		cfg := serve(t, srv)
		fetches := 0
		cfg.Credentials = client.NewCredentials(func(ctx context.Context) (client.Credential, error) {
			if fetches++; fetches > 1 {
				return client.Credential{Token: client.Secret(fmt.Sprintf("t%d", fetches))}, nil
			}
			<-ctx.Done()
			time.Sleep(time.Second) // the rest of what it does
			return client.Credential{}, context.Cause(ctx)
		})
		r := client.For(dial(t, cfg), slims)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Get(ctx, web); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		time.Sleep(500 * time.Millisecond)
		must[*Slim](t)(r.Get(t.Context(), web))
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("the second request took until %v, want 2s, when the first fetch returns", got)
		}
		if got := srv.all(); got != "t2" || fetches != 2 {
			t.Errorf("the server got %q after %d fetches, want t2 after 2", got, fetches)
		}
	})
}

// A fetch that does not look at its context holds nobody up for longer than 15 minutes.
func TestAFetchThatHangsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		cfg := serve(t, &tokens{})
		cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			<-release
			return client.Credential{Token: "late"}, nil
		})
		r := client.For(dial(t, cfg), slims)
		start := time.Now()
		for range 2 { // the second finds the first one's fetch
			_, err := r.Get(t.Context(), web)
			wantErr(t, err, "get a credential: the fetch did not end within 15m0s")
			if errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 15*time.Minute {
				t.Errorf("after %v the error is %v", time.Since(start), err)
			}
		}
		close(release)
		synctest.Wait()
		must[*Slim](t)(r.Get(t.Context(), web))
	})
}

func TestABadCredentialIsAnError(t *testing.T) {
	for _, test := range []struct {
		name  string
		fetch func() (client.Credential, error)
		want  string
	}{
		{"nothing", func() (client.Credential, error) { return client.Credential{}, nil }, "the credential must have a Token or a Certificate"},
		// guarantee S9
		{"a header", func() (client.Credential, error) { return client.Credential{Token: "s3cr3t\r\nX: y"}, nil }, "the credential's Token must have no spaces or control characters"},
		{"no certificate", func() (client.Credential, error) {
			return client.Credential{Certificate: &tls.Certificate{}}, nil
		}, "the credential's Certificate: it is empty"},
		{"a certificate without its key", func() (client.Credential, error) {
			return client.Credential{Certificate: &tls.Certificate{Certificate: [][]byte{{1}}}}, nil
		}, "the credential's Certificate: it has no private key"},
		{"a panic", func() (client.Credential, error) { panic("s3cr3t") }, "fetch panicked at github.com/bowline-go/bowline/client_test.TestABadCredentialIsAnError"},
		{"an exit", func() (client.Credential, error) { runtime.Goexit(); panic("no") }, "fetch left by runtime.Goexit"},
		{"an error", func() (client.Credential, error) { return client.Credential{}, context.Canceled }, "context canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &tokens{}
				cfg := serve(t, srv)
				cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) { return test.fetch() })
				_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
				wantErr(t, err, "get a credential: "+test.want)
				is[*client.CredentialError](t, err)
				if err != nil && strings.Contains(err.Error(), "s3cr3t") {
					t.Errorf("error shows the secret: %v", err)
				}
				if errors.Is(err, context.Canceled) || len(srv.got) != 0 {
					t.Errorf("%d requests, and the error %v", len(srv.got), err)
				}
			})
		})
	}
}

// Close ends what runs for the client alone, waits for it, and leaves the credentials to the others.
func TestCloseEndsARefreshInTheBackground(t *testing.T) {
	m := &mint{life: time.Hour}
	minted(t, m, func(t *testing.T, srv *tokens, cfg client.Config, _ client.Resource[*Slim]) {
		one, other := dial(t, cfg), dial(t, cfg)
		get := func(c *client.Client) { must[*Slim](t)(client.For(c, slims).Get(t.Context(), web)) }
		running := func() int {
			synctest.Wait()
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.running
		}
		get(one)
		time.Sleep(50 * time.Minute)
		m.hold = make(chan struct{})
		get(one)
		if running() != 1 {
			t.Fatal("nothing is refreshed")
		}
		one.Close()
		m.mu.Lock()
		if m.running != 0 {
			t.Error("the refresh runs after Close")
		}
		m.mu.Unlock()
		get(one)
		get(other)
		one.Close()
		if running() != 1 {
			t.Error("the refresh is wanted by another client, and has ended")
		}
		close(m.hold)
		if running() != 0 {
			t.Error("it runs still")
		}
		get(one)
		get(other)
		if got := srv.all(); got != "t1 t1 t1 t1 t3 t3" {
			t.Errorf("the server got %s", got)
		}
	})
}

// behaviours 125 and 132: sharing is explicit, by the same Credentials.
func TestClientsShareCredentialsByThePointer(t *testing.T) {
	m := &mint{}
	minted(t, m, func(t *testing.T, srv *tokens, cfg client.Config, r client.Resource[*Slim]) {
		must[*Slim](t)(r.Get(t.Context(), web))
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		cfg.Credentials = client.NewCredentials(m.fetch)
		must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
		if got := srv.all(); got != "t1 t1 t2" {
			t.Errorf("the server got %s", got)
		}
	})
}

// behaviour 110
func TestAuthorizationOfTheCallerIsLeftAlone(t *testing.T) {
	file := t.TempDir() + "/token"
	writeFile(t, file, []byte("file"))
	m := &mint{}
	for name, identify := range map[string]func(*client.Config){
		"a token":      func(c *client.Config) { c.BearerToken = "mine" },
		"a token file": func(c *client.Config) { c.BearerTokenFile = file },
		"a password":   func(c *client.Config) { c.Username, c.Password = "me", "pass" },
		"Credentials":  func(c *client.Config) { c.Credentials = client.NewCredentials(m.fetch) },
	} {
		t.Run(name, func(t *testing.T) {
			srv := answers(answer{body: "{}"}, answer{code: 401, body: "no"})
			cfg := serve(t, srv)
			identify(&cfg)
			c := dial(t, cfg)
			r := client.RawRequest{Path: "/version", Header: http.Header{"Authorization": {"Negotiate abc"}}}
			resp := must[*http.Response](t)(c.Raw(t.Context(), r))
			_ = resp.Body.Close()
			if _, err := c.Raw(t.Context(), r); !errors.Is(err, apierrors.Unauthorized) { // which is not of ours
				t.Errorf("error is %v", err)
			}
			calls := srv.all()
			if got := calls[0].header["Authorization"]; len(got) != 1 || got[0] != "Negotiate abc" || len(calls) != 2 {
				t.Errorf("%d requests, with %q", len(calls), got)
			}
			if got := resp.Request.Header.Get("Authorization"); got != "Negotiate abc" {
				t.Errorf("the answer is for a request with %q", got)
			}
		})
	}
}

func TestBasicAuthentication(t *testing.T) {
	srv := says("{}")
	cfg := serve(t, srv)
	cfg.Username, cfg.Password = "jané", "pa:ss wörd"
	resp := must[*http.Response](t)(dial(t, cfg).Raw(t.Context(), client.RawRequest{Path: "/version"}))
	_ = resp.Body.Close()
	r := http.Request{Header: srv.one(t).header}
	if user, password, ok := r.BasicAuth(); !ok || user != cfg.Username || password != string(cfg.Password) {
		t.Errorf("the server got %q, %q, %v", user, password, ok)
	}
	if got := resp.Request.Header; got.Get("Authorization") != "" { // guarantee S2
		t.Errorf("the answer's request has %v", got)
	}
}

// A fetch that was told NotFound made a get that was never sent look as if its object were gone.
func TestAnErrorOfAFetchIsNotTheErrorOfTheRequest(t *testing.T) {
	cfg := serve(t, says(object("a", "1")))
	issuer := connect(t, answers(answer{code: 404, body: status(404, "NotFound", "no such account")}))
	cfg.Credentials = client.TokenCredentials(client.For(issuer, accounts), web, client.TokenOptions{})
	_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
	wantErr(t, err, `get configmaps "web/a": get a credential: create serviceaccounts/token "web/a": server said NotFound (404): no such account`)
	if errors.Is(err, apierrors.NotFound) {
		t.Error("the error says that the object is not there")
	}
	if cause := is[*client.CredentialError](t, err).Err; !errors.Is(cause, apierrors.NotFound) {
		t.Errorf("the cause is %v", cause)
	}
}

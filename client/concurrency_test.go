package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// server answers each get after a time, and counts how many are under way.
type server struct {
	takes time.Duration
	code  int

	mu        sync.Mutex // guards the rest
	now, most int
	names     []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.names = append(s.names, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
	takes, code := s.takes, s.code
	s.mu.Unlock()
	if !isWatch(r) {
		time.Sleep(takes)
	}
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	answer{code: code, body: object("a", "1")}.write(w)
}

func (s *server) set(takes time.Duration, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes, s.code, s.most = takes, code, 0
}

// many makes calls at once, and waits for them.
func many(ctx context.Context, r client.Resource[*Slim], n int) {
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() { _, _ = r.Get(ctx, web) })
	}
	calls.Wait()
}

func TestConcurrencyFollowsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{takes: 100 * time.Millisecond}
		limit := client.NewConcurrency(client.ConcurrencyOptions{Min: 3, Max: 60, Start: 10})
		cfg := serve(t, srv)
		cfg.Concurrency = limit
		r := client.For(dial(t, cfg), slims)

		if limit.Limit() != 10 || limit.InFlight() != 0 {
			t.Errorf("at first the bound is %d, with %d under way", limit.Limit(), limit.InFlight())
		}
		for range 1000 {
			_, _ = r.Get(t.Context(), web)
		}
		if got := limit.Limit(); got != 10 {
			t.Errorf("nobody needed more than one, and the bound is %d", got)
		}
		many(t.Context(), r, 30)
		if got := limit.Limit(); got < 11 || got > 13 || srv.most > got {
			t.Errorf("after three rounds the bound is %d, and %d were under way", got, srv.most)
		}
		many(t.Context(), r, 2500)
		if got := limit.Limit(); got != 60 || srv.most > 60 {
			t.Errorf("after many rounds the bound is %d, and %d were under way", got, srv.most)
		}

		srv.set(100*time.Millisecond, 429)
		many(t.Context(), r, 60)
		if got := limit.Limit(); got != 30 {
			t.Errorf("after a round of 429 the bound is %d, want half of 60", got)
		}
		many(t.Context(), r, 1000)
		if got := limit.Limit(); got != 3 {
			t.Errorf("after many rounds of 429 the bound is %d, want the least", got)
		}

		srv.set(100*time.Millisecond, 500)
		many(t.Context(), r, 300)
		if got := limit.Limit(); got < 10 {
			t.Errorf("the bound is %d, although nothing says that the server has too much to do", got)
		}
		was := limit.Limit()
		srv.set(time.Second, 200)
		many(t.Context(), r, 10*was)
		if got := limit.Limit(); got >= was || got < was/2 {
			t.Errorf("after rounds that took ten times as long, the bound is %d, and was %d", got, was)
		}
		if limit.InFlight() != 0 {
			t.Errorf("%d are under way", limit.InFlight())
		}
	})
}

// Who waits is let through in order, may give up, and is not held up by watches.
func TestWaitingForConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &server{takes: time.Second}
		cfg := serve(t, srv)
		cfg.Concurrency = client.NewConcurrency(client.ConcurrencyOptions{Max: 1})
		r, other := client.For(dial(t, cfg), slims), client.For(dial(t, cfg), slims)
		var calls sync.WaitGroup
		var want []string
		cause := errors.New("shutting down")
		for i := range 10 {
			ctx, cancel := context.WithCancelCause(t.Context())
			name := fmt.Sprint("a", i)
			if i == 4 {
				time.AfterFunc(2500*time.Millisecond, func() { cancel(cause) })
			} else {
				want = append(want, name)
			}
			calls.Go(func() {
				defer cancel(nil)
				_, err := r.Get(ctx, meta.Key{Namespace: "web", Name: name})
				switch {
				case i != 4 && err != nil:
					t.Error(err)
				case i == 4:
					wantErr(t, err, `get configmaps "web/a4": wait for Config.Concurrency: context canceled: shutting down`)
				}
			})
			synctest.Wait()
			r, other = other, r // they share it
		}
		if err := watch(t.Context(), r, client.WatchOptions{}); err == nil {
			t.Error("the server sent an object in place of events, and there is no error")
		}
		if got := cfg.Concurrency.InFlight(); got != 1 {
			t.Errorf("%d are under way", got)
		}
		calls.Wait()
		got := slices.DeleteFunc(srv.names, func(name string) bool { return name == "configmaps" })
		if !slices.Equal(got, want) || srv.most > 2 || cfg.Concurrency.InFlight() != 0 {
			t.Errorf("the server got %v, want %v", got, want)
		}
	})
}

// A list whose reader makes calls of its own does not wait for itself.
func TestACallWithinAListIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.Start(t, clienttest.Options{})
		cfg := srv.Config()
		cfg.Concurrency = client.NewConcurrency(client.ConcurrencyOptions{Max: 1})
		r := client.For(dial(t, cfg), slims)
		for i := range 5 {
			must[*Slim](t)(r.Create(t.Context(), &Slim{Identity: meta.Identity{Namespace: "default", Name: fmt.Sprint("a", i)}}))
		}
		n := 0
		for obj, err := range r.All(t.Context(), client.ListOptions{PageSize: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			must[*Slim](t)(r.Get(t.Context(), obj.Key()))
			n++
		}
		if n != 5 {
			t.Errorf("got %d objects", n)
		}
	})
}

// 503 counts where the server names a time, and an eviction's 429 does not: it is about a disruption budget.
func TestWhatTellsThatAServerIsBusy(t *testing.T) {
	for _, test := range []struct {
		name string
		o    outcome
		verb string
		want int
	}{
		{"429", outcome{answer: answer{code: 429}}, "get", 50},
		{"503 with Retry-After", busy(503, "1"), "get", 50},
		{"503", outcome{answer: answer{code: 503}}, "get", 100},
		{"500 with Retry-After", busy(500, "1"), "get", 100},
		{"a reset", outcome{err: reset}, "get", 100},
		{"429 to a list", outcome{answer: answer{code: 429}}, "list", 50},
		{"429 to a watch", outcome{answer: answer{code: 429}}, "watch", 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, _ := through(test.o)
				cfg.Retry.Attempts = 1
				cfg.Concurrency = client.NewConcurrency(client.ConcurrencyOptions{Start: 100})
				if _, err := readAs(t, test.verb, client.For(dial(t, cfg), slims)); err == nil {
					t.Error("no error")
				}
				if got := cfg.Concurrency.Limit(); got != test.want {
					t.Errorf("the bound is %d, want %d", got, test.want)
				}
			})
		})
	}
}

// Requests that waited for a token held every slot, and the request for the token waited for one of them.
func TestAFetchDoesNotWaitForThoseThatWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := client.NewConcurrency(client.ConcurrencyOptions{Max: 1})
		issuer := serve(t, answers(answer{code: 201, body: `{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",` +
			`"status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}}`}))
		cfg := serve(t, says(object("a", "1")))
		issuer.Concurrency, cfg.Concurrency = shared, shared
		cfg.Credentials = client.TokenCredentials(client.For(dial(t, issuer), accounts), web, client.TokenOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := client.For(dial(t, cfg), slims).Get(ctx, web); err != nil {
			t.Error(err)
		}
		if n := shared.InFlight(); n != 0 {
			t.Errorf("%d are under way", n)
		}
	})
}

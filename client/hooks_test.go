package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheHookSeesEachExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newRow(t, unknownFields)
		srv.before = func(s *row) {
			if len(s.puts) == 1 {
				s.touch()
			}
		}
		cfg := serve(t, srv)
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "here")
		var seen []string
		var last client.RequestInfo
		cfg.Hooks.Request = func(ctx context.Context, r client.RequestInfo) {
			if ctx.Value(key{}) != "here" {
				t.Error("the hook has another context than the call")
			}
			seen, last = append(seen, fmt.Sprintf("%s %s %s %d", r.Verb, r.Method, r.Key, r.Code)), r
		}
		inner, refuse := cfg.Dial, false
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(3 * time.Second)
			if refuse {
				return nil, errors.New("no network")
			}
			return inner(ctx, network, address)
		}
		c := dial(t, cfg)
		r := client.For(c, slims)
		must[*Slim](t)(r.Modify(ctx, web, func(obj *Slim) error { obj.Data["k"] = "new"; return nil }))
		want := "get GET web/a 200, update PUT web/a 409, get GET web/a 200, update PUT web/a 200"
		if got := strings.Join(seen, ", "); got != want {
			t.Errorf("saw %s\nwant %s", got, want)
		}
		if last.Resource != slims.GVR() || last.Err != nil {
			t.Errorf("saw %+v", last)
		}

		_, _ = r.Status().Get(ctx, web) // this server knows no status
		if last.Subresource != "status" || last.Key != web {
			t.Errorf("saw %+v of a subresource", last)
		}

		refuse = true
		c.Close()
		_, err := r.List(ctx, client.ListOptions{Namespace: "web"})
		if err == nil || last.Verb != "list" || last.Code != 0 || last.Duration != 3*time.Second || last.Err == nil || last.Err.Error() != "no network" {
			t.Errorf("saw %+v of %v", last, err)
		}
		if last.Key != (meta.Key{Namespace: "web"}) {
			t.Errorf("saw the key %v", last.Key)
		}
	})
}

func TestTheLoggerGetsOneLineForEachRequest(t *testing.T) {
	for level, want := range map[int]int{5: 0, 6: 2} {
		var mu sync.Mutex
		var lines []string
		cfg := serve(t, says(listOf("5", "c1", object("a", "1")), listOf("5", "", object("b", "1"))))
		cfg.BearerToken = "t0k3n"
		cfg.Logger = funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, args)
		}, funcr.Options{Verbosity: level})
		must[meta.List[*Slim]](t)(client.For(dial(t, cfg), slims).List(t.Context(), client.ListOptions{}))
		if len(lines) != want {
			t.Errorf("at verbosity %d there are %d lines, want %d: %q", level, len(lines), want, lines)
		}
		for _, line := range lines {
			if !strings.Contains(line, `"verb"="list"`) || !strings.Contains(line, "configmaps") || !strings.Contains(line, `"code"=200`) || strings.Contains(line, "t0k3n") {
				t.Errorf("a line is %s", line)
			}
		}
	}
}

func TestHooksOfAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		fails := 2
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			if fails > 0 {
				fails--
				return clienttest.TooManyRequests(time.Second)
			}
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Warning", `299 - "old"`)
				server.ServeHTTP(w, r)
			}
		})
		type depth struct{}
		var said []string
		hooks := func(name string) client.Hooks {
			return client.Hooks{
				Call: func(ctx context.Context, r client.RequestInfo) (context.Context, func(error)) {
					n, _ := ctx.Value(depth{}).(int)
					said = append(said, fmt.Sprintf("%s begins %s %s to %s at depth %d", name, r.Verb, r.Resource.Resource, r.Host, n))
					return context.WithValue(ctx, depth{}, n+1), func(err error) {
						said = append(said, fmt.Sprintf("%s ends: %v", name, err))
					}
				},
				Request: func(ctx context.Context, r client.RequestInfo) {
					said = append(said, fmt.Sprintf("%s request %d: %d after %v at depth %d", name, r.Attempt, r.Code, r.Waited, ctx.Value(depth{})))
				},
				Retry: func(_ context.Context, r client.RequestInfo) {
					said = append(said, fmt.Sprintf("%s retry %d", name, r.Attempt))
				},
				Warning: func(_ context.Context, w client.Warning) { said = append(said, name+" warning "+w.Text) },
			}
		}
		cfg := server.Config()
		cfg.Hooks = hooks("config")
		cfg.Limiter = rate.NewLimiter(rate.Every(5*time.Second), 1)
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx := client.WithHooks(client.WithHooks(t.Context(), client.Hooks{}), hooks("context"))
		if _, err := client.For(c, configMaps).List(ctx, client.ListOptions{Namespace: "default"}); err != nil {
			t.Fatal(err)
		}
		host := strings.TrimPrefix(cfg.Server, "http://")
		want := []string{
			"config begins list configmaps to " + host + " at depth 0", "context begins list configmaps to " + host + " at depth 1",
			"config request 1: 429 after 0s at depth 2", "context request 1: 429 after 0s at depth 2", "config retry 1", "context retry 1",
			"config request 2: 429", "context request 2: 429", "config retry 2", "context retry 2",
			"config request 3: 200", "context request 3: 200", "config warning old", "context warning old",
			"context ends: <nil>", "config ends: <nil>",
		}
		for i := range max(len(said), len(want)) {
			if i >= len(said) || i >= len(want) || !strings.HasPrefix(said[i], want[i]) {
				t.Fatalf("at %d: said\n%s\nwant\n%s", i, strings.Join(said, "\n"), strings.Join(want, "\n"))
			}
		}
		if strings.Contains(said[6], "after 0s") {
			t.Errorf("the second attempt did not wait for the limiter: %s", said[6])
		}

		// Without hooks in the context only those of the client are called, and the error is said.
		said = nil
		if _, err := client.For(c, configMaps).Get(t.Context(), inDefault); err == nil {
			t.Fatal("there is an object")
		}
		if len(said) != 3 || !strings.HasPrefix(said[2], "config ends: get configmaps") {
			t.Errorf("said %q", said)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/go-logr/logr/funcr"
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

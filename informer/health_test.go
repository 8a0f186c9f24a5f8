package informer_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// probed is a Runner with checks of its own.
type probed struct{ live, ready *error }

func (p probed) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (p probed) String() string                { return "probed" }
func (p probed) Live() error                   { return *p.live }
func (p probed) Ready() error                  { return *p.ready }

func TestProbes(t *testing.T) {
	bubble(t, func(r *rig) {
		var live, ready error
		var allowed atomic.Bool
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			if !allowed.Load() {
				return clienttest.HTML()
			}
			return nil
		})
		g := &informer.Group{
			Services: []informer.Runner{probed{&live, &ready}},
			Runners:  []informer.Runner{informer.New(r.things, informer.Options{OnError: func(error) {}})},
		}
		h := g.Handler()
		check := func(name, method, target string, code int, body ...string) {
			r.Helper()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
			if w.Code != code {
				r.Errorf("%s: %s %s is %d %q, want %d", name, method, target, w.Code, w.Body, code)
			}
			for _, part := range body {
				if !strings.Contains(w.Body.String(), part) {
					r.Errorf("%s: %s %s is %q, want %q in it", name, method, target, w.Body, part)
				}
			}
			if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
				r.Errorf("%s: the headers are %v", name, w.Header())
			}
		}
		check("idle", "GET", "/livez", 200, "ok")
		check("idle", "GET", "/readyz", 503, "[-] group: Run has not been called")
		run := r.running(g)
		r.pass(time.Minute)
		check("the cache is not complete", "GET", "/healthz", 200)
		check("the cache is not complete", "GET", "/probes/readyz", 503, "[-] informer of configmaps.v1: ", "server sent something other than the requested object, as ")
		if err := g.Ready(); err == nil || !strings.Contains(err.Error(), "informer of configmaps.v1: ") {
			r.Errorf("Ready is %v", err)
		}
		allowed.Store(true)
		r.pass(time.Minute)
		check("all is well", "GET", "/readyz", 200, "ok")
		check("all is well", "HEAD", "/readyz", 200)
		check("all is well", "GET", "/readyz?verbose", 200, "[+] informer of configmaps.v1\n", "[+] probed\n")
		check("all is well", "POST", "/readyz", 405)
		check("all is well", "GET", "/", 404)
		if err := errors.Join(g.Live(), g.Ready()); err != nil {
			r.Error(err)
		}
		live, ready = errors.New("it\nhangs"), errors.New("not yet")
		check("a part is ill", "GET", "/livez", 503, "[-] probed: it hangs\n")
		check("a part is ill", "GET", "/readyz", 503, "[-] probed: not yet\n")
		live, ready = nil, nil
		run.stop()
		check("stopped", "GET", "/readyz", 503, "[-] group: Run has ended")
		check("stopped", "GET", "/livez", 200)
	})
}

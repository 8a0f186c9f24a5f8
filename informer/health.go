package informer

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/filler"
)

// Probes: whether a program is alive, and whether it is ready.

// Live returns nil while the program makes progress. Otherwise it returns why the program should be restarted: a part
// of the Group has a method
//
//	Live() error
//
// that returns an error, as a *leader.Elector does when its lease is lost and the work goes on. An unreachable server
// is not such a reason, because a restart would not bring it back. A Group that has not been run is alive.
func (g *Group) Live() error { return failures(g.live()) }

// Ready returns nil while the Group runs, each cache holds a complete list, those of MustBeFresh are fresh, and no part
// has a method
//
//	Ready() error
//
// that returns an error. Otherwise it names what the Group waits for, with each missing namespace of an informer, or
// which caches are stale. A process that does not lead is ready once its caches are complete, so that a rolling update
// can proceed.
func (g *Group) Ready() error { return failures(g.ready()) }

// Handler answers probes: GET requests for a path that ends in /livez or /healthz with [Group.Live], and in /readyz
// with [Group.Ready]. The code is 200 or 503. The body lists what is wrong, or with ?verbose every check; it may
// contain texts of the server's errors. Any other path is a 404.
func (g *Group) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var checks []check
		switch path.Base(r.URL.Path) {
		case "livez", "healthz":
			checks = g.live()
		case "readyz":
			checks = g.ready()
		default:
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are allowed", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		failed := failures(checks) != nil
		if failed {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if !failed && !r.URL.Query().Has("verbose") {
			_, _ = fmt.Fprintln(w, "ok")
			return
		}
		for _, c := range checks {
			if c.err != nil {
				_, _ = fmt.Fprintf(w, "[-] %s: %s\n", oneLine(c.name), oneLine(c.err.Error()))
			} else if r.URL.Query().Has("verbose") {
				_, _ = fmt.Fprintf(w, "[+] %s\n", oneLine(c.name))
			}
		}
	})
}

// oneLine makes a text one line of the answer.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// check is the result of checking one part: an error, or nil if it passes.
type check struct {
	name string
	err  error
}

// failures returns the errors of all checks that have failed.
func failures(all []check) error {
	var errs []error
	for _, c := range all {
		if c.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, c.err))
		}
	}
	return errors.Join(errs...)
}

func (g *Group) live() (all []check) {
	_, parts, _ := g.snapshot()
	for _, p := range parts {
		if l, ok := p.what.(interface{ Live() error }); ok {
			all = append(all, check{p.name, l.Live()})
		}
	}
	return all
}

func (g *Group) ready() (all []check) {
	state, parts, stopping := g.snapshot()
	switch state {
	case groupIdle:
		return []check{{"group", errors.New("Run has not been called")}}
	case groupStopping:
		return []check{{"group", fmt.Errorf("stopping for %v", time.Since(stopping).Round(time.Second))}}
	case groupStopped:
		return []check{{"group", errors.New("Run has ended")}}
	}
	for _, p := range parts {
		one, checked := check{name: p.name}, true
		switch what := p.what.(type) {
		case interface{ Ready() error }:
			one.err = what.Ready()
		case interface{ Unsynced() error }:
			one.err = what.Unsynced()
		default:
			checked = false
		}
		if s, ok := filler.As[interface{ Stale() error }](p.what); ok && p.fresh && one.err == nil {
			one.err, checked = s.Stale(), true
		}
		if checked {
			all = append(all, one)
		}
	}
	return all
}

// snapshot returns the state, the parts, and when the end began.
func (g *Group) snapshot() (groupState, []*part, time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state, g.parts, g.stopping
}

package debug

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Page is an http.Handler that shows what a program does. [Handler] makes it. It runs no goroutine, and its methods are
// safe for use by several goroutines at once.
type Page struct {
	o        Options
	began    time.Time
	caches   caches
	controls controls
	votes    votes
	shares   shares
	requests requests
	events   *events
	streams  chan struct{} // holds a token for each open stream
}

// seen is the key of a value in contexts that Context of a Page has returned.
type seen struct{ *Page }

// Handler returns a Page. It shows what runs with a context from [Page.Context]. The error says which field of o is
// invalid.
func Handler(o Options) (*Page, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Page{o: o, began: time.Now(), events: newEvents(keptEvents), streams: make(chan struct{}, mostStreams)}, nil
}

// Context returns a context for the program. The page shows the informers, controllers, elections and groups of
// replicas that run with it or with a context derived from it, and the requests that they make. Hooks that ctx carries
// are called as well. If ctx already comes from Context of the same Page, it is returned unchanged.
func (p *Page) Context(ctx context.Context) context.Context {
	if ctx.Value(seen{p}) != nil {
		return ctx
	}
	ctx = context.WithValue(ctx, seen{p}, true)
	ctx = hooks.Beside(ctx, p.requestHooks()) // warnings go to the log as well
	ctx = informer.WithHooks(ctx, p.informerHooks())
	ctx = controller.WithHooks(ctx, p.controllerHooks())
	ctx = leader.WithHooks(ctx, leader.Hooks{Run: p.electionBegins})
	return shards.WithHooks(ctx, shards.Hooks{Run: p.sharingBegins, Changed: p.sharesChange})
}

// ServeHTTP answers GET and HEAD. It ignores the path: the query says what to show.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.refuse(w, r, http.StatusMethodNotAllowed, errors.New("only GET and HEAD are allowed"))
		return
	}
	if err := p.admits(r); err != nil {
		p.refuse(w, r, http.StatusForbidden, err)
		return
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.refuse(w, r, http.StatusBadRequest, fmt.Errorf("parse the query of the address: %w", err))
		return
	}
	switch {
	case query.Has("asset"):
		p.serveAsset(w, r, query.Get("asset"))
	case query.Has("stream"):
		p.serveStream(w, r, query)
	default:
		p.serveView(w, r, query)
	}
}

// view is what the page shows: the same content as HTML and, by its exported fields, as JSON.
type view interface {
	title() string
	body(m *markup)
}

var errNotFound = errors.New("not found")

func (p *Page) serveView(w http.ResponseWriter, r *http.Request, query url.Values) {
	var v view
	var err error
	switch {
	case query.Has("object"):
		v, err = p.objectView(query.Get("cache"), query.Get("object"))
	case query.Has("cache"):
		v, err = p.cacheView(query.Get("cache"), query.Get("q"), query.Get("after"))
	case query.Has("controller"):
		v, err = p.controllerView(query.Get("controller"), query.Get("q"))
	case query.Has("shards"):
		v, err = p.sharesView(query.Get("shards"))
	case query.Has("events"):
		v = p.eventsView(query["kind"], query.Get("q"))
	default:
		v = p.overview()
	}
	if err != nil {
		code := http.StatusNotFound
		if errors.Is(err, errNotAllowed) {
			code = http.StatusForbidden
		}
		p.refuse(w, r, code, err)
		return
	}
	p.answer(w, r, http.StatusOK, v)
}

// link returns a relative address of the page, which works wherever the page is mounted. pairs are names and values.
func link(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('?')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(pairs[i]))
		if pairs[i+1] != "" {
			b.WriteByte('=')
			b.WriteString(url.QueryEscape(pairs[i+1]))
		}
	}
	return b.String()
}

// keyText returns a key in the form of addresses: "namespace/name", with an empty namespace for a cluster-wide object.
func keyText(k meta.Key) string { return k.Namespace + "/" + k.Name }

func parseKey(s string) (meta.Key, bool) {
	namespace, name, ok := strings.Cut(s, "/")
	return meta.Key{Namespace: namespace, Name: name}, ok && name != ""
}

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "program"
	}
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// behaviours 6 and 9, guarantee S8: what cannot be right is refused before anything is sent.
func TestInvalidPathsAreRefused(t *testing.T) {
	srv := says("{}")
	c := connect(t, srv)
	ns := func(ns, name string) meta.Key { return meta.Key{Namespace: ns, Name: name} }
	get := func(k meta.Key) error { return drop(client.For(c, slims).Get(t.Context(), k)) }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no namespace", get(ns("", "a")), `get configmaps "a": namespace must not be empty for a namespaced resource`},
		{"no name", get(ns("web", "")), `get configmaps in "web": name must not be empty`},
		{"nothing", get(ns("", "")), `get configmaps: namespace must not be empty`},
		{
			"a namespace for a cluster-wide resource", drop(client.For(c, nodes).Get(t.Context(), ns("web", "a"))),
			`namespace must be empty for a cluster-wide resource, got "web"`,
		},
		{
			"a list in a namespace of a cluster-wide resource",
			drop(client.For(c, nodes).List(t.Context(), client.ListOptions{Namespace: "web"})),
			`list nodes in "web": namespace must be empty`,
		},
		{
			"a watch in a namespace of a cluster-wide resource",
			watch(t.Context(), client.For(c, nodes), client.WatchOptions{Namespace: "web"}),
			`watch nodes in "web": namespace must be empty`,
		},
		{"a name that is a path", get(ns("web", "a/status")), "name must be one path segment"},
		{"a name that leads up", get(ns("web", "..")), `name must not be ".."`},
		{"a name that stays", get(ns("web", ".")), `name must not be "."`},
		{"a name with an escape", get(ns("web", "a%2fb")), "name must be one path segment"},
		{"a name with a line break", get(ns("web", "a\nb")), "control characters"},
		{"a name that is not UTF-8", get(ns("web", "\xff")), "UTF-8"},
		{"a namespace that is a path", get(ns("web/pods", "a")), "namespace must be one path segment"},
		{"a namespace that leads up", get(ns("..", "a")), `namespace must not be ".."`},
		{
			"a list of a namespace that leads up",
			drop(client.For(c, slims).List(t.Context(), client.ListOptions{Namespace: "../x"})),
			"namespace must be one path segment",
		},
		{
			"a watch of a namespace that leads up",
			watch(t.Context(), client.For(c, slims), client.WatchOptions{Namespace: ".."}),
			`namespace must not be ".."`,
		},
		{
			"a delete without a name",
			client.For(c, slims).Delete(t.Context(), ns("web", ""), client.DeleteOptions{}),
			`delete configmaps in "web": name must not be empty`,
		},
		{
			"an update without a name",
			drop(client.For(c, slims).Update(t.Context(), &Slim{Identity: meta.Identity{Namespace: "web"}})),
			`update configmaps in "web": name must not be empty`,
		},
		{
			"a create without a namespace", drop(client.For(c, slims).Create(t.Context(), &Slim{})),
			`create configmaps: namespace must not be empty`,
		},
		{
			"a create with a slash in the name", drop(client.For(c, slims).Create(t.Context(), &Slim{Identity: at(ns("web", "a/b"))})),
			"name must be one path segment",
		},
		{
			"a create in a namespace of a cluster-wide resource",
			drop(client.For(c, nodes).Create(t.Context(), &Slim{Identity: at(web)})), "namespace must be empty",
		},
		{
			"a patch of nothing",
			drop(client.For(c, slims).Patch(t.Context(), ns("web", ""), patch.Merge(map[string]int{}))),
			`patch configmaps in "web": name must not be empty`,
		},
		{"a patch that is none", drop(client.For(c, slims).Patch(t.Context(), web, patch.Patch{})), "the zero Patch"},
		{
			"a patch that could not be built", drop(client.For(c, slims).Patch(t.Context(), web, patch.Merge(1))),
			"does not encode to a JSON object",
		},
		{
			"a patch of another name",
			drop(client.For(c, slims).Patch(t.Context(), web, patch.JSON(patch.Replace("/metadata/name", "api")))),
			"metadata.name must stay",
		},
		{
			"a change without a name", drop(client.For(c, slims).Modify(t.Context(), ns("web", ""), func(*Slim) error { return nil })),
			`get configmaps in "web": name must not be empty`,
		},
		{
			"a status without a name", drop(client.For(c, slims).Status().Get(t.Context(), ns("web", ""))),
			`get configmaps/status in "web": name must not be empty`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantErr(t, test.err, test.want)
			is[*client.OpError](t, test.err)
			is[*client.UsageError](t, test.err)
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// behaviour 3: the server's own path is a prefix, escapes and all; names are escaped exactly once.
func TestHowURLsAreJoined(t *testing.T) {
	for _, test := range []struct {
		name, server, object, want string
	}{
		{"no path", "", "a", "/api/v1/namespaces/web/configmaps/a"},
		{"a slash", "/", "a", "/api/v1/namespaces/web/configmaps/a"},
		{"a path", "/clusters/c1", "a", "/clusters/c1/api/v1/namespaces/web/configmaps/a"},
		{"a path that ends in a slash", "/clusters/c1/", "a", "/clusters/c1/api/v1/namespaces/web/configmaps/a"},
		{"a path with escapes", "/k8s%2Fclusters/c%201", "a b", "/k8s%2Fclusters/c%201/api/v1/namespaces/web/configmaps/a%20b"},
		{"a path that ends in an escaped slash", "/c%2F", "a", "/c%2F/api/v1/namespaces/web/configmaps/a"},
		{"a name of the RBAC kind", "", "system:node:a+b", "/api/v1/namespaces/web/configmaps/system:node:a+b"},
		{"a name with a question mark", "", "a?watch=true", "/api/v1/namespaces/web/configmaps/a%3Fwatch=true"},
		{"a name with a hash", "", "a#b", "/api/v1/namespaces/web/configmaps/a%23b"},
		{
			"a name with spaces and other marks", "", ` a "b" <c>;d,e@f&g=h\i|j`,
			"/api/v1/namespaces/web/configmaps/%20a%20%22b%22%20%3Cc%3E%3Bd,e@f&g=h%5Ci%7Cj",
		},
		// fault F38
		{
			"a name that is not ASCII", "", "écran\u202e🚢",
			"/api/v1/namespaces/web/configmaps/%C3%A9cran%E2%80%AE%F0%9F%9A%A2",
		},
		{"a name that starts with a dot", "", ".a", "/api/v1/namespaces/web/configmaps/.a"},
		{
			"a name of 253 characters", "", strings.Repeat("x", 253),
			"/api/v1/namespaces/web/configmaps/" + strings.Repeat("x", 253),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := says(`{"kind":"ConfigMap","apiVersion":"v1"}`)
			cfg := serve(t, srv)
			cfg.Server += test.server
			must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), meta.Key{Namespace: "web", Name: test.object}))
			got := srv.one(t)
			if got.uri != test.want {
				t.Errorf("the server got %s, want %s", got.uri, test.want)
			}
			if u := must[*url.URL](t)(url.ParseRequestURI(got.uri)); !strings.HasSuffix(u.Path, "/configmaps/"+test.object) || u.RawQuery != "" {
				t.Errorf("the server reads the name as %q", u.Path)
			}
		})
	}
}

func TestAnIPv6ServerIsDialledAsSuch(t *testing.T) {
	for server, want := range map[string]string{
		"http://[::1]:8080": "[::1]:8080", "http://[fd00::1]": "[fd00::1]:80", "https://[::1]": "[::1]:443", "http://[fe80::1%25eth0]:1": "[fe80::1%eth0]:1",
	} {
		t.Run(server, func(t *testing.T) {
			var dialled string
			c := dial(t, client.Config{Server: server, Proxy: noProxy, Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
				dialled = addr
				return nil, errors.New("no network")
			}})
			_, err := client.For(c, slims).Get(t.Context(), web)
			wantErr(t, err, `get configmaps "web/a": no network`)
			if dialled != want {
				t.Errorf("dialled %s, want %s", dialled, want)
			}
		})
	}
}

func TestTheUserAgentIsSent(t *testing.T) {
	srv := says(object("a", "1"))
	cfg := serve(t, srv)
	cfg.UserAgent = "me/1.0"
	must[*Slim](t)(client.For(dial(t, cfg), slims).Get(t.Context(), web))
	if got := srv.one(t).header.Get("User-Agent"); got != "me/1.0" {
		t.Errorf("the user agent is %q", got)
	}
}

// behaviours 61 and 72: the limiter gates every request but watches, and its wait ends with the context.
func TestTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := says(listOf("1", "next"), listOf("1", ""), object("a", "1"))
		cfg := serve(t, srv)
		cfg.Limiter = rate.NewLimiter(rate.Every(time.Second), 1)
		r := client.For(dial(t, cfg), slims)
		took := func(what string, want time.Duration, f func()) {
			t.Helper()
			start := time.Now()
			f()
			if got := time.Since(start); got != want {
				t.Errorf("%s took %v, want %v", what, got, want)
			}
		}
		took("the two pages of a list, of which the first is free,", time.Second, func() {
			must[meta.List[*Slim]](t)(r.List(t.Context(), client.ListOptions{}))
		})
		took("a get", time.Second, func() { must[*Slim](t)(r.Get(t.Context(), web)) })
		took("a watch", 0, func() { _ = watch(t.Context(), r, client.WatchOptions{}) })

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		took("a get whose context ends", 100*time.Millisecond, func() {
			_, err := r.Get(ctx, web)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v, want that it was canceled", err)
			}
			wantErr(t, err, `get configmaps "web/a": wait for Config.Limiter: `)
		})
		short, cancelShort := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancelShort()
		took("a get whose deadline is too near", 0, func() {
			_, err := r.Get(short, web)
			wantErr(t, err, "wait for Config.Limiter: ")
		})
		if n := len(srv.all()); n != 4 {
			t.Errorf("the server got %d requests, want 4", n)
		}
	})
}

// behaviour 62
func TestAContextThatHasEndedSendsNothing(t *testing.T) {
	srv := says(object("a", "1"))
	cfg := serve(t, srv)
	observed := 0
	cfg.Hooks.Request = func(context.Context, client.RequestInfo) { observed++ }
	r := client.For(dial(t, cfg), slims)
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for name, err := range map[string]error{
		"get":    drop(r.Get(ctx, web)),
		"list":   drop(r.List(ctx, client.ListOptions{})),
		"watch":  watch(ctx, r, client.WatchOptions{}),
		"create": drop(r.Create(ctx, &Slim{Identity: at(web)})),
		"modify": drop(r.Modify(ctx, web, func(*Slim) error { return nil })),
		"delete": r.Delete(ctx, web, client.DeleteOptions{}),
	} {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s: error is %v, want that it was canceled and why", name, err)
		}
	}
	if n := len(srv.all()); n != 0 || observed != 0 {
		t.Errorf("the server got %d requests, and the hook was called %d times", n, observed)
	}
}

// A context may end while a connection is made, while the server thinks, and while it speaks.
func TestAContextThatEndsEndsTheCall(t *testing.T) {
	stuck := func(body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server looks for the end of the connection only after it
			if body != "" {
				answer{body: body}.write(w)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})
	}
	// within answers a watch with events and all else with a list, because a watch takes no list.
	within := func(list, event string) http.Handler {
		lists, events := stuck(list), stuck(event)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("watch") != "" {
				events.ServeHTTP(w, r)
			} else {
				lists.ServeHTTP(w, r)
			}
		})
	}
	const listed, event = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[`, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1",`
	for _, test := range []struct {
		name string
		h    http.Handler
		dial func(ctx context.Context, network, address string) (net.Conn, error)
	}{
		{"while it connects", stuck(""), func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		{"before the headers", stuck(""), nil},
		{"before the first byte of the body", stuck(" "), nil},
		{
			"within a list's object, an object, or an event",
			within(listed+`{"metadata":{"name":`, event+`"metadata":{"name":`), nil,
		},
		{
			"between objects",
			within(listed+`{"metadata":{"name":"a"}},`, event+`"metadata":{"name":"a","namespace":"web","resourceVersion":"1"}}}`), nil,
		},
	} {
		for name, do := range map[string]func(ctx context.Context, r client.Resource[*Slim]) error{
			"get": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
			"list": func(ctx context.Context, r client.Resource[*Slim]) error {
				return drop(r.List(ctx, client.ListOptions{}))
			},
			"watch": func(ctx context.Context, r client.Resource[*Slim]) error {
				return watch(ctx, r, client.WatchOptions{})
			},
			"modify": func(ctx context.Context, r client.Resource[*Slim]) error {
				return drop(r.Modify(ctx, web, func(*Slim) error { return nil }))
			},
			"create": func(ctx context.Context, r client.Resource[*Slim]) error {
				return drop(r.Create(ctx, &Slim{Identity: at(web)}))
			},
		} {
			t.Run(name+" "+test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := serve(t, test.h)
					cfg.StallTimeout = -1
					if test.dial != nil {
						cfg.Dial = test.dial
					}
					r := client.For(dial(t, cfg), slims)
					cause := errors.New("shutting down")
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Minute, func() { cancel(cause) })
					start := time.Now()
					err := do(ctx, r)
					if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
						t.Errorf("error is %v, want that it was canceled and why", err)
					}
					is[*client.OpError](t, err)
					if took := time.Since(start); took != time.Minute {
						t.Errorf("took %v", took)
					}
				})
			})
		}
	}
}

// A delete is done when the server has said so: what comes of its body changes nothing.
func TestADeleteDoesNotDependOnItsBody(t *testing.T) {
	for _, test := range []struct {
		name string
		a    answer
	}{
		{"the object", answer{body: object("a", "1")}},
		{"a Status", answer{body: `{"kind":"Status","status":"Success"}`}},
		{"nothing", answer{code: 204}},
		{"nothing, accepted", answer{code: 202}}, // behaviour 28
		{"half an object", answer{body: `{"kind":"Con`, cut: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := client.For(connect(t, answers(test.a)), slims)
			if err := r.Delete(t.Context(), web, client.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// fault F25: a page that stands in for the server is not its yes.
func TestAPortalsPageDeletesNothing(t *testing.T) {
	a := answer{header: http.Header{"Content-Type": {"text/html"}}, body: "<html>"}
	err := client.For(connect(t, answers(a)), slims).Delete(t.Context(), web, client.DeleteOptions{})
	answered(t, err, client.ForeignBody)
}

// counting counts the bodies that a client has not closed, and those that it closed twice.
type counting struct {
	mu          sync.Mutex // guards the rest
	open, twice int
}

type countedBody struct {
	io.ReadCloser
	c      *counting
	closed bool
}

func (b *countedBody) Close() error {
	b.c.mu.Lock()
	if b.closed {
		b.c.twice++
	} else {
		b.c.open--
	}
	b.closed = true
	b.c.mu.Unlock()
	return b.ReadCloser.Close()
}

func (c *counting) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			c.mu.Lock()
			c.open++
			c.mu.Unlock()
			resp.Body = &countedBody{ReadCloser: resp.Body, c: c}
		}
		return resp, err
	})
}

// behaviour 60: every body is closed, once, whatever comes of it.
func TestEveryBodyIsClosed(t *testing.T) {
	calls := map[string]func(ctx context.Context, r client.Resource[*Slim]) error{
		"get": func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		"list": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{}))
		},
		"watch": func(ctx context.Context, r client.Resource[*Slim]) error { return watch(ctx, r, client.WatchOptions{}) },
		"update": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Update(ctx, &Slim{Identity: at(web)}))
		},
		"delete": func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		},
		"modify": func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Modify(ctx, web, func(obj *Slim) error { obj.Data = map[string]string{"k": "new"}; return nil }))
		},
		"a list that is left": func(ctx context.Context, r client.Resource[*Slim]) error {
			for range r.All(ctx, client.ListOptions{}) {
				synctest.Wait() // until the next page is there
				break
			}
			return nil
		},
		"a watch that is left": func(ctx context.Context, r client.Resource[*Slim]) error {
			for range r.Watch(ctx, client.WatchOptions{}) {
				break
			}
			return nil
		},
	}
	for name, a := range map[string][]answer{
		"an object":        {{body: object("a", "1")}},
		"events":           {{body: event("ADDED", object("a", "1")) + event("ADDED", object("a", "2"))}},
		"pages":            {{body: listOf("5", "c1", object("a", "1"))}, {body: listOf("5", "c2", object("b", "1"))}, {body: listOf("5", "")}},
		"half an object":   {{body: object("a", "1")[:50], cut: true}},
		"a page":           {{header: http.Header{"Content-Type": {"text/html"}}, body: strings.Repeat("x", 3<<20)}},
		"an error":         {{code: 500, body: "oops"}},
		"errors, at first": {{code: 503, header: http.Header{"Retry-After": {"1"}}, body: strings.Repeat("x", 300<<10)}, {cut: true}, {body: object("a", "1")}},
		"an endless error": {{code: 500, body: strings.Repeat("x", 3<<20)}},
		"a redirect away":  {{code: 302, header: http.Header{"Location": {"http://elsewhere.invalid/"}}}},
		"an error, then":   {{body: object("a", "1")}, {code: 404}},
	} {
		for verb, do := range calls {
			t.Run(verb+" of "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg, c := serve(t, answers(a...)), &counting{}
					cfg.Wrap = c.wrap
					_ = do(t.Context(), client.For(dial(t, cfg), slims))
					c.mu.Lock()
					defer c.mu.Unlock()
					if c.open != 0 || c.twice != 0 {
						t.Errorf("%d bodies are open when the call returns, %d were closed twice", c.open, c.twice)
					}
				})
			})
		}
	}
}

// behaviour 60: after an error, as after a success, the connection is used again.
func TestConnectionsAreUsedAgain(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	for _, test := range []struct {
		name string
		a    answer
		do   func(ctx context.Context, r client.Resource[*Slim]) error
	}{
		{
			"a get",
			answer{body: object("a", "1") + "\n"},
			func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		},
		{
			"a large get",
			answer{body: object("a", "1", big)},
			func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		},
		{"a list", answer{body: listOf("1", "", object("a", "1")) + "\n"}, func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.List(ctx, client.ListOptions{}))
		}},
		{"a watch that ends", answer{body: event("ADDED", object("a", "1"))}, func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{})
		}},
		{"a delete", answer{body: object("a", "1", big)}, func(ctx context.Context, r client.Resource[*Slim]) error {
			return r.Delete(ctx, web, client.DeleteOptions{})
		}},
		{
			"a Status",
			answer{code: 404, body: status(404, "NotFound", big)},
			func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		},
		{"a refused watch", answer{code: 429, body: big}, func(ctx context.Context, r client.Resource[*Slim]) error {
			return watch(ctx, r, client.WatchOptions{})
		}},
		{
			"an empty error",
			answer{code: 503},
			func(ctx context.Context, r client.Resource[*Slim]) error { return drop(r.Get(ctx, web)) },
		},
		{"an object that does not decode", answer{body: `{"kind":"ConfigMap","apiVersion":"v1","data":7}`}, func(ctx context.Context, r client.Resource[*Slim]) error {
			return drop(r.Get(ctx, web))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := serve(t, answers(test.a))
				dials := 0
				inner := cfg.Dial
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					dials++
					return inner(ctx, network, address)
				}
				r := client.For(dial(t, cfg), slims)
				for range 5 {
					_ = test.do(t.Context(), r)
					synctest.Wait() // until the transport has put the connection back
				}
				if dials != 1 {
					t.Errorf("5 calls opened %d connections, want 1", dials)
				}
			})
		})
	}
}

// behaviours 52 and 53: what could take effect twice is sent once.
func TestAWriteIsSentOnce(t *testing.T) {
	srv := answers(answer{code: 500, body: "oops"})
	r := client.For(connect(t, srv), slims)
	_, err := r.Create(t.Context(), &Slim{Identity: at(web)})
	if e := is[*apierrors.StatusError](t, err); e.Status.Code != 500 || e.FromStatus {
		t.Errorf("error is %v", err)
	}
	srv.one(t)

	broken := answers(answer{cut: true})
	_, err = client.For(connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		broken.mu.Lock()
		broken.calls = append(broken.calls, call{method: r.Method})
		broken.mu.Unlock()
		panic(http.ErrAbortHandler)
	})), slims).Create(t.Context(), &Slim{Identity: at(web)})
	wantErr(t, err, `create configmaps "web/a": the server closed the connection without an answer: unexpected EOF`)
	broken.one(t)
}

// The body that goes out is what encoding/json makes of the object, with its kind first.
func TestTheCallersObjectIsLeftAlone(t *testing.T) {
	srv := says(object("a", "2"))
	r := client.For(connect(t, srv), configMaps)
	obj := &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a", Namespace: "web"}}
	was := must[[]byte](t)(json.Marshal(obj))
	made := must[*ConfigMap](t)(r.Create(t.Context(), obj))
	if now := must[[]byte](t)(json.Marshal(obj)); string(now) != string(was) || made == obj {
		t.Errorf("the caller's object became %s", now)
	}
	if made.ResourceVersion != "2" || made.Kind != "ConfigMap" {
		t.Errorf("got %+v", made)
	}
}

// A wait for the limiter did not say why its context ended.
func TestAWaitForTheLimiterSaysWhyItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := serve(t, says(object("a", "1")))
		cfg.Limiter = rate.NewLimiter(rate.Every(time.Minute), 1)
		r := client.For(dial(t, cfg), slims)
		must[*Slim](t)(r.Get(t.Context(), web))
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("shutting down")
		time.AfterFunc(time.Second, func() { cancel(cause) })
		_, err := r.Get(ctx, web)
		wantErr(t, err, `get configmaps "web/a": wait for Config.Limiter: context canceled: shutting down`)
		if !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

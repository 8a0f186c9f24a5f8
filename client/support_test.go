package client_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/patch"
)

// What the tests of this package share: two types, a server in memory, and a record of what it was asked.

// ConfigMap has all of the object.
type ConfigMap struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// Slim has its identity and one member, as a program that needs no more would declare it.
type Slim struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data,omitempty"`
}

var (
	configMaps  = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	slims       = client.Type[*Slim]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	nodes       = client.Type[*Slim]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster}
	pods        = client.Type[*Slim]{Version: "v1", Kind: "Pod", Resource: "pods"}
	accounts    = client.Type[*Slim]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"}
	deployments = client.Type[*Slim]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
)

var web = meta.Key{Namespace: "web", Name: "a"}

// noChange is a patch that changes nothing.
var noChange = patch.Merge(map[string]any{})

// object returns the JSON of a config map in "web".
func object(name, version string, data ...string) string {
	members := make([]string, len(data))
	for i, d := range data {
		members[i] = fmt.Sprintf(`"%s":"%s"`, d, d)
	}
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"web","name":"%s","uid":"u-%s","resourceVersion":"%s"},"data":{%s}}`,
		name, name, version, strings.Join(members, ","))
}

// listOf returns a page of a config map list, as a server writes it.
func listOf(version, next string, items ...string) string {
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%s","continue":"%s"},"items":[%s]}`,
		version, next, strings.Join(items, ","))
}

func event(kind, object string) string {
	return fmt.Sprintf(`{"type":"%s","object":%s}`, kind, object) + "\n"
}

func status(code int, reason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"%s","reason":"%s","code":%d}`,
		message, reason, code)
}

// call is a request as a server sees it.
type call struct {
	method, uri, body string
	header            http.Header
}

func (c call) String() string { return c.method + " " + c.uri }

// answer is what a server says.
type answer struct {
	code   int // 0 = 200
	header http.Header
	body   string
	cut    bool // the connection breaks after the body
}

func (a answer) write(w http.ResponseWriter) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(cmp.Or(a.code, http.StatusOK))
	_, _ = io.WriteString(w, a.body)
	if a.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// script answers requests one after the other, the last answer again and again, and remembers them.
type script struct {
	mu      sync.Mutex // guards the rest
	answers []answer
	calls   []call
}

func says(bodies ...string) *script {
	s := &script{}
	for _, body := range bodies {
		s.answers = append(s.answers, answer{body: body})
	}
	return s
}

func answers(a ...answer) *script { return &script{answers: a} }

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.calls = append(s.calls, call{r.Method, r.RequestURI, string(body), r.Header})
	a := s.answers[min(len(s.calls), len(s.answers))-1]
	s.mu.Unlock()
	a.write(w)
}

// all returns the requests so far.
func (s *script) all() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

// one returns the request, of which there must have been exactly one.
func (s *script) one(t testing.TB) call {
	t.Helper()
	calls := s.all()
	if len(calls) != 1 {
		t.Fatalf("the server got %d requests, want 1: %v", len(calls), calls)
	}
	return calls[0]
}

// serve runs a server in memory until the test ends and returns the configuration for it.
func serve(t testing.TB, h http.Handler) client.Config {
	t.Helper()
	l := memnet.Listen()
	srv := &http.Server{Handler: h}
	var served sync.WaitGroup
	srv.ConnState = countConns(&served)
	served.Go(func() { _ = srv.Serve(l) })
	t.Cleanup(func() {
		_ = srv.Close()
		served.Wait()
	})
	return client.Config{Server: "http://" + l.Addr().String(), Dial: l.DialContext, Proxy: noProxy}
}

// countConns returns a hook that counts the connections of a server in n. Close does not wait for their goroutines, and from
// Go 1.27 on such a goroutine outlives its handler by half a second if the client broke off while it sent its body: net/http
// waits before it closes a connection from which it did not read everything. A bubble must not end before.
func countConns(n *sync.WaitGroup) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			n.Add(1)
		case http.StateClosed, http.StateHijacked:
			n.Done()
		}
	}
}

// noProxy keeps the environment out of the tests.
func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

// dial returns a client that is closed when the test ends.
func dial(t testing.TB, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// connect returns a client of a new server in memory.
func connect(t testing.TB, h http.Handler) *client.Client {
	t.Helper()
	return dial(t, serve(t, h))
}

// roundTripper is a transport without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// without returns a client that gets every answer from f.
func without(t testing.TB, f roundTripper) *client.Client {
	t.Helper()
	return dial(t, client.Config{
		Server: "http://127.0.0.1:1",
		Wrap:   func(http.RoundTripper) http.RoundTripper { return f },
	})
}

// must fails the test on an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// is returns err as an E, which must be in it.
func is[E error](t testing.TB, err error) E {
	t.Helper()
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("error is %v (%T), want a %T in it", err, err, e)
	}
	return e
}

// isConflict fails the test unless err is a Conflict.
func isConflict(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, apierrors.Conflict) {
		t.Errorf("error is %v, want a Conflict", err)
	}
}

// answered returns the AnswerError in err, which must be of a reason.
func answered(t testing.TB, err error, reason client.AnswerReason) *client.AnswerError {
	t.Helper()
	e := is[*client.AnswerError](t, err)
	if e.Reason != reason || !errors.Is(err, reason) {
		t.Errorf("the reason of %v is %s, want %s", err, e.Reason, reason)
	}
	return e
}

// wantErr checks an error's text for a part of it.
func wantErr(t testing.TB, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want %q in it", err, part)
	}
}

// collect reads a list with All. It ends with the first error that is not about one object.
func collect[T meta.Object](ctx context.Context, r client.Resource[T], o client.ListOptions) (names []string, bad []error, err error) {
	for obj, e := range r.All(ctx, o) {
		switch decode := (*client.DecodeError)(nil); {
		case e == nil:
			names = append(names, obj.GetName())
		case errors.As(e, &decode):
			bad = append(bad, e)
		default:
			err = e
		}
	}
	return names, bad, err
}

// quiet is where servers that are meant to meet bad clients log.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func drop[T any](_ T, err error) error { return err }

// at returns the identity of an object that has no more than its key.
func at(k meta.Key) meta.Identity { return meta.Identity{Namespace: k.Namespace, Name: k.Name} }

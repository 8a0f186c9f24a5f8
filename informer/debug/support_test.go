package debug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

// Thing is a config map or a secret.
type Thing struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var (
	configMaps = client.Type[*Thing]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	secrets    = client.Type[*Thing]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	// raw writes what Thing cannot read back.
	raw = client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)

// rig is a server, a client of it and a page, in a bubble of virtual time.
type rig struct {
	*testing.T
	server *clienttest.Server
	client *client.Client
	page   *debug.Page
}

func bubble(t *testing.T, o debug.Options, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		f(&rig{T: t, server: server, client: c, page: newPage(t, o)})
	})
}

func newPage(t testing.TB, o debug.Options) *debug.Page {
	t.Helper()
	page, err := debug.Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// run runs parts of a program with the context of the page, until stop is called or the test ends.
func (r *rig) run(parts ...informer.Runner) (stop func()) {
	r.Helper()
	ctx, cancel := context.WithCancel(r.page.Context(r.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := informer.Run(ctx, parts...); err != nil {
			r.Error(err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	r.Cleanup(stop)
	synctest.Wait()
	return stop
}

func (r *rig) create(of client.Type[*Thing], name string, data map[string]string) {
	r.Helper()
	if _, err := client.For(r.client, of).Create(r.Context(), &Thing{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Data: data}); err != nil {
		r.Fatal(err)
	}
}

// get asks a page for an address, as a browser does.
func get(t testing.TB, page http.Handler, address string) (code int, body string) {
	t.Helper()
	return ask(page, httptest.NewRequest(http.MethodGet, address, nil))
}

func ask(page http.Handler, r *http.Request) (code int, body string) {
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// JSON asks for the same address as JSON, and returns a member by the names and indexes that lead to it.
func (r *rig) JSON(address string, path ...any) any {
	r.Helper()
	q := httptest.NewRequest(http.MethodGet, address, nil)
	q.Header.Set("Accept", "application/json")
	code, body := ask(r.page, q)
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil || code != http.StatusOK {
		r.Fatalf("%s: %d, %v: %s", address, code, err, body)
	}
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				r.Fatalf("%s: there is no %v in %s", address, path, body)
			}
			v = list[p]
		}
	}
	return v
}

// is fails the test unless a member of a page has a value.
func (r *rig) is(want any, address string, path ...any) {
	r.Helper()
	if got := r.JSON(address, path...); fmt.Sprint(got) != fmt.Sprint(want) {
		r.Errorf("%s: %v is %v, want %v", address, path, got, want)
	}
}

// has fails the test unless the page has the texts, in HTML.
func (r *rig) has(address string, texts ...string) {
	r.Helper()
	code, body := get(r, r.page, address)
	if code != http.StatusOK {
		r.Errorf("%s: code %d", address, code)
	}
	checkHTML(r, body)
	for _, text := range texts {
		if !strings.Contains(body, text) {
			r.Errorf("%s: there is no %q in %s", address, text, body)
		}
	}
}

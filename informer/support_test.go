package informer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Thing is a config map. One whose data has "bad" does not decode.
type Thing struct {
	meta.ObjectMeta `json:"metadata"`
	Data            Payload `json:"data"`
}

// Payload counts how often it is decoded.
type Payload map[string]string

// decoded is how many payloads have been decoded. No test runs in parallel to another.
var decoded atomic.Int64

var errBad = errors.New("this one does not fit")

func (p *Payload) UnmarshalJSON(b []byte) error {
	decoded.Add(1)
	m := map[string]string{}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m["bad"] != "" {
		return errBad
	}
	*p = m
	return nil
}

var things = client.Type[*Thing]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// raw writes what Thing cannot read back.
var raw = client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// rig is a server and a client of it, in a bubble of virtual time.
type rig struct {
	*testing.T
	server *clienttest.Server
	things client.Resource[*Thing]
	raw    client.Resource[*meta.Unstructured]
}

// bubble runs f with a server of its own, on a clock of its own. A goroutine that is left over fails the test.
func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	bubbleOf(t, clienttest.Options{}, f)
}

// bubbleOf is bubble with a server of these options.
func bubbleOf(t *testing.T, o clienttest.Options, f func(r *rig)) {
	t.Helper()
	o.HistoryAge = 1000 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, o)
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		f(&rig{T: t, server: server, things: client.For(c, things), raw: client.For(c, raw)})
	})
}

// another is the rig with a client of its own, and so with other connections.
func (r *rig) another() *rig { r.Helper(); return r.with(r.server.Config()) }

// with is the rig with a client of this configuration.
func (r *rig) with(cfg client.Config) *rig {
	r.Helper()
	c, err := client.New(cfg)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(c.Close)
	return &rig{T: r.T, server: r.server, things: client.For(c, things), raw: client.For(c, raw)}
}

// pass lets time pass, and then everything come to rest.
func (r *rig) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// within waits until ok, and fails if that takes longer than d.
func (r *rig) within(d time.Duration, what string, ok func() bool) {
	r.Helper()
	for began := time.Now(); ; r.pass(100 * time.Millisecond) {
		synctest.Wait()
		switch {
		case ok():
			return
		case time.Since(began) > d:
			r.Fatalf("after %v not yet: %s", d, what)
		}
	}
}

// put creates the object of a name in the default namespace, or replaces it. kv is pairs of data.
func (r *rig) put(name string, kv ...string) { r.Helper(); r.putLabelled(name, nil, kv...) }

func (r *rig) putLabelled(name string, labels map[string]string, kv ...string) {
	r.Helper()
	data := map[string]any{}
	for i := 0; i+1 < len(kv); i += 2 {
		data[kv[i]] = kv[i+1]
	}
	obj := unstructured("default", name, labels, data)
	_, err := r.raw.Update(r.Context(), obj)
	if err != nil {
		_, err = r.raw.Create(r.Context(), obj)
	}
	if err != nil {
		r.Fatal(err)
	}
}

func unstructured(namespace, name string, labels map[string]string, data map[string]any) *meta.Unstructured {
	return &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name, "labels": labels}, "data": data,
	}}
}

func (r *rig) remove(name string) {
	r.Helper()
	if err := r.raw.Delete(r.Context(), key(name), client.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

// asks returns what a request asks for: a verb, or "stream" for a watch that begins with the whole collection.
func asks(q *http.Request) string {
	verb := clienttest.RequestOf(q).Verb
	if verb == "list" && q.URL.Query().Get("limit") == "1" {
		return "version" // the question for the server's version
	}
	if verb == "watch" && q.URL.Query().Get("sendInitialEvents") == "true" {
		return "stream"
	}
	return verb
}

// collects reports whether a request asks for the whole collection, in either way.
func collects(q *http.Request) bool { return asks(q) == "list" || asks(q) == "stream" }

// on answers requests that ask for something in another way; nil answers them as usual. It replaces what was set before.
// "collection" stands for lists of both kinds.
func (r *rig) on(what string, h http.HandlerFunc) {
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if asks(q) != what && !(what == "collection" && collects(q)) {
			return nil
		}
		return h
	})
}

// modes runs a test once with paged lists, and once with streaming ones.
func modes(t *testing.T, f func(t *testing.T, mode informer.Mode)) {
	t.Helper()
	for _, mode := range []informer.Mode{informer.Paged, informer.Streaming} {
		t.Run(mode.String(), func(t *testing.T) { f(t, mode) })
	}
}

// heal answers everything as usual again.
func (r *rig) heal() { r.server.Intercept(nil) }

func (r *rig) requests(verb string) int {
	return r.server.Requests()[clienttest.Call{Verb: verb, Resource: "configmaps"}]
}

// truth returns what the server has, as an informer with these options must hold it; objects that do not decode are in bad.
func (r *rig) truth(o informer.Options) (good map[meta.Key]*Thing, bad map[meta.Key]meta.Identity) {
	r.Helper()
	good, bad = map[meta.Key]*Thing{}, map[meta.Key]meta.Identity{}
	list := client.ListOptions{Namespace: o.Namespace, LabelSelector: o.LabelSelector, FieldSelector: o.FieldSelector}
	_, err := r.things.ListEach(r.Context(), list, nil, func(item client.Item[*Thing]) error {
		if item.Err != nil {
			bad[item.Identity.Key()] = item.Identity
		} else {
			good[item.Identity.Key()] = item.Object
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return good, bad
}

// informed is an informer under test, with a handler and everything that it reported.
type informed struct {
	*informer.Informer[*Thing]
	*witness
	r *rig
	o informer.Options

	mu     sync.Mutex
	errors []error

	cancel context.CancelFunc
	ended  chan error
}

// informer makes an informer; it does not run yet.
func (r *rig) informer(o informer.Options) *informed {
	i := &informed{r: r, o: o}
	o.AllowEarlyReads = true // held may be asked for at any time
	o.OnError = func(err error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.errors = append(i.errors, err)
	}
	i.Informer = informer.New(r.things, o)
	i.witness = &witness{t: r.T}
	i.Subscribe(i.witness)
	return i
}

// run starts the informer, which must end well with the test or with stop.
func (i *informed) run() {
	var ctx context.Context
	ctx, i.cancel = context.WithCancel(i.r.Context())
	i.ended = make(chan error, 1)
	go func() { i.ended <- i.Run(ctx) }()
}

// stop ends Run, which must return nil at once.
func (i *informed) stop() { i.r.Helper(); i.stopWithin(0) }

// stopWithin ends Run where a handler may take its time.
func (i *informed) stopWithin(most time.Duration) {
	i.r.Helper()
	began := time.Now()
	i.cancel()
	if err := <-i.ended; err != nil {
		i.r.Errorf("Run returned %v", err)
	}
	if d := time.Since(began); d > most {
		i.r.Errorf("Run took %v to end", d)
	}
	if state := i.Status().State; state != informer.Idle {
		i.r.Errorf("after Run the state is %v", state)
	}
}

// start starts an informer of these options and waits until it is synced. It is stopped at the end of the test.
func (r *rig) start(o informer.Options) *informed {
	r.Helper()
	i := r.informer(o)
	i.run()
	r.Cleanup(i.stop)
	if err := i.WaitSynced(r.Context()); err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
	return i
}

// reported returns the errors so far.
func (i *informed) reported() []error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.errors)
}

// hasReported reports whether an error with this text was reported. The empty text always was.
func (i *informed) hasReported(text string) bool {
	return text == "" || slices.ContainsFunc(i.reported(), func(err error) bool { return strings.Contains(err.Error(), text) })
}

// held returns what the cache has.
func (i *informed) held() map[meta.Key]*Thing {
	m := map[meta.Key]*Thing{}
	for obj := range i.Reader().All() {
		m[meta.KeyOf(obj)] = obj
	}
	return m
}

// difference says how the cache and its handler differ from the server, or nothing.
func (i *informed) difference() string {
	good, bad := i.r.truth(i.o)
	held := i.held()
	for k := range bad {
		delete(held, k) // its last good state, if there was one
	}
	if d := differ("cache", held, good); d != "" {
		return d
	}
	return i.witness.difference(i.held())
}

// current fails unless the cache and its handler are what the server has.
func (i *informed) current() {
	i.r.Helper()
	synctest.Wait()
	if d := i.difference(); d != "" {
		i.r.Error(d)
	}
}

// differ compares by key, uid, version and content.
func differ(what string, got, want map[meta.Key]*Thing) string {
	for k, w := range want {
		g := got[k]
		if g == nil {
			return fmt.Sprintf("%s lacks %v", what, k)
		}
		if g.UID != w.UID || g.ResourceVersion != w.ResourceVersion || !maps.Equal(g.Data, w.Data) || !maps.Equal(g.Labels, w.Labels) {
			return fmt.Sprintf("%s has %v as %v %v %v %v, want %v %v %v %v",
				what, k, g.UID, g.ResourceVersion, g.Data, g.Labels, w.UID, w.ResourceVersion, w.Data, w.Labels)
		}
	}
	for k := range got {
		if want[k] == nil {
			return fmt.Sprintf("%s has %v, which is gone", what, k)
		}
	}
	return ""
}

// witness is a handler that folds what it is told into a state, and fails the test when it is told what cannot be.
type witness struct {
	t     *testing.T
	delay func() // called in each call of the handler, if not nil

	mu       sync.Mutex
	have     map[meta.Key]*Thing
	versions map[string]string // the newest by uid
	calls    []string
}

func (w *witness) OnAdd(obj *Thing)         { w.note("add", nil, obj) }
func (w *witness) OnUpdate(old, new *Thing) { w.note("update", old, new) }
func (w *witness) OnDelete(obj *Thing)      { w.note("delete", obj, obj) }

func (w *witness) note(call string, old, obj *Thing) {
	if w.delay != nil {
		w.delay()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.have == nil {
		w.have, w.versions = map[meta.Key]*Thing{}, map[string]string{}
	}
	k := meta.KeyOf(obj)
	was := w.have[k]
	w.calls = append(w.calls, call+" "+k.Name)
	if order, ok := meta.CompareVersions(obj.ResourceVersion, w.versions[obj.UID]); ok && order < 0 {
		w.t.Errorf("%s %v: version %s after %s", call, k, obj.ResourceVersion, w.versions[obj.UID])
	}
	w.versions[obj.UID] = obj.ResourceVersion
	switch {
	case call == "add" && was != nil:
		w.t.Errorf("add %v, which is there", k)
	case call != "add" && was == nil:
		w.t.Errorf("%s %v, which is not there", call, k)
	case call != "add" && was.UID != obj.UID:
		w.t.Errorf("%s %v: uid %s, and %s was added", call, k, obj.UID, was.UID)
	case call == "update" && was != old:
		w.t.Errorf("update %v: old is not what was told last", k)
	}
	if call == "delete" {
		delete(w.have, k)
	} else {
		w.have[k] = obj
	}
}

func (w *witness) difference(want map[meta.Key]*Thing) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return differ("handler", w.have, want)
}

// told returns the calls since the last time, in order of their text.
func (w *witness) told() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := slices.Sorted(slices.Values(w.calls))
	w.calls = nil
	return calls
}

// tells fails unless the handler has been called so since the last time.
func (i *informed) tells(want ...string) {
	i.r.Helper()
	if got := i.told(); !slices.Equal(got, want) {
		i.r.Errorf("handler was told %q, want %q", got, want)
	}
}

// relisted fails unless there were these relists.
func (i *informed) relisted(want map[informer.Cause]int) {
	i.r.Helper()
	if got := i.Status().Relists; !maps.Equal(got, want) {
		i.r.Errorf("relists: %v, want %v", got, want)
	}
}

// frames answers a watch with these events. Then it ends the answer, or, if hold is true, stays open.
func frames(hold bool, lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		for _, line := range lines {
			_, _ = io.WriteString(w, line+"\n")
		}
		_ = http.NewResponseController(w).Flush()
		if hold {
			<-r.Context().Done()
		}
	}
}

// html is the page of a proxy that answers in the server's place.
func html(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<html><title>Please log in</title></html>")
}

func failure(code int, reason, message string) http.HandlerFunc {
	return clienttest.Answer(meta.Status{Code: code, Reason: reason, Message: message})
}

// errorEvent is an ERROR event.
func errorEvent(code int, reason, rest string) string {
	return fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q%s}}`,
		code, reason, rest)
}

// journal is what handlers of requests have seen, for a test that reads it meanwhile.
type journal[E any] struct {
	mu  sync.Mutex
	all []E
}

// add returns how many there are now.
func (j *journal[E]) add(e E) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = append(j.all, e)
	return len(j.all)
}

func (j *journal[E]) list() []E {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.all)
}

package warm_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// The oracle of warm starts: random histories of a server and of a program that ends, crashes and starts again while
// its files are damaged, exchanged for older ones, or removed, and the server forgets its history, goes back to an older
// state, fails or is mute. At rest the cache and a handler equal the server. No handler is told of an object that was
// gone before its process began.
//
//	go test ./informer/warm -run Oracle -seeds 10000   more of them
//	go test ./informer/warm -run Oracle -first 17 -seeds 1 -v
//
// A history that fails is tried again without some of its steps, until no step can be left out.
func TestOracle(t *testing.T) {
	warmStarts, starts := 0, 0
	for seed := range histories.Seeds(60) {
		if t.Failed() {
			return
		}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			steps := newSteps(seed)
			if testing.Verbose() && histories.One() {
				t.Logf("%v", steps)
			}
			w, faults := play(t, seed, steps)
			warmStarts, starts = warmStarts+w.warm, starts+w.starts
			if len(faults) == 0 {
				return
			}
			steps, faults = histories.Shorten(steps, faults, 200, func(steps []step) []string {
				_, faults := play(t, seed, steps)
				return faults
			})
			t.Errorf("seed %d: the shortest history that was found to fail: %v\nIt fails with:\n%s", seed, steps, strings.Join(faults, "\n"))
		})
	}
	if histories.Count(60) > 10 && (warmStarts < starts/10 || warmStarts > starts*9/10) {
		t.Errorf("%d of %d starts were warm: the histories show too little", warmStarts, starts)
	}
}

// step is one thing that happens. Each op has its own meaning for a and b.
type step struct {
	op   string
	a, b int
}

func newSteps(seed uint64) (steps []step) {
	r := rand.New(rand.NewPCG(seed, 1))
	var deck []string
	for op, weight := range map[string]int{
		"put": 30, "remove": 8, "recreate": 6, "other": 8, "pass": 14, "end": 10, "crash": 8, "compact": 2, "rollback": 1, "damage": 2, "older": 3, "lose": 1,
		"drop": 4, "fail": 3, "mute": 2, "bad": 3,
	} {
		for range weight {
			deck = append(deck, op)
		}
	}
	// A map has no order, and a seed must.
	deck = sorted(deck)
	for range 30 + r.IntN(40) {
		steps = append(steps, step{deck[r.IntN(len(deck))], r.IntN(1 << 16), r.IntN(1 << 16)})
	}
	return steps
}

func sorted(deck []string) []string {
	counts := map[string]int{}
	for _, op := range deck {
		counts[op]++
	}
	var out []string
	for _, op := range []string{
		"put", "remove", "recreate", "other", "pass", "end", "crash", "compact", "rollback", "damage", "older", "lose", "drop", "fail", "mute", "bad",
	} {
		for range counts[op] {
			out = append(out, op)
		}
	}
	return out
}

// world is one history as it is played.
type world struct {
	t      *testing.T
	server *clienttest.Server
	raw    client.Resource[*meta.Unstructured]
	others client.Resource[*meta.Unstructured]
	dir    string
	seed   uint64

	first        int // the version of the new server, which has its namespaces
	starts, warm int

	mu      sync.Mutex // guards the rest
	faults  []string
	moment  int                   // counts steps
	good    map[meta.Key][]string // states that may be the last good one of an object that does not decode
	ended   map[string]int        // when a state, by uid and version, was replaced or removed
	began   int                   // when the process began
	told    map[meta.Key]*Fit
	failing bool

	inf    *informer.Informer[*Fit]
	cancel context.CancelFunc
	done   chan error
	older  map[string][]byte // files as they were once
}

// Fit is a config map whose data must not have "bad".
type Fit struct {
	meta.ObjectMeta `json:"metadata"`
	Data            Checked `json:"data,omitempty"`
}

// Checked refuses some maps.
type Checked map[string]string

func (c Checked) MarshalJSON() ([]byte, error) { return marshal(map[string]string(c)) }

func (c *Checked) UnmarshalJSON(b []byte) error {
	m, err := unmarshal(b)
	if err == nil && m["bad"] != "" {
		err = errBad
	}
	if err == nil {
		*c = m
	}
	return err
}

func (w *world) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func play(t *testing.T, seed uint64, steps []step) (w *world, faults []string) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{HistoryAge: 1000 * time.Hour})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		w = &world{
			t: t, server: server, dir: filepath.Join(dir, "files"), seed: seed, good: map[meta.Key][]string{}, ended: map[string]int{}, older: map[string][]byte{},
			raw:    client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}),
			others: client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"}),
		}
		server.Intercept(func(q *http.Request) http.HandlerFunc {
			of := clienttest.RequestOf(q)
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.failing && (of.Verb == "list" || of.Verb == "watch") {
				return clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable", Message: "not now"})
			}
			return nil
		})
		_, _ = fmt.Sscan(server.ResourceVersion(), &w.first)
		w.start()
		for _, s := range steps {
			w.mu.Lock()
			w.moment++
			w.mu.Unlock()
			w.play(s)
		}
		w.rest()
		w.end(false)
		faults = w.faults
	})
	return w, faults
}

// start begins a process.
func (w *world) start() {
	c, err := client.New(w.server.Config())
	if err != nil {
		w.t.Fatal(err)
	}
	// Half of the histories list page by page.
	mode := []informer.Mode{informer.Auto, informer.Paged}[w.seed%2]
	o := warm.Options{Dir: w.dir, Every: time.Duration(1+w.seed%3) * time.Minute}
	if w.seed%5 == 0 {
		o.Seal, o.Open = seal, open
	}
	things := client.For(c, client.Type[*Fit]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	w.mu.Lock()
	w.began, w.told = w.moment, map[meta.Key]*Fit{}
	told := w.told
	w.mu.Unlock()
	w.inf = informer.New(things, informer.Options{
		Mode: mode, Warm: warm.New(o), Namespace: "default", AllowEarlyReads: true, OnError: func(error) {},
	})
	w.inf.Subscribe(cache.HandlerFuncs[*Fit]{
		Add:    func(obj *Fit) { w.tell(told, nil, obj) },
		Update: func(old, obj *Fit) { w.tell(told, old, obj) },
		Delete: func(obj *Fit) {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(told, meta.KeyOf(obj))
		},
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel, w.done = cancel, make(chan error, 1)
	go func(inf *informer.Informer[*Fit], done chan error) {
		defer c.Close()
		done <- inf.Run(ctx)
	}(w.inf, w.done)
	w.starts++
}

func (w *world) tell(told map[meta.Key]*Fit, old, obj *Fit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := meta.KeyOf(obj)
	if was := told[key]; (was != nil) != (old != nil) {
		w.faults = append(w.faults, fmt.Sprintf("handler is told of %v %s, and knew %v", key, obj.ResourceVersion, was))
	}
	told[key] = obj
	if at, gone := w.ended[obj.UID+" "+obj.ResourceVersion]; gone && at < w.began {
		w.faults = append(w.faults, fmt.Sprintf("handler is told of %v %s, which was gone at step %d, before the process began at %d", key, obj.ResourceVersion, at, w.began))
	}
}

// end ends the process. After a crash the files are as they were before.
func (w *world) end(crash bool) {
	before := w.files()
	if w.inf.Status().Warm > 0 {
		w.warm++
	}
	w.cancel()
	if err := <-w.done; err != nil {
		w.fault("Run returned %v", err)
	}
	if crash {
		for name := range w.files() {
			if _, was := before[name]; !was {
				_ = os.Remove(name)
			}
		}
		w.restore(before)
	}
}

func (w *world) files() map[string][]byte {
	names, _ := filepath.Glob(filepath.Join(w.dir, "*"))
	all := map[string][]byte{}
	for _, name := range names {
		all[name], _ = os.ReadFile(name)
	}
	return all
}

func (w *world) restore(files map[string][]byte) {
	for name, b := range files {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// state returns the uid and the version of an object, or nothing if it does not exist.
func (w *world) state(key meta.Key) string {
	obj, err := w.raw.Get(w.t.Context(), key)
	if err != nil {
		return ""
	}
	uid, _, _ := meta.Nested[string](obj, "metadata", "uid")
	return uid + " " + obj.GetResourceVersion()
}

// changes notes that f has ended the state of an object, if it has. Caches keep an object in its last good state while
// it does not decode, so that state ends later.
func (w *world) changes(key meta.Key, bad bool, f func()) {
	was := w.state(key)
	f()
	is := w.state(key)
	if is == was || was == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if bad {
		w.good[key] = append(w.good[key], was)
		return
	}
	for _, state := range append(w.good[key], was) {
		w.ended[state] = w.moment
	}
	delete(w.good, key)
}

func (w *world) put(key meta.Key, data map[string]any) {
	w.changes(key, data["bad"] != nil, func() { w.write(key, data) })
}

func (w *world) write(key meta.Key, data map[string]any) {
	obj := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}, "data": data}}
	if _, err := w.raw.Update(w.t.Context(), obj); err == nil {
		return
	}
	if _, err := w.raw.Create(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(key meta.Key) {
	w.changes(key, false, func() {
		_ = w.raw.Delete(w.t.Context(), key, client.DeleteOptions{}) // it may not be there
	})
}

func (w *world) play(s step) {
	key := meta.Key{Namespace: "default", Name: fmt.Sprint("a", s.a%12)}
	switch s.op {
	case "put":
		w.put(key, map[string]any{"k": fmt.Sprint(s.b % 4)})
	case "bad":
		w.put(key, map[string]any{"bad": "yes"})
	case "remove":
		w.remove(key)
	case "recreate":
		w.remove(key)
		w.put(key, map[string]any{"k": fmt.Sprint(s.b % 4)})
	case "other": // only the version of the server moves
		name := fmt.Sprint("o", w.moment)
		obj := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "default", "name": name}}}
		if _, err := w.others.Create(w.t.Context(), obj); err != nil {
			w.t.Fatal(err)
		}
	case "pass":
		d := time.Duration(s.a%3000) * time.Millisecond
		if s.b%4 == 0 {
			d = time.Duration(s.a%400) * time.Second
		}
		time.Sleep(d)
	case "end", "crash":
		if s.b%3 > 0 {
			w.rest()
		}
		w.end(s.op == "crash")
		if s.b%2 == 0 { // something happens while no process runs
			w.mu.Lock()
			w.moment++
			w.mu.Unlock()
			w.play(step{"put", s.a, s.b})
			w.play(step{"remove", s.a / 7, s.b})
		}
		w.start()
	case "compact":
		w.server.Compact()
	case "rollback": // a process starts before the server passes the version of the file; later nobody can tell
		w.end(false)
		var now int
		_, _ = fmt.Sscan(w.server.ResourceVersion(), &now)
		_ = w.server.Rollback(fmt.Sprint(max(w.first, now-s.a%8))) // an error says that this is too far back
		w.mu.Lock()
		w.ended, w.older = map[string]int{}, map[string][]byte{} // versions are used again
		w.mu.Unlock()
		w.start()
		w.rest()
		w.end(false)
		w.start()
	case "damage", "older", "lose":
		w.spoil(s)
	case "drop":
		w.server.DropWatches()
	case "fail":
		w.mu.Lock()
		w.failing = !w.failing
		w.mu.Unlock()
	case "mute":
		w.server.MuteBookmarks(s.a%2 == 0)
	}
}

// spoil ends the process, does something to its files, and starts another one.
func (w *world) spoil(s step) {
	w.end(false)
	for name, b := range w.files() {
		if s.op == "older" {
			if was := w.older[name]; was != nil && s.b%3 > 0 {
				w.restore(map[string][]byte{name: was})
			} else {
				w.older[name] = b
			}
			continue
		}
		switch {
		case s.op == "lose" || len(b) == 0:
			_ = os.Remove(name)
			continue
		case s.b%2 == 0:
			b = b[:s.a%len(b)]
		default:
			b[s.a%len(b)] ^= 1 << (s.b % 8)
		}
		w.restore(map[string][]byte{name: b})
	}
	w.start()
}

// rest waits until nothing happens any more, and compares.
func (w *world) rest() {
	w.mu.Lock()
	w.failing = false
	told := w.told
	w.mu.Unlock()
	w.server.MuteBookmarks(false)
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Minute)
	defer cancel()
	if err := w.inf.WaitSynced(ctx); err != nil {
		w.fault("at rest it is not synced: %v: %v", err, w.inf.Status())
		return
	}
	time.Sleep(12 * time.Minute) // a rollback shows when bookmarks stay away
	synctest.Wait()
	want, bad := map[meta.Key]string{}, map[meta.Key]bool{}
	list, err := w.raw.List(w.t.Context(), client.ListOptions{Namespace: "default"})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, obj := range list.Items {
		uid, _, _ := meta.Nested[string](obj, "metadata", "uid")
		value, _, _ := meta.Nested[string](obj, "data", "k")
		if is, _, _ := meta.Nested[string](obj, "data", "bad"); is != "" {
			bad[meta.KeyOf(obj)] = true
			continue
		}
		want[meta.KeyOf(obj)] = uid + " " + obj.GetResourceVersion() + " " + value
	}
	text := func(obj *Fit) string { return obj.UID + " " + obj.ResourceVersion + " " + obj.Data["k"] }
	have, heard := map[meta.Key]string{}, map[meta.Key]string{}
	for obj := range w.inf.Reader().All() {
		if !bad[meta.KeyOf(obj)] { // its last good state
			have[meta.KeyOf(obj)] = text(obj)
		}
	}
	w.mu.Lock()
	for key, obj := range told {
		if !bad[key] {
			heard[key] = text(obj)
		}
	}
	w.mu.Unlock()
	if !maps.Equal(have, want) {
		w.fault("the cache has %v, want %v: %v", have, want, w.inf.Status())
	}
	if !maps.Equal(heard, want) {
		w.fault("the handler knows %v, want %v", heard, want)
	}
	reported := map[meta.Key]bool{}
	for _, u := range w.inf.Status().Undecodable {
		reported[u.Identity.Key()] = true
	}
	if !maps.Equal(reported, bad) {
		w.fault("objects that do not decode are %v, want %v", reported, bad)
	}
}

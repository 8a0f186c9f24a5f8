package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// history makes a random history of a store, and keeps the model that the store has to agree with in the end.
type history struct {
	*testing.T
	rnd     *rand.Rand
	store   things
	packed  bool // the store packs its objects
	narrow  bool // a writer for each namespace writes, not one for all
	index   *cache.Index[string, *thing]
	first   *cache.Index[string, *thing] // by the first tag
	server  map[meta.Key]*thing          // what there is
	cached  map[meta.Key]*thing          // what the store should hold: differs from server where an object did not decode
	version int
}

// handler folds its calls into a state, and checks the invariants that hold at each call.
type folding struct {
	*testing.T
	name  string
	sub   *cache.Subscription
	pause func()
	match func(*thing) bool // nil is all

	mu     sync.Mutex
	state  map[meta.Key]*thing
	newest map[string]int // of each uid, the newest version that it was told of
	log    []string
}

// everyFolding is a handler that takes every state.
type everyFolding struct{ *folding }

func (everyFolding) TakeEveryState() {}

func (f *folding) OnAdd(o *thing) {
	f.check(o)
	if f.match != nil && !f.match(o) {
		f.Errorf("%s: add %v, which does not match", f.name, o)
	}
	if was := f.state[o.ID.Key()]; was != nil {
		f.Errorf("%s: add %v after %v", f.name, o, was)
	}
	f.put(o.ID.Key(), o)
	f.log = append(f.log, fmt.Sprintf("add %v", o))
	f.pause()
}

func (f *folding) OnUpdate(old, now *thing) {
	f.check(now)
	// A state that went and came back unseen is another reference to the same state.
	if was := f.state[old.ID.Key()]; was == nil || was.ID != old.ID {
		f.Errorf("%s: update from %v, was told %v last", f.name, old, was)
	}
	if f.match != nil && !f.match(now) {
		f.Errorf("%s: update to %v, which does not match", f.name, now)
	}
	if old.ID.UID != now.ID.UID || old.ID == now.ID {
		f.Errorf("%s: update from %v to %v", f.name, old, now)
	}
	f.put(now.ID.Key(), now)
	f.log = append(f.log, fmt.Sprintf("update %v -> %v", old, now))
	f.pause()
}

func (f *folding) OnDelete(o *thing) {
	f.check(o)
	if was := f.state[o.ID.Key()]; was == nil || was.ID.UID != o.ID.UID {
		f.Errorf("%s: delete %v, was told %v last", f.name, o, was)
	}
	f.put(o.ID.Key(), nil)
	f.log = append(f.log, fmt.Sprintf("delete %v", o))
	f.pause()
}

func (f *folding) check(o *thing) {
	version, _ := strconv.Atoi(o.ID.ResourceVersion)
	if version < f.newest[o.ID.UID] {
		f.Errorf("%s: told %v, and of version %d before", f.name, o, f.newest[o.ID.UID])
	}
	f.newest[o.ID.UID] = version
}

func (f *folding) put(k meta.Key, o *thing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o == nil {
		delete(f.state, k)
	} else {
		f.state[k] = o
	}
}

// next makes a new state of the object at k: of the one that is there, or of a new one.
func (h *history) next(k meta.Key, uid string) *thing {
	h.version++
	version := strconv.Itoa(h.version)
	o := &thing{ID: meta.Identity{Namespace: k.Namespace, Name: k.Name, UID: uid, ResourceVersion: version}}
	if uid == "" {
		o.ID.UID = "u" + version
	}
	for range h.rnd.IntN(4) {
		o.Tags = append(o.Tags, strconv.Itoa(h.rnd.IntN(3)))
	}
	return o
}

// writer returns the writer that writes namespace ns.
func (h *history) writer(ns string) *store.Writer[*thing] {
	if h.narrow {
		return h.store.Writer(ns)
	}
	return h.store.Writer("")
}

// reshape goes from one writer for all to one for each namespace, or back. The store keeps its objects, and subscriptions
// that are made before the next relist wait for it.
func (h *history) reshape() {
	h.narrow = !h.narrow
	writers, old := []string{""}, []string{"0", "1"}
	if h.narrow {
		writers, old = old, writers
	}
	for _, ns := range writers {
		h.store.Writer(ns)
	}
	for _, ns := range old {
		h.store.Writer(ns).Drop()
	}
}

// drop ends the writer of a namespace with its objects, and adds it again, empty.
func (h *history) drop() {
	if !h.narrow {
		return
	}
	h.store.Writer("0").Drop()
	for k := range h.cached {
		if k.Namespace == "0" {
			delete(h.cached, k)
		}
	}
	h.store.Writer("0")
}

func (h *history) step() {
	k := meta.Key{Namespace: strconv.Itoa(h.rnd.IntN(2)), Name: strconv.Itoa(h.rnd.IntN(5))}
	is := h.server[k]
	switch n := h.rnd.IntN(100); {
	case n < 55: // create or update
		uid := ""
		if is != nil {
			uid = is.ID.UID
		}
		o := h.next(k, uid)
		h.server[k] = o
		if h.rnd.IntN(20) > 0 { // else it does not decode, and the store keeps what it has
			h.cached[k] = o
			h.writer(k.Namespace).Set(o.ID, o)
		}
		if h.rnd.IntN(20) == 0 && h.cached[k] == o { // the event comes twice
			h.writer(k.Namespace).Set(o.ID, &thing{ID: o.ID, Tags: o.Tags})
		}
	case n < 75: // delete
		if is == nil {
			h.writer(k.Namespace).Delete(h.next(k, "").ID, nil)
			break
		}
		last := h.next(k, is.ID.UID)
		delete(h.server, k)
		delete(h.cached, k)
		if h.rnd.IntN(4) == 0 {
			h.writer(k.Namespace).Delete(last.ID, nil)
		} else {
			h.writer(k.Namespace).Delete(last.ID, last)
		}
	case n < 80:
		h.version++
		h.writer(k.Namespace).Bookmark(strconv.Itoa(h.version))
	case n < 82:
		h.reshape()
	case n < 83:
		h.drop()
	case n < 90: // a gap: changes that only a relist shows
		for range h.rnd.IntN(6) {
			k := meta.Key{Namespace: strconv.Itoa(h.rnd.IntN(2)), Name: strconv.Itoa(h.rnd.IntN(5))}
			switch is := h.server[k]; {
			case is != nil && h.rnd.IntN(2) == 0:
				delete(h.server, k)
			case is != nil && h.rnd.IntN(2) == 0:
				h.server[k] = h.next(k, is.ID.UID)
			default:
				h.server[k] = h.next(k, "")
			}
		}
		h.relist(0.1)
	default:
		h.relist(0)
	}
}

// relist replaces the store's contents by those of the server, all of them or those of one namespace after the other. Of
// the objects that have to be decoded, a writer is not.
func (h *history) relist(broken float64) {
	if !h.narrow {
		h.relistPart("", broken)
		return
	}
	if h.rnd.IntN(2) == 0 { // another writer is in the middle of a relist, and is overtaken
		staged := h.store.Writer("1").Relist()
		for k, o := range h.server {
			if _, kept := staged.Keep(o.ID); !kept && k.Namespace == "1" {
				staged.Set(o.ID, o)
			}
		}
	}
	h.relistPart("0", broken)
	h.relistPart("1", broken)
}

func (h *history) relistPart(ns string, broken float64) {
	in := func(k meta.Key) bool { return ns == "" || k.Namespace == ns }
	writer := h.store.Writer(ns)
	if h.rnd.IntN(3) == 0 { // one that is cut short, and has no effect
		r := writer.Relist()
		for _, o := range h.server {
			if _, kept := r.Keep(o.ID); !kept {
				r.Set(o.ID, o)
			}
			if h.rnd.IntN(4) == 0 {
				break
			}
		}
	}
	r := writer.Relist()
	cached := map[meta.Key]*thing{}
	for k, o := range h.server {
		if !in(k) {
			continue
		}
		twice := h.rnd.IntN(20) == 0 // of two for a key the later counts
		if twice {
			older := *o
			older.ID.ResourceVersion = "0"
			r.Set(older.ID, &older)
		}
		switch got, kept := r.Keep(o.ID); {
		case kept:
			if h.cached[k] == nil || !h.packed && got.ID != o.ID {
				h.Errorf("kept %v, want %v", got, h.cached[k])
			}
			cached[k] = o
		case !twice && h.rnd.Float64() < broken:
			r.Retain(o.ID)
			if was := h.cached[k]; was != nil && was.ID.UID == o.ID.UID {
				cached[k] = was
			}
		default:
			r.Set(o.ID, o)
			cached[k] = o
		}
	}
	var want store.Changes
	for k, o := range cached {
		switch was := h.cached[k]; {
		case was == nil:
			want.Added++
		case was.ID == o.ID:
			want.Unchanged++
		case was.ID.UID == o.ID.UID:
			want.Updated++
		default:
			want.Added++
			want.Deleted++
		}
	}
	for k := range h.cached {
		if in(k) {
			if cached[k] == nil {
				want.Deleted++
			}
			delete(h.cached, k)
		}
	}
	maps.Copy(h.cached, cached)
	h.version++
	if got := r.Commit(strconv.Itoa(h.version)); got != want {
		h.Errorf("Commit = %+v, want %+v", got, want)
	}
}

// wait waits beside the history for a version that comes soon, and checks that the cache is there when it does.
func (h *history) wait(waits *sync.WaitGroup) {
	k := meta.Key{Namespace: strconv.Itoa(h.rnd.IntN(2)), Name: strconv.Itoa(h.rnd.IntN(5))}
	want := max(1, h.version+h.rnd.IntN(12)-3)
	if want > h.version+5 {
		h.version += 5 // so that the history gets there
	}
	want = min(want, h.version)
	waits.Go(func() {
		if _, err := h.store.Reader().WaitFor(h.Context(), k, strconv.Itoa(want)); err != nil {
			h.Error(err)
		}
	})
}

// check compares the store with the model.
func (h *history) check() {
	h.Helper()
	r := h.store.Reader()
	want := map[string][]string{}
	first := map[string][]string{}
	spaces := map[string][]string{}
	var all []string
	for k, o := range h.cached {
		all = append(all, o.String())
		spaces[k.Namespace] = append(spaces[k.Namespace], o.String())
		slices.Sort(spaces[k.Namespace])
		first[firstTag(o)] = sorted(append(first[firstTag(o)], o.String()))
		for _, tag := range slices.Compact(sorted(o.Tags)) {
			want[tag] = append(want[tag], o.String())
			slices.Sort(want[tag])
		}
		if got, ok := r.Get(k); !ok || got.ID != o.ID {
			h.Errorf("Get(%v) = %v, want %v", k, got, o)
		}
	}
	expect(h.T, "All", states(r.All()), sorted(all)...)
	if !slices.IsSortedFunc(slices.Collect(r.Sorted()), func(a, b *thing) int { return a.ID.Key().Compare(b.ID.Key()) }) {
		h.Error("Sorted is not in the order of the keys")
	}
	expect(h.T, "Sorted", states(r.Sorted()), sorted(all)...)
	for _, ns := range []string{"0", "1"} {
		expect(h.T, "Namespace", states(r.Namespace(ns)), spaces[ns]...)
	}
	expect(h.T, "Index", contents(h.index), contentsOf(want)...)
	expect(h.T, "value Index", contents(h.first), contentsOf(first)...)
}

// TestHistories is the property behind all others: whatever happens to the store and however slow the handlers are, at
// rest the store is the model, each handler's folded calls are the store, and the calls for each key form cycles.
//
// behaviours 210, 211, 221, 225, 226, 235, 254; the invariants 1 to 4 of the fault model
func TestHistories(t *testing.T) {
	for seed := range histories.Seeds(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runHistory(t, seed) })
		})
	}
}

func runHistory(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	h := &history{
		T: t, rnd: rnd, store: storetest.New[*thing](), packed: seed%2 == 0,
		server: map[meta.Key]*thing{}, cached: map[meta.Key]*thing{},
	}
	if h.packed {
		h.store = storetest.NewPacked[*thing]()
		h.store.SetHot([]int{0, 500, 1000, 100_000}[seed/2%4])
	}
	h.store.SetLarge([]int{1000, 3, 1}[seed%3])
	h.index = cache.NewIndex(h.store.Reader(), func(o *thing) []string { return o.Tags })
	h.first = cache.NewValueIndex(h.store.Reader(), firstTag)
	var all []*folding
	follow := func(r cache.Reader[*thing], f *folding) {
		if rnd.IntN(2) == 0 {
			f.name += ", every state"
			f.sub = r.Subscribe(everyFolding{f})
			return
		}
		f.sub = r.Subscribe(f)
	}
	subscribe := func() {
		f := &folding{T: t, state: map[meta.Key]*thing{}, newest: map[string]int{}}
		f.name = fmt.Sprintf("handler %d", len(all))
		// From one that is faster than the history to one that sees a tenth of it.
		delay := []time.Duration{0, 1, 3, 30}[rnd.IntN(4)] * time.Millisecond
		f.pause = func() { pass(delay) }
		if rnd.IntN(3) > 0 {
			follow(h.store.Reader(), f)
		} else {
			tag := strconv.Itoa(rnd.IntN(3))
			f.name += ", filtered"
			f.match = func(o *thing) bool { return slices.Contains(o.Tags, tag) }
			follow(h.store.Reader().Where(f.match), f)
		}
		all = append(all, f)
	}
	// Two that take every state, one fast and one slow, receive the same calls.
	fast := &folding{T: t, name: "fast", state: map[meta.Key]*thing{}, newest: map[string]int{}, pause: func() {}}
	slow := &folding{T: t, name: "slow", state: map[meta.Key]*thing{}, newest: map[string]int{}, pause: func() { pass(30 * time.Millisecond) }}
	for _, f := range []*folding{fast, slow} {
		f.sub = h.store.Reader().Subscribe(everyFolding{f})
		all = append(all, f)
	}
	start := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.store.Deliver(ctx, func(err *cache.PanicError) { t.Error(err) }) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	subscribe()
	subscribe()
	stop := start()
	closed := map[int]bool{}
	var waits sync.WaitGroup
	for range 100 {
		h.step()
		if rnd.IntN(2) == 0 {
			pass(time.Duration(rnd.IntN(4)) * time.Millisecond)
		}
		switch rnd.IntN(60) {
		case 0:
			subscribe()
		case 1:
			i := 2 + rnd.IntN(len(all)-2)
			closed[i] = true
			all[i].sub.Close()
		case 2:
			stop()
			stop = start()
		case 3:
			h.check()
			for _, ix := range []*cache.Index[string, *thing]{h.index, h.first} {
				ix.Close()
				if keys := slices.Collect(ix.Keys()); len(keys) > 0 {
					t.Errorf("a closed index has %v", keys)
				}
			}
			h.index = cache.NewIndex(h.store.Reader(), func(o *thing) []string { return o.Tags })
			h.first = cache.NewValueIndex(h.store.Reader(), firstTag)
		case 4, 5, 6:
			h.wait(&waits)
		}
	}
	h.relist(0)
	pass(time.Minute)
	synctest.Wait()
	waits.Wait() // the last relist is later than all that is waited for
	h.check()
	want := slices.Sorted(maps.Values(names(h.cached)))
	for i, f := range all {
		if pending(f.sub) != 0 {
			t.Errorf("%s: %d pending at rest", f.name, pending(f.sub))
		}
		if closed[i] {
			continue
		}
		if !isClosed(f.sub.Synced()) {
			t.Errorf("%s is not synced", f.name)
		}
		want := want
		if f.match != nil {
			want = states(func(yield func(*thing) bool) {
				for _, o := range h.cached {
					if f.match(o) {
						yield(o)
					}
				}
			})
		}
		expect(t, f.name, slices.Sorted(maps.Values(names(f.state))), want...)
	}
	expect(t, "the calls of a slow handler that takes every state", slow.log, fast.log...)
	stop()
}

func names(state map[meta.Key]*thing) map[meta.Key]string {
	m := map[meta.Key]string{}
	for k, o := range state {
		m[k] = o.String()
	}
	return m
}

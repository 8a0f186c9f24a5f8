package cache_test

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
)

// history makes a random history of a store, and keeps the model that the store has to agree with in the end.
type history struct {
	*testing.T
	rnd     *rand.Rand
	store   *cache.Store[*thing]
	index   *cache.Index[string, *thing]
	server  map[meta.Key]*thing // what there is
	cached  map[meta.Key]*thing // what the store should hold: differs from server where an object did not decode
	version int
}

// handler folds its calls into a state, and checks the invariants that hold at each call.
type folding struct {
	*testing.T
	name  string
	sub   *cache.Subscription
	pause func()

	mu     sync.Mutex
	state  map[meta.Key]*thing
	newest map[string]int // of each uid, the newest version that it was told of
}

func (f *folding) OnAdd(o *thing) {
	f.check(o)
	if was := f.state[o.id.Key()]; was != nil {
		f.Errorf("%s: add %v after %v", f.name, o, was)
	}
	f.put(o.id.Key(), o)
	f.pause()
}

func (f *folding) OnUpdate(old, now *thing) {
	f.check(now)
	// A state that went and came back unseen is another reference to the same state.
	if was := f.state[old.id.Key()]; was == nil || was.id != old.id {
		f.Errorf("%s: update from %v, was told %v last", f.name, old, was)
	}
	if old.id.UID != now.id.UID || old.id == now.id {
		f.Errorf("%s: update from %v to %v", f.name, old, now)
	}
	f.put(now.id.Key(), now)
	f.pause()
}

func (f *folding) OnDelete(o *thing) {
	f.check(o)
	if was := f.state[o.id.Key()]; was == nil || was.id.UID != o.id.UID {
		f.Errorf("%s: delete %v, was told %v last", f.name, o, was)
	}
	f.put(o.id.Key(), nil)
	f.pause()
}

func (f *folding) check(o *thing) {
	version, _ := strconv.Atoi(o.id.ResourceVersion)
	if version < f.newest[o.id.UID] {
		f.Errorf("%s: told %v, and of version %d before", f.name, o, f.newest[o.id.UID])
	}
	f.newest[o.id.UID] = version
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
	o := &thing{id: meta.Identity{Namespace: k.Namespace, Name: k.Name, UID: uid, ResourceVersion: version}}
	if uid == "" {
		o.id.UID = "u" + version
	}
	for range h.rnd.IntN(4) {
		o.tags = append(o.tags, strconv.Itoa(h.rnd.IntN(3)))
	}
	return o
}

func (h *history) step() {
	k := meta.Key{Namespace: strconv.Itoa(h.rnd.IntN(2)), Name: strconv.Itoa(h.rnd.IntN(5))}
	is := h.server[k]
	switch n := h.rnd.IntN(100); {
	case n < 55: // create or update
		uid := ""
		if is != nil {
			uid = is.id.UID
		}
		o := h.next(k, uid)
		h.server[k] = o
		if h.rnd.IntN(20) > 0 { // else it does not decode, and the store keeps what it has
			h.cached[k] = o
			h.store.Set(o.id, o)
		}
		if h.rnd.IntN(20) == 0 && h.cached[k] == o { // the event comes twice
			h.store.Set(o.id, &thing{id: o.id, tags: o.tags})
		}
	case n < 75: // delete
		if is == nil {
			h.store.Delete(h.next(k, "").id, nil)
			break
		}
		last := h.next(k, is.id.UID)
		delete(h.server, k)
		delete(h.cached, k)
		if h.rnd.IntN(4) == 0 {
			h.store.Delete(last.id, nil)
		} else {
			h.store.Delete(last.id, last)
		}
	case n < 80:
		h.version++
		h.store.Bookmark(strconv.Itoa(h.version))
	case n < 90: // a gap: changes that only a relist shows
		for range h.rnd.IntN(6) {
			k := meta.Key{Namespace: strconv.Itoa(h.rnd.IntN(2)), Name: strconv.Itoa(h.rnd.IntN(5))}
			switch is := h.server[k]; {
			case is != nil && h.rnd.IntN(2) == 0:
				delete(h.server, k)
			case is != nil && h.rnd.IntN(2) == 0:
				h.server[k] = h.next(k, is.id.UID)
			default:
				h.server[k] = h.next(k, "")
			}
		}
		h.relist(0.1)
	default:
		h.relist(0)
	}
}

// relist replaces the store's contents by those of the server. Of the objects that have to be decoded, a part is not.
func (h *history) relist(broken float64) {
	if h.rnd.IntN(3) == 0 { // one that is cut short, and has no effect
		r := h.store.Relist()
		for _, o := range h.server {
			if _, kept := r.Keep(o.id); !kept {
				r.Set(o.id, o)
			}
			if h.rnd.IntN(4) == 0 {
				break
			}
		}
	}
	r := h.store.Relist()
	cached := map[meta.Key]*thing{}
	for k, o := range h.server {
		switch got, kept := r.Keep(o.id); {
		case kept:
			if h.cached[k] == nil || got.id != o.id {
				h.Errorf("kept %v, want %v", got, h.cached[k])
			}
			cached[k] = o
		case h.rnd.Float64() < broken:
			r.Retain(o.id)
			if was := h.cached[k]; was != nil && was.id.UID == o.id.UID {
				cached[k] = was
			}
		default:
			r.Set(o.id, o)
			cached[k] = o
		}
	}
	var want cache.Changes
	for k, o := range cached {
		switch was := h.cached[k]; {
		case was == nil:
			want.Added++
		case was.id == o.id:
			want.Unchanged++
		case was.id.UID == o.id.UID:
			want.Updated++
		default:
			want.Added++
			want.Deleted++
		}
	}
	for k := range h.cached {
		if cached[k] == nil {
			want.Deleted++
		}
	}
	h.cached = cached
	h.version++
	if got := r.Commit(strconv.Itoa(h.version)); got != want {
		h.Errorf("Commit = %+v, want %+v", got, want)
	}
}

// check compares the store with the model.
func (h *history) check() {
	h.Helper()
	r := h.store.Reader()
	want := map[string][]string{}
	spaces := map[string][]string{}
	var all []string
	for k, o := range h.cached {
		all = append(all, o.String())
		spaces[k.Namespace] = append(spaces[k.Namespace], o.String())
		slices.Sort(spaces[k.Namespace])
		for _, tag := range slices.Compact(sorted(o.tags)) {
			want[tag] = append(want[tag], o.String())
			slices.Sort(want[tag])
		}
		if got, ok := r.Get(k); !ok || got.id != o.id {
			h.Errorf("Get(%v) = %v, want %v", k, got, o)
		}
	}
	expect(h.T, "All", states(r.All()), sorted(all)...)
	for _, ns := range []string{"0", "1"} {
		expect(h.T, "Namespace", states(r.Namespace(ns)), spaces[ns]...)
	}
	expect(h.T, "Index", contents(h.index), contentsOf(want)...)
}

// TestHistories is the property behind all others: whatever happens to the store and however slow the handlers are, at
// rest the store is the model, each handler's folded calls are the store, and the calls for each key form cycles.
//
// behaviours 210, 211, 221, 225, 226, 235, 254; the invariants 1 to 4 of the fault model
func TestHistories(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runHistory(t, seed) })
		})
	}
}

func runHistory(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	h := &history{
		T: t, rnd: rnd, store: cache.NewStore[*thing](),
		server: map[meta.Key]*thing{}, cached: map[meta.Key]*thing{},
	}
	h.index = cache.NewIndex(h.store.Reader(), byTag)
	var all []*folding
	subscribe := func() {
		f := &folding{T: t, state: map[meta.Key]*thing{}, newest: map[string]int{}}
		f.name = fmt.Sprintf("handler %d", len(all))
		// From one that is faster than the history to one that sees a tenth of it.
		delay := []time.Duration{0, 1, 3, 30}[rnd.IntN(4)] * time.Millisecond
		f.pause = func() { pass(delay) }
		f.sub = h.store.Reader().Subscribe(f)
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
	for range 100 {
		h.step()
		if rnd.IntN(2) == 0 {
			pass(time.Duration(rnd.IntN(4)) * time.Millisecond)
		}
		switch rnd.IntN(60) {
		case 0:
			subscribe()
		case 1:
			i := rnd.IntN(len(all))
			closed[i] = true
			all[i].sub.Close()
		case 2:
			stop()
			stop = start()
		case 3:
			h.check()
			h.index = cache.NewIndex(h.store.Reader(), byTag)
		}
	}
	h.relist(0)
	pass(time.Minute)
	synctest.Wait()
	h.check()
	want := slices.Sorted(maps.Values(names(h.cached)))
	for i, f := range all {
		if f.sub.Pending() != 0 {
			t.Errorf("%s: %d pending at rest", f.name, f.sub.Pending())
		}
		if closed[i] {
			continue
		}
		if !isClosed(f.sub.Synced()) {
			t.Errorf("%s is not synced", f.name)
		}
		expect(t, f.name, slices.Sorted(maps.Values(names(f.state))), want...)
	}
	stop()
}

func names(state map[meta.Key]*thing) map[meta.Key]string {
	m := map[meta.Key]string{}
	for k, o := range state {
		m[k] = o.String()
	}
	return m
}

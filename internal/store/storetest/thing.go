package storetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
)

// Thing is an object. Its ID is the identity that the cache received; a projected struct may leave it out.
type Thing struct {
	ID   meta.Identity
	Tags []string
}

func (o *Thing) GetNamespace() string       { return o.ID.Namespace }
func (o *Thing) GetName() string            { return o.ID.Name }
func (o *Thing) GetResourceVersion() string { return o.ID.ResourceVersion }

// GetLabels returns none: a Thing has no labels.
func (o *Thing) GetLabels() map[string]string { return nil }

// String prints "ns/name uid@version".
func (o *Thing) String() string {
	return fmt.Sprintf("%s %s@%s", o.ID.Key(), o.ID.UID, o.ID.ResourceVersion)
}

// ID parses what Thing.String prints.
func ID(s string) meta.Identity {
	path, state, _ := strings.Cut(s, " ")
	ns, name, found := strings.Cut(path, "/")
	if !found {
		ns, name = "", path
	}
	uid, version, _ := strings.Cut(state, "@")
	return meta.Identity{Namespace: ns, Name: name, UID: uid, ResourceVersion: version}
}

func Key(s string) meta.Key { return ID(s).Key() }

func Object(s string, tags ...string) *Thing { return &Thing{ID: ID(s), Tags: tags} }

func Set(s Cache[*Thing], state string, tags ...string) {
	s.Set(ID(state), Object(state, tags...))
}

func Remove(s Cache[*Thing], state string) { s.Delete(ID(state), Object(state)) }

// Relist replaces the contents of s by the states, as an informer does.
func Relist(s Cache[*Thing], version string, states ...string) store.Changes {
	r := s.Relist()
	for _, state := range states {
		if _, kept := r.Keep(ID(state)); !kept {
			r.Set(ID(state), Object(state))
		}
	}
	return r.Commit(version)
}

// States collects a loop in a fixed order.
func States(seq iter.Seq[*Thing]) []string {
	var all []string
	for o := range seq {
		all = append(all, o.String())
	}
	slices.Sort(all)
	return all
}

// Record is a handler that writes down its calls.
type Record struct {
	mu    sync.Mutex
	calls []string
}

func (r *Record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

func (r *Record) OnAdd(o *Thing)           { r.add("add %v", o) }
func (r *Record) OnUpdate(old, now *Thing) { r.add("update %v -> %v", old, now) }
func (r *Record) OnDelete(o *Thing)        { r.add("delete %v", o) }

// Take returns the calls since the last Take.
func (r *Record) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// Deliver runs Cache.Deliver until stop is called; stop waits until it has returned.
func Deliver(t *testing.T, s Cache[*Thing]) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		result <- s.Deliver(ctx, func(err *cache.PanicError) { t.Errorf("%v\n%s", err, err.Stack) })
	}()
	return func() {
		t.Helper()
		cancel()
		if err := <-result; err != nil {
			t.Errorf("Deliver: %v", err)
		}
	}
}

// Bubble runs a subtest in virtual time.
func Bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// Pass lets virtual time pass. For a d of 0 or less it does not receive from a timer, because the timer is already due:
// if several goroutines of a bubble receive from due timers at once, the race detector of Go 1.26 can crash (they run
// the timer themselves, with the one race context that a bubble's timers have).
func Pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// Drain delivers what is pending, and returns when all handlers know what the store holds. It needs a synctest bubble.
func Drain(t *testing.T, s Cache[*Thing]) {
	t.Helper()
	stop := Deliver(t, s)
	synctest.Wait()
	stop()
}

func Sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func Expect[E comparable](t *testing.T, what string, got []E, want ...E) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// Pending returns how many changes a subscription's handler has not handled.
func Pending(sub *cache.Subscription) int {
	changes, _ := sub.Backlog()
	return changes
}

// Only returns a function that is true for the namespaces, for store.Writer.Restrict.
func Only(namespaces ...string) func(namespace string) bool {
	return func(ns string) bool { return slices.Contains(namespaces, ns) }
}

// Identities returns the identities of n objects, 50 in each namespace, with names, uids and versions of usual lengths.
// No two of them share memory, as with identities that a decoder makes.
func Identities(n int) []meta.Identity {
	ids := make([]meta.Identity, n)
	for i := range ids {
		ids[i] = meta.Identity{
			Namespace:       fmt.Sprintf("team-%d", i/50),
			Name:            fmt.Sprintf("web-7d4b9c6f5d-%05d", i),
			UID:             fmt.Sprintf("6b1f8a52-0c7e-4a3b-9d51-%012d", i),
			ResourceVersion: strconv.Itoa(1_000_000 + i),
		}
	}
	return ids
}

// Labelled is an object with labels.
type Labelled struct {
	meta.ObjectMeta `json:"metadata"`
}

// PutLabelled sets an object whose labels are written as "a=1,b=2".
func PutLabelled(s Cache[*Labelled], name, version, labels string) {
	o := &Labelled{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name, UID: name, ResourceVersion: version}}
	for pair := range strings.SplitSeq(labels, ",") {
		if key, value, found := strings.Cut(pair, "="); found {
			if o.Labels == nil {
				o.Labels = map[string]string{}
			}
			o.Labels[key] = value
		}
	}
	s.Set(meta.Identity{Namespace: "ns", Name: name, UID: name, ResourceVersion: version}, o)
}

// Filled returns a cache of things with these identities, and the things.
func Filled(ids []meta.Identity) (Cache[*Thing], []*Thing) {
	s := New[*Thing]()
	objects := make([]*Thing, len(ids))
	r := s.Relist()
	for i, id := range ids {
		objects[i] = &Thing{ID: id}
		r.Set(id, objects[i])
	}
	r.Commit("1")
	return s, objects
}

// ManyVersions returns a thousand resource versions.
func ManyVersions() []string {
	versions := make([]string, 1000)
	for i := range versions {
		versions[i] = strconv.Itoa(i)
	}
	return versions
}

// Slow is a handler for a test that controls its calls: each call sends on Started, and then waits for Next.
type Slow struct {
	Record
	Started, Next chan struct{}
}

// NewSlow returns a handler that has not been called.
func NewSlow() *Slow { return &Slow{Started: make(chan struct{}), Next: make(chan struct{})} }

func (h *Slow) OnAdd(o *Thing)           { h.wait(); h.Record.OnAdd(o) }
func (h *Slow) OnUpdate(old, now *Thing) { h.wait(); h.Record.OnUpdate(old, now) }
func (h *Slow) OnDelete(o *Thing)        { h.wait(); h.Record.OnDelete(o) }

func (h *Slow) wait() { h.Started <- struct{}{}; <-h.Next }

// FirstTag returns the first tag of a thing, or "".
func FirstTag(o *Thing) string {
	if len(o.Tags) == 0 {
		return ""
	}
	return o.Tags[0]
}

// Contents lists the objects of an index under each value, in a fixed order.
func Contents(ix *cache.Index[string, *Thing]) []string {
	m := map[string][]string{}
	for k := range ix.Keys() {
		m[k] = States(ix.Get(k))
		if ix.Len(k) != len(m[k]) {
			m[k] = append(m[k], fmt.Sprintf("but Len = %d", ix.Len(k)))
		}
	}
	return ContentsOf(m)
}

// ContentsOf returns what Contents returns if the index has the objects of m.
func ContentsOf(m map[string][]string) []string {
	var list []string
	for k, all := range m {
		list = append(list, fmt.Sprintf("%s: %v", k, all))
	}
	return Sorted(list)
}

// IsClosed reports whether a channel is closed.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

package cache_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// thing is the object of these tests. Its identity is what the cache was told; a projected struct may leave it out.
type thing struct {
	id   meta.Identity
	tags []string
}

func (o *thing) GetNamespace() string       { return o.id.Namespace }
func (o *thing) GetName() string            { return o.id.Name }
func (o *thing) GetResourceVersion() string { return o.id.ResourceVersion }

// GetLabels returns none: a thing has no labels.
func (o *thing) GetLabels() map[string]string { return nil }

// String prints "ns/name uid@version".
func (o *thing) String() string {
	return fmt.Sprintf("%s %s@%s", o.id.Key(), o.id.UID, o.id.ResourceVersion)
}

// id parses what thing.String prints.
func id(s string) meta.Identity {
	path, state, _ := strings.Cut(s, " ")
	ns, name, found := strings.Cut(path, "/")
	if !found {
		ns, name = "", path
	}
	uid, version, _ := strings.Cut(state, "@")
	return meta.Identity{Namespace: ns, Name: name, UID: uid, ResourceVersion: version}
}

func key(s string) meta.Key { return id(s).Key() }

func object(s string, tags ...string) *thing { return &thing{id: id(s), tags: tags} }

func set(s *cache.Store[*thing], state string, tags ...string) {
	s.Set(id(state), object(state, tags...))
}

func remove(s *cache.Store[*thing], state string) { s.Delete(id(state), object(state)) }

// relist replaces the contents of s by the states, as an informer does.
func relist(s *cache.Store[*thing], version string, states ...string) cache.Changes {
	r := s.Relist()
	for _, state := range states {
		if _, kept := r.Keep(id(state)); !kept {
			r.Set(id(state), object(state))
		}
	}
	return r.Commit(version)
}

// states collects a loop in a fixed order.
func states(seq iter.Seq[*thing]) []string {
	var all []string
	for o := range seq {
		all = append(all, o.String())
	}
	slices.Sort(all)
	return all
}

// record is a handler that writes down its calls.
type record struct {
	mu    sync.Mutex
	calls []string
}

func (r *record) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

func (r *record) OnAdd(o *thing)           { r.add("add %v", o) }
func (r *record) OnUpdate(old, now *thing) { r.add("update %v -> %v", old, now) }
func (r *record) OnDelete(o *thing)        { r.add("delete %v", o) }

// take returns the calls since the last take.
func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// deliver runs Deliver until the function that it returns is called, which waits for it.
func deliver(t *testing.T, s *cache.Store[*thing]) (stop func()) {
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

// bubble runs a subtest in virtual time.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// pass lets virtual time pass. It does not receive from a timer that is due already, as one of no time is: several
// goroutines of a bubble that do so at once can crash the race detector of Go 1.26 (they run the timer themselves, with
// the one race context that a bubble's timers have).
func pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// drain delivers what is pending, and returns when all handlers know what the store holds. It needs a synctest bubble.
func drain(t *testing.T, s *cache.Store[*thing]) {
	t.Helper()
	stop := deliver(t, s)
	synctest.Wait()
	stop()
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func expect[E comparable](t *testing.T, what string, got []E, want ...E) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Ranges of objects, and a set of them that changes.

// spread is informer.Shards whose ranges a test changes.
type spread struct {
	by meta.ShardBy

	mu      sync.Mutex
	want    meta.Ranges
	changed chan struct{}
	had     []meta.Ranges // by Have, since the last Follow
	names   []string      // of those that follow now
}

func newSpread(by meta.ShardBy, want meta.Ranges) *spread {
	return &spread{by: by, want: want, changed: make(chan struct{})}
}

func (s *spread) By() meta.ShardBy { return s.by }

func (s *spread) Follow(name string) informer.Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names, s.had = append(s.names, name), nil
	return s
}

func (s *spread) Wanted() (meta.Ranges, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.want, s.changed
}

func (s *spread) Have(r meta.Ranges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had = append(s.had, r)
}

func (s *spread) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = s.names[1:]
}

func (s *spread) set(want meta.Ranges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = want
	close(s.changed)
	s.changed = make(chan struct{})
}

// has returns the ranges of the last Have.
func (s *spread) has() meta.Ranges {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.had) == 0 {
		return meta.Ranges{}
	}
	return s.had[len(s.had)-1]
}

// rangesOf returns the ranges from..to-1.
func rangesOf(from, to int) (r meta.Ranges) {
	for n := from; n < to; n++ {
		r = r.With(n)
	}
	return r
}

// fill creates n objects in the default namespace, each with one value.
func (r *rig) fill(n int) {
	r.Helper()
	for i := range n {
		r.put(fmt.Sprintf("o%02d", i), "v", "1")
	}
}

// New panicked, in the program's start, with a stack that does not name the option.
func TestNilShardsAreAnError(t *testing.T) {
	bubble(t, func(r *rig) {
		var none *spread
		i := informer.New(r.things, informer.Options{Shards: none})
		if s := i.Status(); s.Synced || s.State != informer.Idle {
			t.Errorf("the status is %v", s)
		}
		const want = "informer.Options: Shards is a nil *informer_test.spread: leave Shards out, or set a Group"
		shared := informer.Share(&informer.Factory{}, informer.Source[*Thing](r.things), informer.Options{Shards: none})
		for _, err := range []error{i.Run(r.Context()), shared.Run(r.Context())} {
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("Run returned %v, want %s", err, want)
			}
		}
		ended, end := context.WithCancel(r.Context())
		end()
		if err := i.WaitFor(ended, meta.Key{Name: "a"}, "1"); err == nil {
			t.Error("WaitFor returned nil")
		}
	})
}

// One replica had all objects of a cluster-wide resource, and nothing said why.
func TestObjectsWithoutNamespacesAreNotDividedByNamespace(t *testing.T) {
	of := func(scope meta.Scope) client.Type[*Thing] {
		return client.Type[*Thing]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: scope}
	}
	const want = "objects of namespaces.v1 have no namespace, so ShardByNamespace gives all of them to one replica: use meta.ShardByUID"
	bubble(t, func(r *rig) {
		c, err := client.New(r.server.Config())
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(c.Close)
		namespaces := client.For(c, of(meta.Cluster))
		half := rangesOf(0, 128)
		soon, cancel := context.WithTimeout(r.Context(), time.Minute) // a Run that goes on fails the test
		defer cancel()
		for _, shards := range []informer.Shards{informer.FixedShards(meta.ShardByNamespace, half), newSpread(meta.ShardByNamespace, half)} {
			err := informer.New(informer.Filter(namespaces, func(*Thing) bool { return true }), informer.Options{Shards: shards}).Run(soon)
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("Run returned %v, want %s", err, want)
			}
		}
		// The type does not say that they have no namespace. Which replica has them does not matter.
		for n, ranges := range []meta.Ranges{half, rangesOf(128, 256), meta.AllRanges()} {
			var mu sync.Mutex
			var told []error
			i := informer.New(client.For(c, of(meta.Namespaced)), informer.Options{
				Shards: informer.FixedShards(meta.ShardByNamespace, ranges), FieldSelector: "metadata.name!=default", OnError: func(err error) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, err)
				},
			})
			ctx, stop := context.WithCancel(r.Context())
			ended := make(chan error)
			go func() { ended <- i.Run(ctx) }()
			r.pass(time.Second)
			for _, name := range []string{"one", "two"} {
				if _, err := namespaces.Create(r.Context(), &Thing{ObjectMeta: meta.ObjectMeta{Name: fmt.Sprint(name, n)}}); err != nil {
					r.Fatal(err)
				}
			}
			r.pass(time.Hour)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if len(told) != 1 || told[0].Error() != want {
				t.Errorf("with ranges %v it told %q, want it once", ranges, told)
			}
		}
	})
}

// in returns what the server has in these ranges.
func (r *rig) in(by meta.ShardBy, ranges meta.Ranges) map[meta.Key]*Thing {
	r.Helper()
	good, _ := r.truth(informer.Options{})
	for k, obj := range good {
		if !ranges.Has(by.Range(meta.Identity{Namespace: obj.Namespace, UID: obj.UID})) {
			delete(good, k)
		}
	}
	return good
}

// covers fails unless the cache and the handler have what the server has in these ranges, and all say so.
func (i *informed) covers(s *spread, ranges meta.Ranges) {
	i.r.Helper()
	synctest.Wait()
	if d := differ("cache", i.held(), i.r.in(s.by, ranges)); d != "" {
		i.r.Error(d)
	}
	if d := i.witness.difference(i.held()); d != "" {
		i.r.Error(d)
	}
	if st := i.Status(); !st.Synced || st.Ranges != ranges {
		i.r.Errorf("status is %v, with ranges %v, want %v", st, st.Ranges, ranges)
	}
	if s.has() != ranges {
		i.r.Errorf("the informer says that it has ranges %v, want %v", s.has(), ranges)
	}
}

// listings runs a test for each way to list, on a server that selects ranges and on one that does not.
func listings(t *testing.T, f func(r *rig, mode informer.Mode)) {
	t.Helper()
	modes(t, func(t *testing.T, mode informer.Mode) {
		for name, m := range map[string]clienttest.ShardedLists{"server": clienttest.ShardsServed, "local": clienttest.ShardsIgnored} {
			t.Run(name, func(t *testing.T) {
				bubbleOf(t, clienttest.Options{ShardedLists: m}, func(r *rig) { f(r, mode) })
			})
		}
	})
}

func TestRangesThatChange(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(40)
		s := newSpread(meta.ShardByUID, rangesOf(0, 64))
		decoded.Store(0)
		i := r.start(informer.Options{Shards: s, Mode: mode})
		n := len(r.in(s.by, rangesOf(0, 64)))
		i.covers(s, rangesOf(0, 64))
		was := i.held()

		// More ranges: the others are listed, and what stays is not decoded.
		for _, to := range []int{128, 256} {
			s.set(rangesOf(0, to))
			synctest.Wait()
			for k, obj := range was {
				if i.held()[k] != obj {
					r.Errorf("%v is another object than before", k)
				}
			}
			i.covers(s, rangesOf(0, to))
			was = i.held()
		}
		// Fewer: they leave at once, and no request lists anything.
		lists := i.Status().Lists
		for _, to := range []int{200, 10} {
			s.set(rangesOf(0, to))
			i.covers(s, rangesOf(0, to))
		}
		if got := i.Status().Lists; got != lists {
			r.Errorf("%d lists for fewer ranges", got-lists)
		}
		i.relisted(map[informer.Cause]int{informer.Grown: 2})
		// None, and some again.
		s.set(meta.Ranges{})
		i.covers(s, meta.Ranges{})
		requests := r.requests("watch") + r.requests("list")
		r.put("o00", "v", "2")
		r.pass(20 * time.Minute)
		if r.requests("watch")+r.requests("list") != requests {
			r.Error("an informer of no ranges asks the server")
		}
		s.set(rangesOf(100, 200))
		i.covers(s, rangesOf(100, 200))
		r.put("o01", "v", "3")
		for n := range 40 {
			r.put(fmt.Sprintf("o%02d", n), "v", "4")
		}
		r.remove("o05")
		i.covers(s, rangesOf(100, 200))
		if n == 0 || n == 40 {
			r.Errorf("%d of 40 objects are in a quarter", n)
		}
	})
}

// A selector of scattered ranges may be longer than a proxy takes. The informer then asks for everything.
func TestASelectorThatIsTooLong(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(40)
		refused := 0
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if len(q.URL.RawQuery) < 4096 {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) {
				refused++
				w.Header().Set("Content-Type", "text/html")
				w.WriteHeader(http.StatusRequestURITooLong)
			}
		})
		var scattered meta.Ranges
		for n := 0; n < meta.RangeCount; n += 3 {
			scattered = scattered.With(n)
		}
		s := newSpread(meta.ShardByUID, rangesOf(0, 1))
		i := r.start(informer.Options{Shards: s, Mode: mode})
		s.set(scattered)
		r.pass(time.Minute)
		i.covers(s, scattered)
		if got := i.Status().Sharded; got != informer.ShardedLocally || refused != 1 {
			r.Errorf("the informer says %q, and %d requests were refused", got, refused)
		}
		r.put("o00", "v", "2")
		s.set(rangesOf(0, 200))
		r.pass(time.Minute)
		i.covers(s, rangesOf(0, 200))
		if refused != 1 {
			r.Errorf("%d requests were refused", refused)
		}
	})
}

// Only objects of the ranges are decoded, and those that stay never again.
func TestRangesDecodeOnce(t *testing.T) {
	listings(t, func(r *rig, mode informer.Mode) {
		r.fill(40)
		s := newSpread(meta.ShardByUID, rangesOf(0, 64))
		in := func(ranges meta.Ranges) int64 { return int64(len(r.in(s.by, ranges))) }
		first, second := in(rangesOf(0, 64)), in(rangesOf(64, 200))
		decoded.Store(0)
		i := r.start(informer.Options{Shards: s, Mode: mode})
		if got := decoded.Load(); got != first {
			r.Errorf("%d objects decoded, want %d", got, first)
		}
		decoded.Store(0)
		s.set(rangesOf(0, 200))
		synctest.Wait()
		if got := decoded.Load(); got != second {
			r.Errorf("%d objects decoded, want %d", got, second)
		}
		r.expire()
		decoded.Store(0)
		r.pass(10 * time.Second)
		if got := decoded.Load(); got > 1 {
			r.Errorf("%d objects decoded, want no more than the one that has changed", got)
		}
		i.relisted(map[informer.Cause]int{informer.Grown: 1, informer.Expired: 1})
		decoded.Store(0)
		s.set(rangesOf(0, 100))
		synctest.Wait()
		if got := decoded.Load(); got != 0 {
			r.Errorf("%d objects decoded, want none", got)
		}
		i.covers(s, rangesOf(0, 100))

		// A server that does not select sends the changes of other objects too. truth decodes as well, so it is asked before.
		outside := r.in(s.by, rangesOf(100, meta.RangeCount))
		decoded.Store(0)
		for k := range outside {
			r.put(k.Name, "v", "2")
		}
		synctest.Wait()
		if got := decoded.Load(); got != 0 || len(outside) == 0 {
			r.Errorf("%d objects decoded of %d changes outside of the ranges, want none", got, len(outside))
		}
		i.covers(s, rangesOf(0, 100))
	})
}

// expire ends the watches at a version that the server no longer has.
func (r *rig) expire() {
	r.Helper()
	r.server.DropWatches()
	r.put("o00", "v", time.Now().String())
	r.server.Compact()
}

// gap lets an informer grow while its watch lags behind: change happens
// after the end of the watch, and before the list of the added ranges.
func gap(r *rig, s *spread, to meta.Ranges, change func()) {
	r.Helper()
	var once sync.Once
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if collects(q) {
			once.Do(change)
		}
		return nil
	})
	s.set(to)
	synctest.Wait()
	r.heal()
}

// putInRange creates an object of a name that is in the ranges, by trying uids.
func (r *rig) putInRange(s *spread, ranges meta.Ranges, name, v string) {
	r.Helper()
	for {
		obj, err := r.raw.Create(context.Background(), unstructured("default", name, nil, map[string]any{"v": v}))
		if err != nil {
			r.Error(err)
			return
		}
		if ranges.Has(s.by.Range(meta.Identity{Namespace: "default", UID: obj.GetUID()})) {
			return
		}
		if err := r.raw.Delete(context.Background(), key(name), client.DeleteOptions{}); err != nil {
			r.Error(err)
			return
		}
	}
}

func (r *rig) drop(name string) {
	if err := r.raw.Delete(context.Background(), key(name), client.DeleteOptions{}); err != nil {
		r.Error(err)
	}
}

// The watch brings what the list of the added ranges has already: nothing of it may be seen again.
func TestGrowthSkipsWhatItHasListed(t *testing.T) {
	stays, added := rangesOf(0, 128), rangesOf(128, 256)
	for _, test := range []struct {
		name   string
		before func(*rig, *spread)
		gap    func(*rig, *spread)
		tells  []string
	}{
		{
			"an object that was changed twice",
			func(r *rig, s *spread) { r.putInRange(s, added, "a", "1") },
			func(r *rig, _ *spread) { r.put("a", "v", "2"); r.put("a", "v", "3") },
			[]string{"add a"},
		},
		{
			"an object that was deleted and created again",
			func(r *rig, s *spread) { r.putInRange(s, added, "a", "1") },
			func(r *rig, s *spread) { r.drop("a"); r.putInRange(s, added, "a", "2") },
			[]string{"add a"},
		},
		{
			"an object that was deleted",
			func(r *rig, s *spread) { r.putInRange(s, added, "a", "1") },
			func(r *rig, _ *spread) { r.drop("a") },
			[]string{},
		},
		{
			"an object of what stays that was changed",
			func(r *rig, s *spread) { r.putInRange(s, stays, "a", "1") },
			func(r *rig, _ *spread) { r.put("a", "v", "2") },
			[]string{"update a"},
		},
		{
			"an object that comes back in an added range",
			func(r *rig, s *spread) { r.putInRange(s, stays, "a", "1") },
			func(r *rig, s *spread) { r.put("a", "v", "2"); r.drop("a"); r.putInRange(s, added, "a", "3") },
			[]string{"add a", "delete a"},
		},
		{
			"an object that comes back in a range that stays",
			func(r *rig, s *spread) { r.putInRange(s, added, "a", "1") },
			func(r *rig, s *spread) { r.put("a", "v", "2"); r.drop("a"); r.putInRange(s, stays, "a", "3") },
			[]string{"add a"},
		},
		{
			"an object that goes to an added range and comes back",
			func(r *rig, s *spread) { r.putInRange(s, stays, "a", "1") },
			func(r *rig, s *spread) {
				r.drop("a")
				r.putInRange(s, added, "a", "2")
				r.drop("a")
				r.putInRange(s, stays, "a", "3")
			},
			[]string{"add a", "delete a"},
		},
		{
			"an object that comes back in an added range and does not decode",
			func(r *rig, s *spread) { r.putInRange(s, stays, "a", "1") },
			func(r *rig, s *spread) {
				r.put("a", "v", "2")
				r.drop("a")
				r.putInRange(s, added, "a", "3")
				r.put("a", "bad", "yes")
			},
			[]string{"delete a"},
		},
		{
			"an object that does not decode, and comes back in an added range",
			func(r *rig, s *spread) { r.putInRange(s, stays, "a", "1"); r.put("a", "bad", "yes") },
			func(r *rig, s *spread) { r.drop("a"); r.putInRange(s, added, "a", "2") },
			[]string{"add a"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			listings(t, func(r *rig, mode informer.Mode) {
				r.fill(10)
				s := newSpread(meta.ShardByUID, stays)
				test.before(r, s)
				i := r.start(informer.Options{Shards: s, Mode: mode})
				i.told()
				others := map[string]bool{}
				for k := range r.in(s.by, added) {
					others["add "+k.Name] = k.Name != "a"
				}
				gap(r, s, meta.AllRanges(), func() { test.gap(r, s) })
				calls := slices.DeleteFunc(i.told(), func(call string) bool { return others[call] })
				calls = slices.Compact(calls) // putInRange may have put and removed some in the ranges that stay
				if !slices.Equal(calls, test.tells) {
					r.Errorf("told %q, want %q", calls, test.tells)
				}
				i.covers(s, meta.AllRanges())
				_, bad := r.truth(i.o)
				if got := len(i.Status().Undecodable); got != len(bad) {
					r.Errorf("%d objects do not decode, want %d", got, len(bad))
				}
				i.relisted(map[informer.Cause]int{informer.Grown: 1})
			})
		})
	}
}

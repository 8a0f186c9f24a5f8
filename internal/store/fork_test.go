package store

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// readersSide is an index of a store that compares what readers have during a large change with what they had before it.
type readersSide struct {
	forked, swapped int
	fork1, swap1    func()
}

func (r *readersSide) prepare([]delta[meta.Identity]) {}
func (r *readersSide) commit(uint64)                  {}
func (r *readersSide) fork(uint64, bool)              { r.forked++; r.fork1() }
func (r *readersSide) swap()                          { r.swapped++; r.swap1() }
func (r *readersSide) renumber([]uint32, uint64)      {}

// A large change moved the values of indexes while readers were locked out: half a second for a million objects. So it
// must leave all that readers have as it was, until a few assignments put its own tables in their place.
func TestALargeChangeTouchesNothingThatReadersHave(t *testing.T) {
	const n = 5000
	state := func(i, version int) meta.Identity {
		return meta.Identity{
			Namespace: strconv.Itoa(i % 7), Name: strconv.Itoa(i), UID: strconv.Itoa(i % 5 * version), ResourceVersion: strconv.Itoa(version),
		}
	}
	list := func(s *Store[meta.Identity], from, to, version int) {
		r := s.Writer("").Relist()
		for i := from; i < to; i++ {
			r.Set(state(i, version), state(i, version))
		}
		r.Commit(strconv.Itoa(version))
	}
	for _, test := range []struct {
		name     string
		from, to int
	}{
		{"all have new states", 0, n},
		{"a third has new states", 0, n / 3},
		{"half go, half have new states, and others come", n / 2, n + n/2},
		{"most go, and the rest gets new rows", 0, n / 20},
		{"all go", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New[meta.Identity]()
			r := s
			unique := valued(r, func(o meta.Identity) string { return o.Name + "@" + o.ResourceVersion })
			shared := valued(r, func(o meta.Identity) string { return o.UID })
			several := indexed(r, func(o meta.Identity) []string { return []string{o.UID, o.ResourceVersion, "x"} })
			list(s, 0, n, 1)
			// content is what a reader finds that took its references to the tables before.
			content := func() (read func() map[string]int) {
				all, items := s.all.view(), s.items.slots.Load()
				sets := map[string]map[string]*bucket[string]{
					"namespace": s.spaces.m, "unique": unique.buckets.m, "shared": shared.buckets.m, "several": several.buckets.m,
				}
				return func() map[string]int {
					found := map[string]int{}
					all.each(func(o meta.Identity) bool { found["all "+o.ResourceVersion]++; return true })
					for i := range items.entries {
						if e := items.entries[i].Load(); e != nil {
							found["items "+e.version]++
						}
					}
					for name, m := range sets {
						for value, b := range m {
							in := all.only(b.rowSet)
							in.each(func(o meta.Identity) bool { found[name+" "+value+" "+o.ResourceVersion]++; return true })
						}
					}
					return found
				}
			}
			read := content()
			before := read()
			same := func(when string) {
				t.Helper()
				if now := read(); !maps.Equal(now, before) {
					t.Errorf("%s: readers find %d values in their tables, and they had %d", when, len(now), len(before))
				}
			}
			moment := s.moment.Load()
			w := &readersSide{}
			w.fork1 = func() {
				if !s.mu.TryRLock() {
					t.Error("readers are locked out while the change is prepared")
					return
				}
				s.mu.RUnlock()
				same("before the change")
				if got, want := len(slices.Collect(r.All())), n; got != want || unique.Len("7@1") != 1 {
					t.Errorf("readers find %d objects, want %d", got, want)
				}
			}
			w.swap1 = func() {
				if s.mu.TryRLock() {
					t.Error("readers can see half of the change")
				}
				if s.moment.Load() != moment {
					t.Error("Get waits")
				}
				same("while the tables are put in place")
			}
			s.indexes = append(s.indexes, w)
			list(s, test.from, test.to, 2)
			same("after the change")
			if w.forked != 1 || w.swapped != 1 {
				t.Errorf("%d forks and %d swaps, want one of each", w.forked, w.swapped)
			}

			// Now all is as if the objects had come one by one, and the next changes find it in order.
			expectAll := func(version func(i int) int, from, to int) {
				t.Helper()
				for i := from; i < to; i++ {
					v := version(i)
					if got, found := r.Get(state(i, v).Key()); !found || got != state(i, v) {
						t.Fatalf("Get(%d) = %v, %v", i, got, found)
					}
					if got := slices.Collect(unique.Get(strconv.Itoa(i) + "@" + strconv.Itoa(v))); len(got) != 1 || got[0] != state(i, v) {
						t.Fatalf("the unique value of %d has %v", i, got)
					}
				}
				for name, ix := range map[string]*Index[string, meta.Identity]{"unique": unique, "shared": shared, "several": several} {
					n, per := 0, map[string]int{"unique": 1, "shared": 1, "several": 3}[name]
					for k := range ix.Keys() {
						for o := range ix.Get(k) {
							if !slices.Contains(ix.by(o, nil), k) {
								t.Fatalf("%s: %v under %q", name, o, k)
							}
							n++
						}
					}
					if to > from && n < (to-from)*min(per, 2) || n > (to-from)*per {
						t.Errorf("%s has %d places for %d objects", name, n, to-from)
					}
				}
				if r.Len() != to-from || len(slices.Collect(r.All())) != to-from {
					t.Errorf("%d objects, want %d", r.Len(), to-from)
				}
			}
			expectAll(func(int) int { return 2 }, test.from, test.to)
			for i := test.from; i < test.to; i += 2 {
				s.Writer("").Set(state(i, 3), state(i, 3))
			}
			expectAll(func(i int) int { return 2 + (i+1-test.from)%2 }, test.from, test.to)
			for i := test.from; i < test.to; i++ {
				s.Writer("").Delete(state(i, 4), state(i, 4))
			}
			if left := unique.buckets.len() + shared.buckets.len() + several.buckets.len() + s.spaces.len() + r.Len(); left != 0 {
				t.Errorf("%d values and objects are left", left)
			}
		})
	}
}

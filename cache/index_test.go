package cache_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

func byTag(o *thing) []string { return o.Tags }

// behaviour 251
func TestIndex(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(things)
		want  map[string][]string
	}{
		{"an object without values is under none", func(s things) { set(s, "ns/a u@1") }, nil},
		{
			"an object with several values is under each",
			func(s things) { set(s, "ns/a u@1", "x", "y") },
			map[string][]string{"x": {"ns/a u@1"}, "y": {"ns/a u@1"}},
		},
		{
			"a value that is named twice counts once",
			func(s things) {
				set(s, "ns/a u@1", "x", "x")
				set(s, "ns/b u@2", "x", "x", "y", "x")
				set(s, "ns/b u@3", "x", "x")
			},
			map[string][]string{"x": {"ns/a u@1", "ns/b u@3"}},
		},
		{
			"objects share a value",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/b u@2", "x"); set(s, "ns/c u@3", "x", "y") },
			map[string][]string{"x": {"ns/a u@1", "ns/b u@2", "ns/c u@3"}, "y": {"ns/c u@3"}},
		},
		{
			"an update moves between values, and is the new state under those that stay",
			func(s things) { set(s, "ns/a u@1", "x", "y"); set(s, "ns/b u@2", "x"); set(s, "ns/a u@3", "y", "z") },
			map[string][]string{"x": {"ns/b u@2"}, "y": {"ns/a u@3"}, "z": {"ns/a u@3"}},
		},
		{
			"a value without objects has gone",
			func(s things) {
				set(s, "ns/a u@1", "x")
				set(s, "ns/b u@2", "y")
				remove(s, "ns/a u@3")
				set(s, "ns/b u@4")
			},
			nil,
		},
		{
			"a deleted object leaves the others under its value",
			func(s things) {
				for _, state := range []string{"ns/a u@1", "ns/b u@2", "ns/c u@3"} {
					set(s, state, "x")
				}
				remove(s, "ns/a u@4")
				remove(s, "ns/c u@5")
			},
			map[string][]string{"x": {"ns/b u@2"}},
		},
		{
			"another object under the same name replaces it",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/a v@2", "y") },
			map[string][]string{"y": {"ns/a v@2"}},
		},
		{
			"a relist updates the index with the objects",
			func(s things) {
				set(s, "ns/same u@1", "x")
				set(s, "ns/gone u@2", "x", "z")
				set(s, "ns/moved u@3", "x")
				r := s.Relist()
				r.Keep(id("ns/same u@1"))
				r.Set(id("ns/moved u@4"), object("ns/moved u@4", "y"))
				r.Set(id("ns/new u@5"), object("ns/new u@5", "x", "y"))
				r.Commit("6")
			},
			map[string][]string{"x": {"ns/new u@5", "ns/same u@1"}, "y": {"ns/moved u@4", "ns/new u@5"}},
		},
		{
			"a deletion goes by the cached state, not by the final one",
			func(s things) { set(s, "ns/a u@1", "x"); s.Delete(id("ns/a u@2"), object("ns/a u@2", "y")) },
			nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			before := cache.NewIndex(s.Reader(), byTag)
			test.write(s)
			after := cache.NewIndex(s.Reader(), byTag) // behaviour 252
			for name, ix := range map[string]*cache.Index[string, *thing]{"made before": before, "made after": after} {
				expect(t, name, contents(ix), contentsOf(test.want)...)
			}
		})
	}
}

func TestValueIndex(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(things)
		want  map[string][]string
	}{
		{"an empty cache has no values", func(things) {}, nil},
		{"the zero value is a value", func(s things) { set(s, "ns/a u@1") }, map[string][]string{"": {"ns/a u@1"}}},
		{
			"objects share a value",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/b u@2", "x"); set(s, "ns/c u@3", "y") },
			map[string][]string{"x": {"ns/a u@1", "ns/b u@2"}, "y": {"ns/c u@3"}},
		},
		{
			"an update that changes no value is the new state under it",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/a u@2", "x") },
			map[string][]string{"x": {"ns/a u@2"}},
		},
		{
			"an update moves from one value to the other, and the value without objects has gone",
			func(s things) {
				set(s, "ns/a u@1", "x")
				set(s, "ns/b u@2")
				set(s, "ns/a u@3")
				set(s, "ns/b u@4", "y")
			},
			map[string][]string{"": {"ns/a u@3"}, "y": {"ns/b u@4"}},
		},
		{
			"another object under the same name replaces it",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/a v@2", "y") },
			map[string][]string{"y": {"ns/a v@2"}},
		},
		{
			"a deleted object leaves the others under its value",
			func(s things) { set(s, "ns/a u@1", "x"); set(s, "ns/b u@2", "x"); remove(s, "ns/a u@3") },
			map[string][]string{"x": {"ns/b u@2"}},
		},
		{
			"a relist updates the index with the objects",
			func(s things) {
				set(s, "ns/same u@1", "x")
				set(s, "ns/gone u@2", "z")
				set(s, "ns/moved u@3", "x")
				r := s.Relist()
				r.Keep(id("ns/same u@1"))
				r.Set(id("ns/moved u@4"), object("ns/moved u@4", "y"))
				r.Set(id("ns/new u@5"), object("ns/new u@5"))
				r.Commit("6")
			},
			map[string][]string{"": {"ns/new u@5"}, "x": {"ns/same u@1"}, "y": {"ns/moved u@4"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			before := cache.NewValueIndex(s.Reader(), firstTag)
			test.write(s)
			after := cache.NewValueIndex(s.Reader(), firstTag)
			for name, ix := range map[string]*cache.Index[string, *thing]{"made before": before, "made after": after} {
				expect(t, name, contents(ix), contentsOf(test.want)...)
			}
			before.Close()
			expect(t, "closed", contents(before))
		})
	}
}

// A value that nobody could ask for is not indexed, and a function that panics leaves the store as it was.
func TestAValueIndexSkipsNaNAndSurvivesPanics(t *testing.T) {
	s := storetest.New[*thing]()
	nan := cache.NewValueIndex(s.Reader(), func(o *thing) float64 {
		if len(o.Tags) == 0 {
			return math.NaN()
		}
		return 1
	})
	bad := cache.NewValueIndex(s.Reader(), func(o *thing) any {
		if len(o.Tags) > 1 {
			return o.Tags // cannot be a key
		}
		return len(o.Tags)
	})
	set(s, "ns/a u@1", "x")
	expect(t, "values", slices.Collect(nan.Keys()), 1)
	set(s, "ns/a u@2")
	expect(t, "values", slices.Collect(nan.Keys()))
	mustPanic(t, func() { set(s, "ns/a u@3", "x", "y") })
	expect(t, "All", states(s.Reader().All()), "ns/a u@2")
	expect(t, "under 0", states(bad.Get(0)), "ns/a u@2")
	set(s, "ns/a u@4", "x")
	expect(t, "under 1", states(bad.Get(1)), "ns/a u@4")
	expect(t, "values", slices.Collect(nan.Keys()), 1)
}

// An update costs the entry of the new state, and indexes of one value add nothing to that.
func TestValueIndexAllocatesNothing(t *testing.T) {
	ids := identities(100)
	s, objects := filled(ids)
	cache.NewValueIndex(s.Reader(), func(o *thing) string { return o.ID.Namespace })
	cache.NewValueIndex(s.Reader(), func(o *thing) meta.Key { return o.ID.Key() })
	versions := manyVersions()
	i := 0
	allocs := testing.AllocsPerRun(1000, func() {
		id := ids[i%len(ids)]
		id.ResourceVersion = versions[i%len(versions)]
		s.Set(id, objects[i%len(ids)])
		i++
	})
	if allocs > 1 {
		t.Errorf("%v allocations for an update with two indexes", allocs)
	}
}

func TestAnyComparableKeyCanBeIndexed(t *testing.T) {
	s := storetest.New[*thing]()
	set(s, "ns/a u@1", "x")
	set(s, "ns/b u@2")
	r := s.Reader()
	byKey := cache.NewIndex(r, func(o *thing) []meta.Key { return []meta.Key{o.ID.Key()} })
	expect(t, "by key", states(byKey.Get(key("ns/b"))), "ns/b u@2")
	tagged := cache.NewIndex(r, func(o *thing) []bool { return []bool{len(o.Tags) > 0} })
	expect(t, "by bool", states(tagged.Get(true)), "ns/a u@1")
	byAny := cache.NewIndex(r, func(o *thing) []any { return []any{len(o.Tags), o.ID.UID} })
	expect(t, "by int in any", states(byAny.Get(1)), "ns/a u@1")
	expect(t, "by string in any", states(byAny.Get("u")), "ns/a u@1", "ns/b u@2")

	nan := cache.NewIndex(r, func(o *thing) []float64 { return []float64{math.NaN(), 1} })
	set(s, "ns/a u@3")
	remove(s, "ns/b u@4")
	expect(t, "values that cannot be asked for", slices.Collect(nan.Keys()), 1)
	for k := range nan.Keys() {
		expect(t, "by float", states(nan.Get(k)), "ns/a u@3")
		break
	}
}

// The function may hand out the same slice each time, since the index copies.
func TestIndexCopiesWhatTheFunctionReturns(t *testing.T) {
	s := storetest.New[*thing]()
	var buffer []string
	ix := cache.NewIndex(s.Reader(), func(o *thing) []string {
		buffer = append(buffer[:0], o.Tags...)
		return buffer
	})
	set(s, "ns/a u@1", "x", "y")
	set(s, "ns/a u@2", "y", "z")
	expect(t, "contents", contents(ix), "y: [ns/a u@2]", "z: [ns/a u@2]")
}

// A function that panics leaves the store, the other indexes and the subscriptions as they were, and usable.
func TestAnIndexFunctionThatPanicsChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name string
		by   func(*thing) []any
	}{
		{"in the function", func(o *thing) []any {
			if len(o.Tags) > 0 && o.Tags[0] == "bad" {
				panic("bad")
			}
			return nil
		}},
		{"because its value cannot be a key", func(o *thing) []any {
			if len(o.Tags) > 0 && o.Tags[0] == "bad" {
				return []any{o.Tags}
			}
			return nil
		}},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			good := cache.NewIndex(s.Reader(), byTag)
			cache.NewIndex(s.Reader(), test.by)
			calls := &record{}
			s.Reader().Subscribe(calls)
			set(s, "ns/a u@1", "x")
			mustPanic(t, func() { set(s, "ns/a u@2", "bad") })
			mustPanic(t, func() {
				r := s.Relist()
				r.Set(id("ns/b u@3"), object("ns/b u@3", "bad"))
				r.Commit("3")
			})
			mustPanic(t, func() {
				cache.NewIndex(s.Reader(), func(*thing) []string { panic("bad") })
			})
			expect(t, "All", states(s.Reader().All()), "ns/a u@1")
			expect(t, "index", contents(good), "x: [ns/a u@1]")
			// The first index had computed what the writes would change there. That must not come with the next write.
			set(s, "ns/c u@4", "z")
			expect(t, "index after another object", contents(good), "x: [ns/a u@1]", "z: [ns/c u@4]")
			set(s, "ns/a u@5", "y")
			expect(t, "index after", contents(good), "y: [ns/a u@5]", "z: [ns/c u@4]")
			drain(t, s)
			expect(t, "calls", calls.Take(), "add ns/a u@5", "add ns/c u@4")
		})
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}

// A value with many objects, and their going one by one.
func TestAnIndexValueMayHaveManyObjects(t *testing.T) {
	s := storetest.New[*thing]()
	ix := cache.NewIndex(s.Reader(), byTag)
	const n = 2_000
	for i := range n {
		set(s, fmt.Sprintf("ns/%d u@%d", i, i), "x")
	}
	for i := range n {
		if ix.Len("x") != n-i {
			t.Fatalf("Len = %d, want %d", ix.Len("x"), n-i)
		}
		remove(s, fmt.Sprintf("ns/%d u@%d", i*7%n, n+i))
	}
	expect(t, "contents", contents(ix))
}

package store_test

import (
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// behaviours 206, 211, 221, 250, fault F14
func TestRelist(t *testing.T) {
	type rel = *store.Relist[*thing]
	stage := func(states ...string) func(things, rel) {
		return func(_ things, r rel) {
			for _, state := range states {
				r.Set(id(state), object(state))
			}
		}
	}
	for _, test := range []struct {
		name  string
		was   []string
		stage func(things, rel)
		want  []string
		count store.Changes
		calls []string // of a subscriber; those for different keys in any order
	}{
		{
			"a first list adds",
			nil, stage("ns/a u@1", "ns/b u@2"),
			[]string{"ns/a u@1", "ns/b u@2"},
			store.Changes{Added: 2},
			[]string{"add ns/a u@1", "add ns/b u@2"},
		},
		{
			"an empty list clears",
			[]string{"ns/a u@1", "ns/b u@2"},
			stage(),
			nil,
			store.Changes{Deleted: 2},
			[]string{"delete ns/a u@1", "delete ns/b u@2"},
		},
		{
			"what is the same changes nothing and is nobody's news",
			[]string{"ns/a u@1", "ns/b u@2"},
			stage("ns/b u@2", "ns/a u@1"),
			[]string{"ns/a u@1", "ns/b u@2"},
			store.Changes{Unchanged: 2},
			nil,
		},
		{
			"one of each",
			[]string{"ns/same u@1", "ns/new u@2", "ns/gone u@3", "ns/other u@4"},
			stage("ns/same u@1", "ns/new u@5", "ns/other v@6", "ns/more u@7"),
			[]string{"ns/more u@7", "ns/new u@5", "ns/other v@6", "ns/same u@1"},
			store.Changes{Added: 2, Updated: 1, Deleted: 2, Unchanged: 1},
			[]string{
				"add ns/more u@7", "add ns/other v@6", "delete ns/gone u@3", "delete ns/other u@4",
				"update ns/new u@2 -> ns/new u@5",
			},
		},
		{
			"an object that does not decode stays as it was last good",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(_ things, r rel) {
				r.Retain(id("ns/a u@3"))
				r.Retain(id("ns/unknown x@4"))
			},
			[]string{"ns/a u@1"},
			store.Changes{Deleted: 1, Unchanged: 1},
			[]string{"delete ns/b u@2"},
		},
		{
			"another object under its name that does not decode does not keep the old one",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(_ things, r rel) {
				r.Retain(id("ns/a v@3"))
				unread := id("ns/b u@4")
				unread.UID = ""
				r.Retain(unread)
			},
			[]string{"ns/b u@2"},
			store.Changes{Deleted: 1, Unchanged: 1},
			[]string{"delete ns/a u@1"},
		},
		{
			"of two entries for a key the later counts",
			[]string{"ns/a u@1", "ns/b u@2", "ns/c u@3"},
			func(_ things, r rel) {
				r.Set(id("ns/a u@4"), object("ns/a u@4"))
				r.Set(id("ns/a u@5"), object("ns/a u@5"))
				r.Set(id("ns/b u@6"), object("ns/b u@6"))
				r.Keep(id("ns/b u@2"))
				r.Keep(id("ns/c u@3"))
				r.Set(id("ns/c u@7"), object("ns/c u@7"))
				r.Set(id("ns/d u@8"), object("ns/d u@8"))
				r.Retain(id("ns/d u@9"))
				r.Retain(id("ns/d u@9"))
			},
			[]string{"ns/a u@5", "ns/b u@2", "ns/c u@7", "ns/d u@8"},
			store.Changes{Added: 1, Updated: 2, Unchanged: 1},
			[]string{"add ns/d u@8", "update ns/a u@1 -> ns/a u@5", "update ns/c u@3 -> ns/c u@7"},
		},
		{
			"what has no version is never the same",
			[]string{"ns/a u@"},
			func(_ things, r rel) {
				if _, kept := r.Keep(id("ns/a u@")); kept {
					t.Error("kept an object without a version")
				}
				r.Set(id("ns/a u@"), object("ns/a u@"))
			},
			[]string{"ns/a u@"},
			store.Changes{Updated: 1},
			[]string{"update ns/a u@ -> ns/a u@"},
		},
		{
			"a relist that was dropped has no effect on the next",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(s things, r rel) {
				r.Keep(id("ns/a u@1"))
				r.Set(id("ns/b u@3"), object("ns/b u@3"))
				r.Set(id("ns/c u@4"), object("ns/c u@4"))
				next := s.Relist()
				// The dropped one does nothing any more.
				r.Keep(id("ns/b u@2"))
				r.Set(id("ns/d u@5"), object("ns/d u@5"))
				r.Retain(id("ns/a u@6"))
				if got := r.Commit("100"); got != (store.Changes{}) {
					t.Errorf("Commit of a dropped relist: %+v", got)
				}
				next.Keep(id("ns/b u@2"))
				if got, want := next.Commit("9"), (store.Changes{Deleted: 1, Unchanged: 1}); got != want {
					t.Errorf("Commit of the next: %+v, want %+v", got, want)
				}
			},
			[]string{"ns/b u@2"},
			store.Changes{},
			[]string{"delete ns/a u@1"},
		},
		{
			"a write in between is replaced",
			[]string{"ns/kept u@1", "ns/gone u@2", "ns/set u@3", "ns/deleted u@4"},
			func(s things, r rel) {
				r.Keep(id("ns/kept u@1"))
				r.Keep(id("ns/deleted u@4"))
				r.Set(id("ns/set u@5"), object("ns/set u@5"))
				set(s, "ns/kept u@6")
				set(s, "ns/set u@7")
				set(s, "ns/more u@8")
				remove(s, "ns/deleted u@9")
			},
			[]string{"ns/deleted u@4", "ns/kept u@1", "ns/set u@5"},
			store.Changes{Added: 1, Updated: 2, Deleted: 2},
			[]string{"delete ns/gone u@2", "update ns/set u@3 -> ns/set u@5"},
		},
		{
			"a write in between, after something that was staged has been taken back",
			[]string{"ns/kept u@1"},
			func(s things, r rel) {
				r.Keep(id("ns/kept u@1"))
				r.Set(id("ns/new u@2"), object("ns/new u@2"))
				r.Delete(id("ns/new u@3"))
				set(s, "ns/kept u@4")
			},
			[]string{"ns/kept u@1"},
			store.Changes{Updated: 1},
			nil,
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			reader := s.Reader()
			relist(s, "9", test.was...)
			calls := &record{}
			reader.Subscribe(calls)
			drain(t, s)
			calls.Take()

			r := s.Relist()
			test.stage(s, r)
			if got := r.Commit("9"); got != test.count {
				t.Errorf("Commit = %+v, want %+v", got, test.count)
			}
			expect(t, "All", states(reader.All()), test.want...)
			if reader.ResourceVersion() != "9" {
				t.Errorf("version %q, want 9", reader.ResourceVersion())
			}
			drain(t, s)
			expect(t, "calls", sorted(calls.Take()), test.calls...)

			if got := r.Commit("10"); got != (store.Changes{}) || reader.ResourceVersion() != "9" {
				t.Errorf("a second Commit = %+v at version %s, want nothing", got, reader.ResourceVersion())
			}
		})
	}
}

func TestRelistKeepsTheSameReference(t *testing.T) {
	s := storetest.New[*thing]()
	first := object("ns/a u@1")
	s.Set(first.ID, first)
	r := s.Relist()
	if got, kept := r.Keep(id("ns/a u@1")); !kept || got != first {
		t.Errorf("Keep = %v, %v, want the cached object", got, kept)
	}
	for _, other := range []string{"ns/a u@2", "ns/a v@1", "ns/b u@1", "other/a u@1"} {
		if got, kept := r.Keep(id(other)); kept {
			t.Errorf("Keep(%s) = %v, want nothing", other, got)
		}
	}
	r.Commit("5")
	relist(s, "6", "ns/a u@1")
	rel := s.Relist()
	rel.Set(id("ns/a u@1"), object("ns/a u@1"))
	rel.Commit("7")
	if got, _ := s.Reader().Get(key("ns/a")); got != first {
		t.Error("an unchanged object was replaced")
	}
}

// The server has the object in a state that does not decode, under a version before the retained one. It gives the version
// of the retained state to another one.
func TestAfterARollbackNoStateIsTheRetainedOne(t *testing.T) {
	for _, staged := range []bool{false, true} {
		s := storetest.New[*thing]()
		first, second := object("ns/a u@5", "old"), object("ns/a u@5", "new")
		s.Set(first.ID, first)
		r := s.Relist()
		if staged {
			r.Replace(id("ns/a u@4"), object("ns/a u@4", "listed"))
		}
		r.RetainAnew(id("ns/a u@3"))
		r.RetainAnew(id("ns/b u@3"))
		r.RetainAnew(id("ns/a v@3"))
		if got, want := r.Commit("4"), (store.Changes{Updated: 1}); got != want {
			t.Errorf("Commit = %+v, want %+v", got, want)
		}
		want := first
		if got, _ := s.Reader().Get(key("ns/a")); !staged && got != want || staged && got.Tags[0] != "listed" {
			t.Errorf("staged before: %v; the cache has %v", staged, got)
		}
		if _, kept := s.Relist().Keep(id("ns/a u@5")); kept {
			t.Error("the state under the version of the retained one is taken for that")
		}
		s.Set(second.ID, second)
		if got, _ := s.Reader().Get(key("ns/a")); got != second {
			t.Errorf("staged before: %v; after the write the cache has %v", staged, got)
		}
	}
}

func TestRelistIsInvisibleUntilCommit(t *testing.T) {
	s := storetest.New[*thing]()
	relist(s, "1", "ns/a u@1", "ns/b u@1")
	r := s.Relist()
	r.Set(id("ns/a u@2"), object("ns/a u@2"))
	r.Set(id("ns/c u@2"), object("ns/c u@2"))
	expect(t, "while staged", states(s.Reader().All()), "ns/a u@1", "ns/b u@1")
	if v := s.Reader().ResourceVersion(); v != "1" {
		t.Errorf("version %q, want 1", v)
	}
	r.Commit("2")
	expect(t, "committed", states(s.Reader().All()), "ns/a u@2", "ns/c u@2")
}

// A server that was rolled back gives versions a second time, to other contents: Replace. What goes while a list is staged
// is taken back: Delete.
func TestRelistReplaceAndDelete(t *testing.T) {
	type rel = *store.Relist[*thing]
	replace := func(r rel, state string, tags ...string) { r.Replace(id(state), object(state, tags...)) }
	for _, test := range []struct {
		name  string
		was   []string // each with the tag "old"
		stage func(things, rel)
		want  []string // with the first tag
		count store.Changes
		calls []string
	}{
		{
			"the same content under the same version is the same reference",
			[]string{"ns/a u@1"},
			func(_ things, r rel) { replace(r, "ns/a u@1", "old") },
			[]string{"ns/a u@1 old"},
			store.Changes{Unchanged: 1},
			nil,
		},
		{
			"another content under the same version is an update",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(_ things, r rel) { replace(r, "ns/a u@1", "new"); replace(r, "ns/b u@2", "old") },
			[]string{"ns/a u@1 new", "ns/b u@2 old"},
			store.Changes{Updated: 1, Unchanged: 1},
			[]string{"update ns/a u@1 -> ns/a u@1"},
		},
		{
			"an older version, another uid and a new object are what they are with Set",
			[]string{"ns/a u@5", "ns/b u@6", "ns/gone u@7"},
			func(_ things, r rel) {
				replace(r, "ns/a u@1", "new")
				replace(r, "ns/b v@6", "new")
				replace(r, "ns/c u@2", "new")
			},
			[]string{"ns/a u@1 new", "ns/b v@6 new", "ns/c u@2 new"},
			store.Changes{Added: 2, Updated: 1, Deleted: 2},
			[]string{
				"add ns/b v@6", "add ns/c u@2", "delete ns/b u@6", "delete ns/gone u@7", "update ns/a u@5 -> ns/a u@1",
			},
		},
		{
			"of two for a key the later counts",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(_ things, r rel) {
				replace(r, "ns/a u@1", "new")
				replace(r, "ns/a u@1", "old")
				replace(r, "ns/b u@2", "old")
				replace(r, "ns/b u@2", "new")
			},
			[]string{"ns/a u@1 old", "ns/b u@2 new"},
			store.Changes{Updated: 1, Unchanged: 1},
			[]string{"update ns/b u@2 -> ns/b u@2"},
		},
		{
			"a deletion takes back what was kept, set, replaced and retained",
			[]string{"ns/kept u@1", "ns/set u@2", "ns/replaced u@3", "ns/retained u@4", "ns/stays u@5"},
			func(_ things, r rel) {
				r.Keep(id("ns/kept u@1"))
				r.Set(id("ns/set u@6"), object("ns/set u@6"))
				replace(r, "ns/replaced u@3", "new")
				r.Retain(id("ns/retained u@7"))
				r.Set(id("ns/new u@8"), object("ns/new u@8"))
				r.Keep(id("ns/stays u@5"))
				for _, gone := range []string{"kept", "set", "replaced", "retained", "new", "unknown"} {
					r.Delete(id("ns/" + gone + " u@9"))
					r.Delete(id("ns/" + gone + " u@9"))
				}
			},
			[]string{"ns/stays u@5 old"},
			store.Changes{Deleted: 4, Unchanged: 1},
			[]string{"delete ns/kept u@1", "delete ns/replaced u@3", "delete ns/retained u@4", "delete ns/set u@2"},
		},
		{
			"what comes after its deletion is there",
			[]string{"ns/a u@1", "ns/b u@2"},
			func(_ things, r rel) {
				r.Keep(id("ns/a u@1"))
				r.Delete(id("ns/a u@3"))
				r.Set(id("ns/a v@4"), object("ns/a v@4", "new"))
				r.Delete(id("ns/b u@5"))
				r.Keep(id("ns/b u@2"))
				r.Delete(id("ns/c u@6"))
				r.Set(id("ns/c u@7"), object("ns/c u@7", "new"))
			},
			[]string{"ns/a v@4 new", "ns/b u@2 old", "ns/c u@7 new"},
			store.Changes{Added: 2, Deleted: 1, Unchanged: 1},
			[]string{"add ns/a v@4", "add ns/c u@7", "delete ns/a u@1"},
		},
		{
			"neither does anything in a relist that was dropped",
			[]string{"ns/a u@1"},
			func(s things, r rel) {
				s.Relist()
				replace(r, "ns/a u@1", "new")
				r.Delete(id("ns/a u@2"))
			},
			[]string{"ns/a u@1 old"},
			store.Changes{},
			nil,
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			byTag := cache.NewValueIndex(s.Reader(), firstTag)
			cached := map[string]*thing{}
			for _, state := range test.was {
				cached[state] = object(state, "old")
				s.Set(id(state), cached[state])
			}
			calls := &record{}
			s.Reader().Subscribe(calls)
			drain(t, s)
			calls.Take()

			r := s.Relist()
			test.stage(s, r)
			if got := r.Commit("9"); got != test.count {
				t.Errorf("Commit = %+v, want %+v", got, test.count)
			}
			var got []string
			for o := range s.Reader().Sorted() {
				got = append(got, o.String()+" "+firstTag(o))
				if was := cached[o.String()]; firstTag(o) == "old" && o != was {
					t.Errorf("%v is another reference than before", o)
				}
			}
			expect(t, "All", got, test.want...)
			if n := byTag.Len("old") + byTag.Len("new"); n != len(test.want) {
				t.Errorf("the index has %d objects, want %d", n, len(test.want))
			}
			drain(t, s)
			expect(t, "calls", sorted(calls.Take()), test.calls...)
		})
	}
}

// A handler that is behind is told of a rollback, also where it leads back to the version that the handler knows: under that
// version the object has another content now.
func TestARollbackToAKnownVersionIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		calls := &record{}
		s.Reader().Subscribe(calls)
		told := ""
		s.Reader().Subscribe(cache.HandlerFuncs[*thing]{
			Add:    func(o *thing) { told = firstTag(o) },
			Update: func(_, o *thing) { told = firstTag(o) },
		})
		set(s, "ns/a u@5", "old")
		drain(t, s)
		calls.Take()

		set(s, "ns/a u@6", "later")
		r := s.Relist()
		r.Replace(id("ns/a u@5"), object("ns/a u@5", "new"))
		r.Commit("5")
		drain(t, s)
		expect(t, "calls", calls.Take(), "update ns/a u@5 -> ns/a u@5")
		if told != "new" {
			t.Errorf("the handler knows the content %q, want %q", told, "new")
		}
	})
}

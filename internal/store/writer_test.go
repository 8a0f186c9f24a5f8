package store_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// fill stages a full list of a writer, as an informer does.
func fill(p *store.Writer[*thing], version string, states ...string) store.Changes {
	r := p.Relist()
	for _, state := range states {
		if _, kept := r.Keep(id(state)); !kept {
			r.Set(id(state), object(state))
		}
	}
	return r.Commit(version)
}

// behaviours 250, 256, 265: several writers, each of a namespace.
func TestWriters(t *testing.T) {
	for _, test := range []struct {
		name    string
		write   func(*testing.T, things)
		want    []string
		version string
		calls   []string // in any order
	}{
		{
			"a relist of a namespace leaves the others",
			func(_ *testing.T, s things) {
				fill(s.Writer("a"), "5", "a/x u@1", "a/y u@2")
				fill(s.Writer("b"), "7", "b/x u@3")
				fill(s.Writer("a"), "9", "a/y u@2")
			},
			[]string{"a/y u@2", "b/x u@3"},
			"7",
			[]string{"add a/y u@2", "add b/x u@3"},
		},
		{
			"what is outside of a namespace is not written",
			func(t *testing.T, s things) {
				a := s.Writer("a")
				set(s, "b/x u@1")
				a.Set(id("b/x u@2"), object("b/x u@2"))
				a.Delete(id("b/x u@3"), nil)
				r := a.Relist()
				if _, kept := r.Keep(id("b/x u@1")); kept {
					t.Error("kept an object of another namespace")
				}
				r.Set(id("b/y u@4"), object("b/y u@4"))
				r.Retain(id("b/x u@5"))
				if got := r.Commit("6"); got != (store.Changes{}) {
					t.Errorf("Commit = %+v, want nothing", got)
				}
			},
			[]string{"b/x u@1"},
			"1",
			[]string{"add b/x u@1"},
		},
		{
			"a write to one namespace while another stages a relist",
			func(t *testing.T, s things) {
				a, b := s.Writer("a"), s.Writer("b")
				fill(a, "2", "a/x u@1", "a/y u@2")
				fill(b, "3", "b/x u@3")
				staged := a.Relist()
				staged.Keep(id("a/x u@1"))
				other := b.Relist()
				other.Keep(id("b/x u@3"))
				b.Set(id("b/y u@4"), object("b/y u@4"))
				b.Delete(id("b/x u@5"), nil)
				if got, want := staged.Commit("6"), (store.Changes{Deleted: 1, Unchanged: 1}); got != want {
					t.Errorf("Commit of a = %+v, want %+v", got, want)
				}
				if got, want := other.Commit("7"), (store.Changes{Added: 1, Deleted: 1}); got != want {
					t.Errorf("Commit of b = %+v, want %+v", got, want)
				}
			},
			[]string{"a/x u@1", "b/x u@3"},
			"6",
			[]string{"add a/x u@1", "add b/x u@3"},
		},
		{
			"writers that overlap stage at the same time",
			func(t *testing.T, s things) {
				fill(s.Writer(""), "2", "a/x u@1", "b/x u@2")
				wide, narrow := s.Relist(), s.Writer("a").Relist()
				wide.Keep(id("a/x u@1"))
				narrow.Keep(id("a/x u@1"))
				wide.Keep(id("b/x u@2"))
				narrow.Set(id("a/y u@3"), object("a/y u@3"))
				if got, want := narrow.Commit("4"), (store.Changes{Added: 1, Unchanged: 1}); got != want {
					t.Errorf("Commit of a = %+v, want %+v", got, want)
				}
				if got, want := wide.Commit("3"), (store.Changes{Deleted: 1, Unchanged: 2}); got != want {
					t.Errorf("Commit of all = %+v, want %+v", got, want)
				}
			},
			[]string{"a/x u@1", "b/x u@2"},
			"3",
			[]string{"add a/x u@1", "add b/x u@2"},
		},
		{
			"a dropped writer takes its objects with it",
			func(_ *testing.T, s things) {
				fill(s.Writer("a"), "2", "a/x u@1", "a/y u@2")
				fill(s.Writer("b"), "3", "b/x u@3")
				s.Writer("a").Drop()
			},
			[]string{"b/x u@3"},
			"3",
			[]string{"add b/x u@3"},
		},
		{
			"but not those that another writer covers",
			func(_ *testing.T, s things) {
				fill(s.Writer(""), "4", "a/x u@1", "b/x u@2", "c/x u@3", "node u@4")
				s.Writer("a")
				s.Writer("b")
				s.Writer("").Drop()
			},
			[]string{"a/x u@1", "b/x u@2"},
			"",
			[]string{"add a/x u@1", "add b/x u@2"},
		},
		{
			"a writer that is added later adopts what others have written, and its list replaces that",
			func(t *testing.T, s things) {
				fill(s.Writer("a"), "2", "a/x u@1", "a/y u@2")
				fill(s.Writer("b"), "3", "b/x u@3")
				before, _ := s.Reader().Get(key("a/x"))
				all := s.Writer("")
				s.Writer("a").Drop()
				s.Writer("b").Drop()
				expect(t, "before the list", states(s.Reader().All()), "a/x u@1", "a/y u@2", "b/x u@3")
				want := store.Changes{Added: 1, Updated: 1, Deleted: 1, Unchanged: 1}
				if got := fill(all, "9", "a/x u@1", "b/x u@8", "c/x u@9"); got != want {
					t.Errorf("Commit = %+v, want %+v", got, want)
				}
				if after, _ := s.Reader().Get(key("a/x")); after != before {
					t.Error("an unchanged object was replaced")
				}
			},
			[]string{"a/x u@1", "b/x u@8", "c/x u@9"},
			"9",
			[]string{"add a/x u@1", "add b/x u@8", "add c/x u@9"},
		},
		{
			"and from all to one namespace and back",
			func(t *testing.T, s things) {
				fill(s.Writer(""), "2", "a/x u@1", "b/x u@2")
				before, _ := s.Reader().Get(key("a/x"))
				a := s.Writer("a")
				s.Writer("").Drop()
				fill(a, "3", "a/x u@1")
				all := s.Writer("")
				a.Drop()
				fill(all, "4", "a/x u@1", "b/x u@2")
				if after, _ := s.Reader().Get(key("a/x")); after != before {
					t.Error("an unchanged object was replaced")
				}
			},
			[]string{"a/x u@1", "b/x u@2"},
			"4",
			[]string{"add a/x u@1", "add b/x u@2"},
		},
		{
			"a writer that has ended does nothing", // behaviour 267: the one that is added later starts afresh
			func(t *testing.T, s things) {
				a := s.Writer("a")
				staged := a.Relist()
				fill(a, "2", "a/x u@1")
				late := a.Relist()
				a.Drop()
				a.Drop()
				a.Set(id("a/y u@3"), object("a/y u@3"))
				a.Delete(id("a/x u@3"), nil)
				a.Bookmark("9")
				for _, r := range []*store.Relist[*thing]{staged, late, a.Relist()} {
					r.Set(id("a/z u@4"), object("a/z u@4"))
					if got := r.Commit("5"); got != (store.Changes{}) {
						t.Errorf("Commit = %+v, want nothing", got)
					}
				}
				if v := s.Writer("a").ResourceVersion(); v != "" || s.Writer("a") == a {
					t.Errorf("a new writer is at version %q", v)
				}
			},
			nil, "", nil,
		},
		{
			"a list that was being staged when its writer ended is not committed",
			func(t *testing.T, s things) {
				a := s.Writer("a")
				staged := a.Relist()
				staged.Set(id("a/x u@1"), object("a/x u@1"))
				a.Drop()
				if got := staged.Commit("5"); got != (store.Changes{}) {
					t.Errorf("Commit = %+v, want nothing", got)
				}
				if v := a.ResourceVersion(); v != "" {
					t.Errorf("the writer is at version %q", v)
				}
			},
			nil, "", nil,
		},
		{
			"versions that cannot be ordered have no oldest",
			func(_ *testing.T, s things) { s.Writer("a").Bookmark("5"); s.Writer("b").Bookmark("x") },
			nil, "", nil,
		},
		{
			"but need no order when they are equal",
			func(_ *testing.T, s things) { s.Writer("a").Bookmark("x"); s.Writer("b").Bookmark("x") },
			nil, "x", nil,
		},
		{
			"the oldest is told by number",
			func(_ *testing.T, s things) {
				s.Writer("a").Bookmark("100")
				s.Writer("b").Bookmark("99")
				s.Writer("c").Bookmark("101")
			},
			nil, "99", nil,
		},
	} {
		bubble(t, test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
			calls := &record{}
			s.Reader().Subscribe(calls)
			test.write(t, s)
			expect(t, "All", states(s.Reader().All()), test.want...)
			if got := s.Reader().ResourceVersion(); got != test.version {
				t.Errorf("version %q, want %q", got, test.version)
			}
			drain(t, s)
			expect(t, "calls", sorted(calls.Take()), test.calls...)
		})
	}
}

// behaviours 226, 227, for several writers
func TestASubscriptionIsSyncedWhenAllWritersHaveCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		r := s.Reader()
		stop := deliver(t, s)
		check := func(when string, subs map[*cache.Subscription]bool) {
			t.Helper()
			synctest.Wait()
			for sub, want := range subs {
				if got := isClosed(sub.Synced()); got != want {
					t.Errorf("%s: synced %v, want %v", when, got, want)
				}
			}
		}
		first := r.Subscribe(nil)
		a, b := s.Writer("a"), s.Writer("b")
		fill(a, "1", "a/x u@1")
		check("one of two writers", map[*cache.Subscription]bool{first: false, r.Subscribe(nil): false})
		fill(b, "2")
		check("both writers", map[*cache.Subscription]bool{first: true, r.Subscribe(nil): true})

		c := s.Writer("c")
		second := r.Subscribe(nil)
		check("a writer is added", map[*cache.Subscription]bool{first: true, second: false})
		fill(a, "3", "a/x u@1")
		check("an old writer lists again", map[*cache.Subscription]bool{second: false})
		c.Drop()
		check("the writer has gone", map[*cache.Subscription]bool{first: true, second: true})

		a.Drop()
		b.Drop()
		check("no writer is left", map[*cache.Subscription]bool{first: true, r.Subscribe(nil): false})
		stop()
	})
}

// Subscribers are told what has gone with a writer, indexes and Namespace do not find it, and its memory is free.
func TestDropNotifiesSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.New[*thing]()
		calls := &record{}
		s.Reader().Subscribe(calls)
		ix := cache.NewIndex(s.Reader(), func(o *thing) []string { return []string{o.ID.Name} })
		fill(s.Writer("a"), "2", "a/x u@1", "a/y u@2")
		fill(s.Writer("b"), "3", "b/x u@3")
		drain(t, s)
		calls.Take()
		s.Writer("a").Drop()
		drain(t, s)
		expect(t, "calls", sorted(calls.Take()), "delete a/x u@1", "delete a/y u@2")
		expect(t, "index", contents(ix), "x: [b/x u@3]")
		expect(t, "namespace", states(s.Reader().Namespace("a")))
		if n := s.Reader().Len(); n != 1 {
			t.Errorf("Len = %d, want 1", n)
		}
	})
}

// A snapshot has the version and the objects of one moment, and of the writer's namespace only.
func TestASnapshotIsOfOneMoment(t *testing.T) {
	s := storetest.New[*thing]()
	one, two := s.Writer("one"), s.Writer("two")
	put := func(p *store.Writer[*thing], state string) { p.Set(id(state), object(state)) }
	put(one, "one/a u@1")
	put(two, "two/b v@2")
	version, objects := one.Snapshot()
	put(one, "one/a u@3")
	put(one, "one/c w@4")
	for range 2 {
		var got []meta.Identity
		for id := range objects {
			got = append(got, id)
		}
		if want := []meta.Identity{id("one/a u@1")}; version != "1" || !slices.Equal(got, want) {
			t.Errorf("at version %s there are %v, want %v", version, got, want)
		}
	}
	if version, objects = one.Snapshot(); version != "4" {
		t.Errorf("the version is %s", version)
	}
	n := 0
	for range objects {
		n++
		break
	}
	if n != 1 {
		t.Errorf("a loop that is left has seen %d objects", n)
	}
}

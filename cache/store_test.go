package cache_test

import (
	"slices"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviours 250, 256, 215, 184, fault F15
func TestStoreWrites(t *testing.T) {
	type store = *cache.Store[*thing]
	for _, test := range []struct {
		name    string
		write   func(store)
		want    []string
		version string
	}{
		{"a new store is empty and has no version", func(store) {}, nil, ""},
		{
			"a set object is there, and the store is at its version",
			func(s store) { set(s, "ns/a u@1") },
			[]string{"ns/a u@1"},
			"1",
		},
		{
			"a later state replaces the one before",
			func(s store) { set(s, "ns/a u@1"); set(s, "ns/a u@2") },
			[]string{"ns/a u@2"},
			"2",
		},
		{
			"another uid replaces the object too",
			func(s store) { set(s, "ns/a u@1"); set(s, "ns/a v@2") },
			[]string{"ns/a v@2"},
			"2",
		},
		{
			"the order of the stream is the truth, not that of the versions",
			func(s store) { set(s, "ns/a u@9"); set(s, "ns/a u@2") },
			[]string{"ns/a u@2"},
			"2",
		},
		{
			"the same state again moves nothing, and the version does not go back",
			func(s store) { set(s, "ns/a u@1"); set(s, "ns/b u@2"); set(s, "ns/a u@1") },
			[]string{"ns/a u@1", "ns/b u@2"},
			"2",
		},
		{
			"a deleted object has gone, and the store is at the version of the deletion",
			func(s store) { set(s, "ns/a u@1"); remove(s, "ns/a u@5") },
			nil, "5",
		},
		{
			"a delete that could not be decoded deletes",
			func(s store) { set(s, "ns/a u@1"); s.Delete(id("ns/a u@5"), nil) },
			nil, "5",
		},
		{
			"a delete of another uid deletes what is there: the stream is the truth",
			func(s store) { set(s, "ns/a u@1"); remove(s, "ns/a v@5") },
			nil, "5",
		},
		{
			"a delete of an unknown key moves the version only",
			func(s store) { set(s, "ns/a u@1"); remove(s, "ns/b u@2") },
			[]string{"ns/a u@1"},
			"2",
		},
		{
			"a bookmark moves the version only",
			func(s store) { set(s, "ns/a u@1"); s.Bookmark("7") },
			[]string{"ns/a u@1"},
			"7",
		},
		{
			"events without a version leave the store's",
			func(s store) {
				set(s, "ns/a u@1")
				set(s, "ns/b u@")
				set(s, "ns/b u@")
				remove(s, "ns/a u@")
				remove(s, "ns/c u@")
				s.Bookmark("")
			},
			[]string{"ns/b u@"},
			"1",
		},
		{
			"a namespace and a name do not run into each other",
			func(s store) { set(s, "a/bc u@1"); set(s, "ab/c u@2"); set(s, "abc u@3") },
			[]string{"a/bc u@1", "ab/c u@2", "abc u@3"},
			"3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := cache.NewStore[*thing]()
			test.write(s)
			r := s.Reader()
			expect(t, "All", states(r.All()), test.want...)
			if r.Len() != len(test.want) {
				t.Errorf("Len() = %d, want %d", r.Len(), len(test.want))
			}
			for _, state := range test.want {
				k := key(state)
				if got, ok := r.Get(k); !ok || got.String() != state {
					t.Errorf("Get(%v) = %v, %v, want %s", k, got, ok, state)
				}
			}
			if r.ResourceVersion() != test.version {
				t.Errorf("ResourceVersion() = %q, want %q", r.ResourceVersion(), test.version)
			}
		})
	}
}

// blank says nothing about itself: a projection may leave its metadata out.
type blank struct{ value int }

func (*blank) GetNamespace() string       { return "" }
func (*blank) GetName() string            { return "" }
func (*blank) GetResourceVersion() string { return "" }

func TestStoreTakesIdentityFromBesideTheObject(t *testing.T) {
	s := cache.NewStore[*blank]()
	s.Set(id("ns/a u@1"), &blank{1})
	s.Set(id("ns/b u@2"), &blank{2})
	s.Set(id("ns/a u@3"), &blank{3})
	rel := s.Relist()
	if _, kept := rel.Keep(id("ns/b u@2")); !kept {
		t.Error("Keep of an unchanged object = false")
	}
	rel.Set(id("other/c u@4"), &blank{4})
	changes := rel.Commit("5")
	if want := (cache.Changes{Added: 1, Deleted: 1, Unchanged: 1}); changes != want {
		t.Errorf("changes %+v, want %+v", changes, want)
	}
	var values []int
	for o := range s.Reader().Namespace("ns") {
		values = append(values, o.value)
	}
	expect(t, `Namespace("ns")`, values, 2)
}

// A type of map objects and one of values are types of objects like any other.
type (
	mapped map[string]string
	plain  struct{ meta.Identity }
)

func (m mapped) GetNamespace() string       { return m["namespace"] }
func (m mapped) GetName() string            { return m["name"] }
func (m mapped) GetResourceVersion() string { return m["version"] }

func TestStoreOfMapsAndValues(t *testing.T) {
	m := cache.NewStore[mapped]()
	m.Set(id("ns/a u@1"), mapped{"name": "a"})
	m.Delete(id("ns/a u@2"), nil)
	p := cache.NewStore[plain]()
	p.Set(id("ns/a u@1"), plain{id("ns/a u@1")})
	p.Delete(id("ns/a u@2"), plain{})
	o := cache.NewStore[meta.Object]()
	o.Set(id("ns/a u@1"), plain{id("ns/a u@1")})
	o.Delete(id("ns/a u@2"), nil)
	if n := m.Reader().Len() + p.Reader().Len() + o.Reader().Len(); n != 0 {
		t.Errorf("%d objects left", n)
	}
}

// behaviour 254
func TestReaderLoopsOverTheObjectsOfOneMoment(t *testing.T) {
	s := cache.NewStore[*thing]()
	r := s.Reader()
	byTag := cache.NewIndex(r, func(o *thing) []string { return o.tags })
	want := []string{"ns/a u@1", "ns/b u@2", "ns/c u@3"}
	loops := map[string]func(func(*thing) bool){
		"All": r.All(), "Namespace": r.Namespace("ns"), "Index.Get": byTag.Get("x"),
	}
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) {
			relist(s, "0")
			for _, state := range want {
				set(s, state, "x")
			}
			var got []string
			for o := range loop {
				// Reading, subscribing and writing within the loop neither blocks nor changes it.
				remove(s, "ns/a u@4")
				set(s, "ns/b u@5")
				set(s, "ns/d u@6", "x")
				relist(s, "7", "ns/z u@7")
				if r.Len() != 1 || len(states(r.All())) != 1 {
					t.Errorf("%d objects within the loop, want 1", r.Len())
				}
				r.Subscribe(cache.HandlerFuncs[*thing]{}).Close()
				got = append(got, o.String())
			}
			slices.Sort(got)
			expect(t, "loop", got, want...)
			relist(s, "8", "ns/a u@8", "ns/b u@8")
			n := 0
			for range r.All() {
				n++
				break
			}
			if n != 1 {
				t.Errorf("left the loop after %d rounds, want 1", n)
			}
		})
	}
}

func TestReaderNamespace(t *testing.T) {
	s := cache.NewStore[*thing]()
	r := s.Reader()
	relist(s, "9", "a/x u@1", "a/y u@2", "b/x u@3", "node u@4")
	expect(t, "a", states(r.Namespace("a")), "a/x u@1", "a/y u@2")
	expect(t, "b", states(r.Namespace("b")), "b/x u@3")
	expect(t, "the cluster's", states(r.Namespace("")), "node u@4")
	expect(t, "unknown", states(r.Namespace("c")))
	remove(s, "a/x u@5")
	remove(s, "b/x u@6")
	set(s, "a/y u@7")
	expect(t, "a after", states(r.Namespace("a")), "a/y u@7")
	expect(t, "b after", states(r.Namespace("b")))
	set(s, "b/x v@8")
	expect(t, "b again", states(r.Namespace("b")), "b/x v@8")
}

func TestZeroValuesAreEmpty(t *testing.T) {
	var r cache.Reader[*thing]
	if _, ok := r.Get(key("ns/a")); ok || r.Len() != 0 || r.ResourceVersion() != "" {
		t.Error("the zero Reader is not empty")
	}
	expect(t, "All", states(r.All()))
	expect(t, "Namespace", states(r.Namespace("ns")))
	for name, ix := range map[string]*cache.Index[string, *thing]{
		"index of a zero Reader":       cache.NewIndex(r, func(o *thing) []string { return o.tags }),
		"value index of a zero Reader": cache.NewValueIndex(r, firstTag),
		"zero Index":                   {},
	} {
		expect(t, name, states(ix.Get("x")))
		expect(t, name+" keys", slices.Collect(ix.Keys()))
		if ix.Len("x") != 0 {
			t.Errorf("%s: Len = %d", name, ix.Len("x"))
		}
	}
	for name, sub := range map[string]*cache.Subscription{
		"subscription of a zero Reader": r.Subscribe(&record{}),
		"zero Subscription":             {},
	} {
		<-sub.Done()
		if err := sub.WaitSynced(t.Context()); err == nil {
			t.Errorf("%s: WaitSynced = nil, want an error", name)
		}
		select {
		case <-sub.Synced():
			t.Errorf("%s: synced", name)
		default:
		}
		if depth, age := sub.Backlog(); depth != 0 || age != 0 || sub.Pending() != 0 {
			t.Errorf("%s: backlog %d, %v", name, depth, age)
		}
		sub.Close()
	}
}

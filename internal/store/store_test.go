package store_test

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// behaviours 250, 256, 215, 184, fault F15
func TestStoreWrites(t *testing.T) {
	for _, test := range []struct {
		name    string
		write   func(things)
		want    []string
		version string
	}{
		{"a new store is empty and has no version", func(things) {}, nil, ""},
		{
			"a set object is there, and the store is at its version",
			func(s things) { set(s, "ns/a u@1") },
			[]string{"ns/a u@1"},
			"1",
		},
		{
			"a later state replaces the one before",
			func(s things) { set(s, "ns/a u@1"); set(s, "ns/a u@2") },
			[]string{"ns/a u@2"},
			"2",
		},
		{
			"another uid replaces the object too",
			func(s things) { set(s, "ns/a u@1"); set(s, "ns/a v@2") },
			[]string{"ns/a v@2"},
			"2",
		},
		{
			"the order of the stream is the truth, not that of the versions",
			func(s things) { set(s, "ns/a u@9"); set(s, "ns/a u@2") },
			[]string{"ns/a u@2"},
			"2",
		},
		{
			"the same state again moves nothing, and the version does not go back",
			func(s things) { set(s, "ns/a u@1"); set(s, "ns/b u@2"); set(s, "ns/a u@1") },
			[]string{"ns/a u@1", "ns/b u@2"},
			"2",
		},
		{
			"a deleted object has gone, and the store is at the version of the deletion",
			func(s things) { set(s, "ns/a u@1"); remove(s, "ns/a u@5") },
			nil, "5",
		},
		{
			"a delete that could not be decoded deletes",
			func(s things) { set(s, "ns/a u@1"); s.Delete(id("ns/a u@5"), nil) },
			nil, "5",
		},
		{
			"a delete of another uid deletes what is there: the stream is the truth",
			func(s things) { set(s, "ns/a u@1"); remove(s, "ns/a v@5") },
			nil, "5",
		},
		{
			"a delete of an unknown key moves the version only",
			func(s things) { set(s, "ns/a u@1"); remove(s, "ns/b u@2") },
			[]string{"ns/a u@1"},
			"2",
		},
		{
			"a bookmark moves the version only",
			func(s things) { set(s, "ns/a u@1"); s.Bookmark("7") },
			[]string{"ns/a u@1"},
			"7",
		},
		{
			"events without a version leave the store's",
			func(s things) {
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
			func(s things) { set(s, "a/bc u@1"); set(s, "ab/c u@2"); set(s, "abc u@3") },
			[]string{"a/bc u@1", "ab/c u@2", "abc u@3"},
			"3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New[*thing]()
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
	s := storetest.New[*blank]()
	s.Set(id("ns/a u@1"), &blank{1})
	s.Set(id("ns/b u@2"), &blank{2})
	s.Set(id("ns/a u@3"), &blank{3})
	rel := s.Relist()
	if _, kept := rel.Keep(id("ns/b u@2")); !kept {
		t.Error("Keep of an unchanged object = false")
	}
	rel.Set(id("other/c u@4"), &blank{4})
	changes := rel.Commit("5")
	if want := (store.Changes{Added: 1, Deleted: 1, Unchanged: 1}); changes != want {
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

func TestObjectsMayBeMapsAndValues(t *testing.T) {
	m := storetest.New[mapped]()
	m.Set(id("ns/a u@1"), mapped{"name": "a"})
	m.Delete(id("ns/a u@2"), nil)
	p := storetest.New[plain]()
	p.Set(id("ns/a u@1"), plain{id("ns/a u@1")})
	p.Delete(id("ns/a u@2"), plain{})
	o := storetest.New[meta.Object]()
	o.Set(id("ns/a u@1"), plain{id("ns/a u@1")})
	o.Delete(id("ns/a u@2"), nil)
	if n := m.Reader().Len() + p.Reader().Len() + o.Reader().Len(); n != 0 {
		t.Errorf("%d objects left", n)
	}
}

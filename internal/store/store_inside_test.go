package store

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// moments notes, as an index of a store that has no values, what Store.moment is while a change is being put in place.
type moments struct {
	s    *Store[meta.Identity]
	seen []uint64
}

func (m *moments) prepare([]delta[meta.Identity]) {}
func (m *moments) commit(uint64)                  { m.seen = append(m.seen, m.s.moment.Load()) }
func (m *moments) fork(uint64, bool)              {}
func (m *moments) swap()                          {}
func (m *moments) renumber([]uint32, uint64)      {}

// Get looks for an object without a lock, and knows by Store.moment whether it has looked into a table that was being
// changed. An object that comes can make the table a new one; one that goes moves others, which are in neither place for a
// moment. So moment has to be odd meanwhile, even where one object alone comes or goes, and another one afterwards.
func TestMomentIsOddWhileAChangeIsPutInPlace(t *testing.T) {
	state := func(name, version string) meta.Identity {
		return meta.Identity{Namespace: "ns", Name: name, UID: "u", ResourceVersion: version}
	}
	set := func(s *Store[meta.Identity], name, version string) {
		s.Writer("").Set(state(name, version), state(name, version))
	}
	for _, test := range []struct {
		name   string
		write  func(*Store[meta.Identity])
		commit bool // whether anything is put in place
		odd    bool
	}{
		{"an object comes", func(s *Store[meta.Identity]) { set(s, "new", "4") }, true, true},
		{"an object goes", func(s *Store[meta.Identity]) { s.Writer("").Delete(state("a", "4"), meta.Identity{}) }, true, true},
		{"a list changes several", func(s *Store[meta.Identity]) {
			r := s.Writer("").Relist()
			r.Set(state("a", "4"), state("a", "4"))
			r.Set(state("b", "5"), state("b", "5"))
			r.Commit("6")
		}, true, true},
		{"an empty list removes all", func(s *Store[meta.Identity]) { s.Writer("").Relist().Commit("4") }, true, true},
		// One reference takes the place of another, in one step.
		{"an object changes", func(s *Store[meta.Identity]) { set(s, "a", "4") }, true, false},
		{"an object is as it was", func(s *Store[meta.Identity]) { set(s, "a", "1") }, false, false},
		{"a bookmark", func(s *Store[meta.Identity]) { s.Writer("").Bookmark("9") }, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New[meta.Identity]()
			set(s, "a", "1")
			set(s, "b", "2")
			m := &moments{s: s}
			s.indexes = append(s.indexes, m)
			before := s.moment.Load()
			test.write(s)
			after := s.moment.Load()
			if test.commit != (len(m.seen) == 1) {
				t.Fatalf("%d changes were put in place", len(m.seen))
			}
			if test.commit && test.odd != (m.seen[0]%2 == 1) {
				t.Errorf("the moment is %d while the change is put in place, want odd: %v", m.seen[0], test.odd)
			}
			if after%2 == 1 || test.odd != (after > before) {
				t.Errorf("the moment was %d, and is %d after the change", before, after)
			}
		})
	}
}

// The fields of an embedded struct are those of the outer one, unless its tag gives it a name.
func TestAPathHasTheNamesOfJSON(t *testing.T) {
	type Inner struct{ Text string }
	type inlined struct{ Inner }
	type named struct {
		Inner `json:"inner"`
	}
	if path, _ := firstDifference(inlined{Inner{"a"}}, inlined{Inner{"b"}}); path != "Text" {
		t.Errorf("the path is %q, want Text", path)
	}
	if path, _ := firstDifference(named{Inner{"a"}}, named{Inner{"b"}}); path != "inner.Text" {
		t.Errorf("the path is %q, want inner.Text", path)
	}
	type local struct {
		Text string `json:"-"`
	}
	if path, _ := firstDifference(local{"a"}, local{"b"}); path != "Text" {
		t.Errorf("the path is %q, want Text: no JSON has the field", path)
	}
}

package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// A list of a part of the objects replaces these, and leaves all others as they are.
func TestARelistOfAPartLeavesTheOtherObjects(t *testing.T) {
	s := storetest.New[*thing]()
	for _, state := range []string{"ns/a1 u@1", "ns/a2 u@2", "ns/b1 u@3", "ns/b2 u@4"} {
		s.Set(id(state), object(state))
	}
	stays, _ := s.Reader().Get(meta.Key{Namespace: "ns", Name: "b1"})
	w := s.Writer("")
	r := w.RelistOf(func(id meta.Identity) bool {
		if id.UID != "u" || id.Namespace != "ns" || id.ResourceVersion == "" {
			t.Errorf("asked about %v", id)
		}
		return strings.HasPrefix(id.Name, "a")
	})
	r.Set(id("ns/a2 u@5"), object("ns/a2 u@5"))
	r.Set(id("ns/a3 u@6"), object("ns/a3 u@6"))
	r.Set(id("ns/b2 v@7"), object("ns/b2 v@7")) // another of that name
	if got, want := r.Commit("4"), (store.Changes{Added: 2, Updated: 1, Deleted: 2}); got != want {
		t.Errorf("changes %+v, want %+v", got, want)
	}
	var got []string
	for id := range s.Entries() {
		got = append(got, id.Key().String()+" "+id.UID+"@"+id.ResourceVersion)
	}
	slices.Sort(got)
	if want := []string{"ns/a2 u@5", "ns/a3 u@6", "ns/b1 u@3", "ns/b2 v@7"}; !slices.Equal(got, want) {
		t.Errorf("the store holds %q, want %q", got, want)
	}
	if now, _ := s.Reader().Get(meta.Key{Namespace: "ns", Name: "b1"}); now != stays {
		t.Error("an object of the rest is another one")
	}
	if w.ResourceVersion() != "4" {
		t.Errorf("the writer is at %s", w.ResourceVersion())
	}
	// The next list is one of all again.
	w.Relist().Commit("8")
	if n := s.Reader().Len(); n != 0 {
		t.Errorf("an empty list leaves %d objects", n)
	}
}

func TestIdentity(t *testing.T) {
	s := storetest.New[*thing]()
	s.Set(id("ns/a u@1"), object("ns/a u@1"))
	if got, found := s.Identity(meta.Key{Namespace: "ns", Name: "a"}); !found || got != id("ns/a u@1") {
		t.Errorf("got %v, %v", got, found)
	}
	if got, found := s.Identity(meta.Key{Namespace: "ns", Name: "b"}); found || got != (meta.Identity{}) {
		t.Errorf("got %v, %v", got, found)
	}
}

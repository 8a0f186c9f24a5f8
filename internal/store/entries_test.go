package store_test

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// nameless is an object that does not know its name.
type nameless struct{ n int }

func (nameless) GetNamespace() string       { return "" }
func (nameless) GetName() string            { return "" }
func (nameless) GetResourceVersion() string { return "" }

func TestEntriesHaveTheIdentityOfTheServer(t *testing.T) {
	s := storetest.New[nameless]()
	s.OnRead(func(op string, _ meta.Key) { t.Errorf("Entries counts as a read: %s", op) })
	want := map[meta.Identity]int{}
	for i, name := range []string{"a", "b", "c"} {
		id := meta.Identity{Namespace: "default", Name: name, UID: "uid-" + name, ResourceVersion: name + "1"}
		s.Set(id, nameless{i})
		want[id] = i
	}
	left := len(want)
	for id, obj := range s.Entries() {
		if n, ok := want[id]; !ok || n != obj.n {
			t.Errorf("entry %v is %v", id, obj)
		}
		if left == len(want) { // the loop does not see what changes meanwhile, and holds no lock
			for id := range want {
				s.Delete(meta.Identity{Namespace: id.Namespace, Name: id.Name, UID: id.UID, ResourceVersion: "9"}, nameless{})
			}
			s.Set(meta.Identity{Namespace: "default", Name: "d", UID: "d", ResourceVersion: "10"}, nameless{})
		}
		left--
	}
	if left != 0 {
		t.Errorf("%d entries are missing", left)
	}
	for id := range s.Entries() {
		if id.Name != "d" {
			t.Errorf("after the loop there is %v", id)
		}
		break
	}
}

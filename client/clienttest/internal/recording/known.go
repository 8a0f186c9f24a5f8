package recording

import (
	"cmp"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Known is the state of one stream according to a file: which objects exist in which version, without their contents.
// One goroutine uses it.
type Known struct {
	// Version is where a watch goes on; empty means that a list must come first.
	Version string

	begun   bool // the first list is complete
	inGap   bool
	objects map[meta.Key]state
	list    int // the number of the list that is being read
}

// state is an object that exists.
type state struct {
	uid, version string
	list         int // the last list that had it
}

func newKnown() *Known { return &Known{objects: map[meta.Key]state{}} }

// Begun reports whether the file has a whole list of the stream.
func (k *Known) Begun() bool { return k.begun }

// note updates the state with a line of the file.
func (k *Known) note(l *Line, id Identity) {
	switch l.Type {
	case Synced:
		k.Version, k.begun, k.inGap = l.ResourceVersion, true, false
	case Bookmark:
		k.Version = l.ResourceVersion
	case Gap:
		k.Version, k.inGap = "", true
	case Listed, Added, Modified:
		k.Put(id)
	case Deleted:
		k.Remove(id)
	}
}

// Put records the state of an object. If no list is being read, a watch goes on after the version of that state.
func (k *Known) Put(id Identity) {
	k.objects[id.Key] = state{id.UID, id.ResourceVersion, k.list}
	if k.begun && !k.inGap {
		k.Version = id.ResourceVersion
	}
}

// Remove records that an object has gone.
func (k *Known) Remove(id Identity) {
	delete(k.objects, id.Key)
	if k.begun && !k.inGap {
		k.Version = id.ResourceVersion
	}
}

// BeginList begins a list. Until its end there is no version at which a watch can go on.
func (k *Known) BeginList() { k.Version, k.inGap = "", true; k.list++ }

// Changed records an object of the list. how says how it differs from the state before: Added, Modified, or "" if it
// does not differ. If another object had the name before, the object is Added, and gone is the uid of the other one;
// otherwise gone is "".
func (k *Known) Changed(id Identity) (how Type, gone string) {
	was, found := k.objects[id.Key]
	switch {
	case !found:
		how = Added
	case was.uid != id.UID:
		how, gone = Added, was.uid
	case was.version != id.ResourceVersion:
		how = Modified
	}
	k.Put(id)
	return how, gone
}

// Keep records that the list has an object that could not be read. It keeps the state before.
func (k *Known) Keep(key meta.Key) {
	if was, found := k.objects[key]; found {
		was.list = k.list
		k.objects[key] = was
	}
}

// Gone returns the objects that the list did not have, by namespace and name.
func (k *Known) Gone() (gone []Identity) {
	for key, s := range k.objects {
		if s.list != k.list {
			gone = append(gone, Identity{Key: key, UID: s.uid})
		}
	}
	slices.SortFunc(gone, func(a, b Identity) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return gone
}

// EndList ends a list that is complete, at a version.
func (k *Known) EndList(version string) { k.Version, k.begun, k.inGap = version, true, false }

package meta

import (
	"cmp"
	"strings"
)

// Key names one object of a resource. Namespace is empty for objects of cluster-wide resources. A Key is comparable. It
// is the key of every cache, and of most queues.
type Key struct {
	Namespace string
	Name      string
}

// KeyOf returns the key of o.
func KeyOf(o Object) Key { return Key{Namespace: o.GetNamespace(), Name: o.GetName()} }

// ObjectMeta returns the metadata of a new object with that key, for a literal:
//
//	site := &Site{ObjectMeta: key.ObjectMeta()}
func (k Key) ObjectMeta() ObjectMeta { return ObjectMeta{Namespace: k.Namespace, Name: k.Name} }

// String returns "namespace/name", or the name alone for an object without a namespace. It is for people: nothing in
// this module parses it.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Compare orders keys by namespace, then by name, for slices.SortFunc.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Namespace, other.Namespace), strings.Compare(k.Name, other.Name))
}

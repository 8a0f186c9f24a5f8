package object

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Revision is one state of one object. It never changes, and is shared by the collection's trees, its history and all
// readers.
type Revision struct {
	Key     meta.Key
	Path    string
	UID     string
	Version uint64
	Labels  map[string]string
	Fields  []string // the values of the fields that Type.Selectable names

	Deleting bool // deletionTimestamp is set

	Raw       []byte // the whole object, as JSON
	versionAt int    // where in raw the digits of the resource version start
	metaAt    int    // where in raw the metadata starts
	metaEnd   int    // and where it ends
}

// Revision encodes d, which is complete except for the resource version. Version 0 leaves the version out, as a dry
// run of a create does.
func (d *Draft) Revision(t *Type, version uint64) *Revision {
	v := &Revision{
		Key: d.Key(),
		UID: d.Meta.UID, Version: version, Labels: d.Meta.Labels, Deleting: d.Meta.DeletionTimestamp != nil,
	}
	v.Path = PathOf(v.Key)
	selected := t.Selected
	if selected == nil {
		selected = jsontree.Lookup
	}
	for _, f := range t.Selectable {
		v.Fields = append(v.Fields, selected(d.Content, f))
	}
	b := make([]byte, 0, 2048)
	b = append(b, t.Prefix()...)
	b = append(b, `"metadata":`...)
	v.metaAt = len(b)
	b, v.versionAt = appendMetadata(b, &d.Meta, version, t.Builtin)
	v.metaEnd = len(b)
	for _, k := range slices.Sorted(maps.Keys(d.Content)) {
		b = append(b, ',')
		b = jsontree.AppendString(b, k)
		b = append(b, ':')
		b = jsontree.Append(b, d.Content[k])
	}
	v.Raw = bytes.Clone(append(b, '}')) // without b's spare capacity
	return v
}

// Prefix returns the start of every object of the resource. Compiled-in types put kind first; custom resources sort
// their members.
func (t *Type) Prefix() string {
	if t.Builtin {
		return `{"kind":"` + t.Of.Kind + `","apiVersion":"` + t.Of.APIVersion() + `",`
	}
	return `{"apiVersion":"` + t.Of.APIVersion() + `","kind":"` + t.Of.Kind + `",`
}

// Item returns the object as an item of a list, where compiled-in types leave kind and apiVersion out.
func (v *Revision) Item(t *Type) (open string, rest []byte) {
	if t.Builtin {
		return "{", v.Raw[len(t.Prefix()):]
	}
	return "", v.Raw
}

// Metadata returns the metadata's bytes.
func (v *Revision) Metadata() []byte { return v.Raw[v.metaAt:v.metaEnd] }

// At returns the object's last state, with the version at which the object was deleted or left a selection.
func (v *Revision) At(version uint64) *Revision {
	old, now := strconv.FormatUint(v.Version, 10), strconv.FormatUint(version, 10)
	w := *v
	w.Version = version
	w.Raw = slices.Concat(v.Raw[:v.versionAt], []byte(now), v.Raw[v.versionAt+len(old):])
	w.metaEnd += len(now) - len(old)
	return &w
}

// Draft decodes the object again.
func (v *Revision) Draft() *Draft {
	d, err := Parse(v.Raw)
	if err != nil {
		panic(fmt.Sprintf("clienttest: decode what was stored at %s: %v", v.Key, err))
	}
	return d
}

// PathOf returns the path under which an object is stored. Lists are in the order of these paths, as on a real server,
// which lists in the order of etcd's keys.
func PathOf(k meta.Key) string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// Span returns the paths of one namespace, or of everything.
func Span(namespace string) (from, to string) {
	if namespace == "" {
		return "", ""
	}
	return namespace + "/", namespace + "0" // '0' is the byte after '/'
}

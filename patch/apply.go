package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// ApplyType is the media type of a server-side apply. Its body is JSON, which is YAML too.
const ApplyType = "application/apply-patch+yaml"

// Apply returns the server-side apply (KEP-555) of the configuration that v encodes to: the fields that a field
// manager sets, and no others. The server records that the manager owns them. It removes the fields that the manager
// applied earlier and leaves out now, unless another manager owns them too. So an empty configuration is not an empty
// patch.
//
// v encodes to a JSON object: a struct, a map, a meta.Unstructured or a json.RawMessage. Apply sends every field that
// encoding/json writes, with two exceptions: nulls, and zeros of fields tagged omitempty or omitzero, even those that
// encoding/json writes, such as an empty struct. A pointer to a zero is not a zero.
//
// If paths are given, Apply sends only the fields that they name. A path is a JSON pointer such as "/spec/replicas" or
// "/spec/template/spec/containers/0/image". A path also selects a zero, even one that omitempty hides. Apply adds
// nothing to an element of a list, so if the list has keys, name the element's key in a path too. It is an error if v
// has no value at a path, or null.
//
// Apply always sends apiVersion, kind, metadata.name and metadata.namespace if v has them. With
// metadata.resourceVersion it applies to that version only, as [Patch.WithResourceVersion] does; but if the object no
// longer exists, a server creates it, whatever the version.
//
// Only a server sets metadata.managedFields, uid, generation, creationTimestamp, deletionTimestamp,
// deletionGracePeriodSeconds and selfLink. Apply leaves them out if they are empty, and returns an error otherwise. It
// also leaves out a status that has no values. Any other status belongs to the status subresource. A server ignores it
// in the object itself, so a client refuses to send it there, unless a path names it.
func Apply(v any, paths ...string) Patch {
	p := Patch{mediaType: ApplyType}
	root, err := readConfiguration(v, paths)
	if err == nil {
		if p.status, err = tidy(root, paths); err == nil {
			p.body, err = root.AppendTo(nil, 0)
		}
	}
	if err != nil {
		return Patch{mediaType: ApplyType, err: fmt.Errorf("patch.Apply: %w", err)}
	}
	return p
}

// CheckSubresource returns an error, which is [ErrMalformed], if the patch is an [Apply] with a status and the name is
// empty, that is, if it would be sent to the object itself: a server ignores that status. Paths of Apply that name the
// status prevent the error. For the name of a subresource, CheckSubresource returns nil.
func (p Patch) CheckSubresource(name string) error {
	if !p.status || name != "" {
		return nil
	}
	return malformed("status must be left out of a configuration of the object itself; " +
		"apply it to the subresource status, or name /status in the paths of patch.Apply")
}

// readConfiguration returns what v encodes to, or the part of it that the paths name.
func readConfiguration(v any, paths []string) (*tree.Node, error) {
	if err := gotype.Unnamed(reflect.TypeOf(v)); err != nil {
		return nil, err
	}
	root, err := govalue.Read("the configuration", v)
	if err != nil {
		return nil, err
	}
	dropZeros(root, root.From, govalue.Tags(v, root), paths)
	if len(paths) == 0 {
		return root, nil
	}
	named := selection{}
	for _, path := range paths {
		names, err := ParsePointer(path)
		if err == nil && len(names) == 0 {
			err = malformed("path %s must name a member", tree.Quote(path))
		}
		if err == nil {
			err = complete(root, reflect.ValueOf(v), path, names)
		}
		if err != nil {
			return nil, err
		}
		named.add(names)
	}
	for _, names := range whichObject {
		if at, _ := locate(root, names); at != nil {
			named.add(names)
		}
	}
	chosen := named.of(root)
	return &chosen, nil
}

// selection is the set of places that paths name: for each name, the selection below it. An empty selection is
// everything.
type selection map[string]selection

func (s selection) add(names []string) {
	for i, name := range names {
		next, ok := s[name]
		switch {
		case i == len(names)-1:
			s[name] = selection{} // everything, whichever parts were chosen before
		case !ok:
			next = selection{}
			s[name] = next
		case len(next) == 0:
			return // everything is chosen already
		}
		s = next
	}
}

// of returns the chosen parts of an object or list, which must contain them.
func (s selection) of(n *tree.Node) tree.Node {
	from := n.Open()
	to := &tree.Branch{List: from.List}
	for i := range from.Items {
		if part, ok := s[fmt.Sprint(i)]; ok {
			to.Items = append(to.Items, part.part(&from.Items[i]))
		}
	}
	for i := range from.Members {
		m := from.Members[i]
		if part, ok := s[string(m.Name)]; ok && !m.Gone {
			m.Value = part.part(&m.Value)
			to.Members = append(to.Members, m)
		}
	}
	return tree.Node{Branch: to}
}

func (s selection) part(n *tree.Node) tree.Node {
	if len(s) == 0 {
		return *n
	}
	return s.of(n)
}

// locate returns the value that the names lead to, or nil if it is not there. It returns an error if a name in a list
// is not the index of one of its elements.
func locate(n *tree.Node, names []string) (*tree.Node, error) {
	for _, name := range names {
		b := n.Open()
		switch {
		case b == nil:
			return nil, nil
		case b.List:
			i, err := index(name)
			if err != nil {
				return nil, err
			}
			if i >= len(b.Items) {
				return nil, notFound("index %s is out of range: the list has length %d", tree.Quote(name), len(b.Items))
			}
			n = &b.Items[i]
		default:
			i := b.Find(name)
			if i < 0 {
				return nil, nil
			}
			n = &b.Members[i].Value
		}
	}
	return n, nil
}

// complete makes sure that the configuration has a value at the path. If the JSON of a struct leaves the value out
// because it is zero, complete takes it from the struct.
func complete(root *tree.Node, v reflect.Value, path string, names []string) error {
	at, err := locate(root, names)
	if err != nil {
		return fmt.Errorf("path %s: %w", tree.Quote(path), err)
	}
	if at == nil {
		field, ok := fieldOf(v, names)
		if !ok {
			return fmt.Errorf("path %s: %w", tree.Quote(path), notFound("the configuration does not have it"))
		}
		text, err := json.Marshal(field.Interface())
		if err != nil {
			return fmt.Errorf("path %s: encode it: %w", tree.Quote(path), err)
		}
		s, err := tree.Read("it", text)
		if err != nil {
			return fmt.Errorf("path %s: %w", tree.Quote(path), err)
		}
		zero := s.Root()
		if at = &zero; zero.Kind() != 'n' && !put(root, names, zero) {
			return fmt.Errorf("path %s: %w", tree.Quote(path), notFound("the configuration does not have it"))
		}
	}
	if at.Kind() == 'n' {
		return malformed("path %s is null, which applies nothing; to empty a field, use an empty object, list or string", tree.Quote(path))
	}
	return nil
}

// put sets a missing value, and creates the objects around it. It reports whether that is possible.
func put(n *tree.Node, names []string, value tree.Node) bool {
	for i, name := range names {
		b := n.Open()
		if b == nil {
			return false
		}
		if b.List {
			at, err := index(name)
			if err != nil || at >= len(b.Items) {
				return false
			}
			n = &b.Items[at]
			continue
		}
		at := b.Find(name)
		switch last := i == len(names)-1; {
		case last:
			b.Set(name, value)
			return true
		case at < 0 || b.Members[at].Value.Kind() == 'n':
			b.Set(name, tree.Node{Branch: &tree.Branch{}})
			at = b.Find(name)
		}
		n = &b.Members[at].Value
	}
	return false
}

// fieldOf returns the value that the names lead to in a Go value that encoding/json encodes by its fields.
func fieldOf(v reflect.Value, names []string) (reflect.Value, bool) {
	for {
		for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() && !govalue.EncodesItself(v.Type()) {
			v = v.Elem()
		}
		if !v.IsValid() || len(names) == 0 {
			return v, v.IsValid()
		}
		if govalue.EncodesItself(v.Type()) {
			return v, false
		}
		name := names[0]
		names = names[1:]
		switch v.Kind() {
		case reflect.Struct:
			v = structField(v, name)
		case reflect.Map:
			if v.Type().Key().Kind() != reflect.String {
				return v, false
			}
			v = v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		case reflect.Slice, reflect.Array:
			i, err := index(name)
			if err != nil || i >= v.Len() {
				return v, false
			}
			v = v.Index(i)
		default:
			return v, false
		}
	}
}

// structField returns the field that encoding/json gives a name, or the zero Value.
func structField(v reflect.Value, name string) reflect.Value {
	for _, f := range gotype.Fields(v.Type()) {
		if f.Name != name {
			continue
		}
		if field, ok := gotype.Follow(v, f.Way); ok {
			return field
		}
	}
	return reflect.Value{}
}

// onlyServer are the members of metadata that only a server sets.
var onlyServer = []string{
	"managedFields", "uid", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
}

// tidy removes the parts of a configuration that have no meaning, and returns an error for parts that no configuration
// may have. It reports whether there is a status that the paths do not name.
func tidy(root *tree.Node, paths []string) (status bool, err error) {
	dropNulls(root)
	object := root.Open()
	for _, name := range []string{"apiVersion", "kind"} {
		dropIf(object, name, (*tree.Node).IsZero)
	}
	if at := object.Find("metadata"); at >= 0 {
		n := &object.Members[at].Value
		if n.Kind() != '{' {
			return false, malformed("metadata must be an object")
		}
		metadata := n.Open()
		for _, name := range []string{"name", "namespace", "resourceVersion"} {
			dropIf(metadata, name, (*tree.Node).IsZero)
		}
		for _, name := range onlyServer {
			dropIf(metadata, name, (*tree.Node).IsZero)
			if metadata.Find(name) >= 0 {
				return false, malformed("metadata.%s must be left out of a configuration, because only the server sets it; "+
					"to apply a part of an object that was read, use patch.Extract or the paths of patch.Apply", name)
			}
		}
		dropIf(object, "metadata", (*tree.Node).IsZero)
	}
	if slices.ContainsFunc(paths, func(p string) bool { return p == "/status" || leadsInto(p, "/status") }) {
		return false, nil
	}
	dropIf(object, "status", isHollow)
	return object.Find("status") >= 0, nil
}

func dropIf(b *tree.Branch, name string, empty func(*tree.Node) bool) {
	if at := b.Find(name); at >= 0 && empty(&b.Members[at].Value) {
		b.Remove(at)
	}
}

// isHollow reports whether a value is an object that is empty or contains only hollow objects.
func isHollow(n *tree.Node) bool {
	if n.Kind() != '{' {
		return false
	}
	b := n.Open()
	for i := range b.Members {
		if m := &b.Members[i]; !m.Gone && !isHollow(&m.Value) {
			return false
		}
	}
	return true
}

// dropNulls removes the members that are null. Elements of lists stay.
func dropNulls(n *tree.Node) {
	if n.Branch == nil && !bytes.Contains(n.Text(), []byte("null")) {
		return
	}
	b := n.Open()
	if b == nil {
		return
	}
	for i := range b.Items {
		dropNulls(&b.Items[i])
	}
	for i := range b.Members {
		if m := &b.Members[i]; m.Gone {
			continue
		} else if m.Value.Kind() == 'n' {
			b.Remove(i)
		} else {
			dropNulls(&m.Value)
		}
	}
}

// dropZeros removes the zeros that encoding/json has written although their fields are tagged omitempty or omitzero,
// unless a path leads to them.
func dropZeros(root *tree.Node, from *tree.Source, hints map[uint32]govalue.Tag, paths []string) {
	for _, path := range paths {
		if names, err := ParsePointer(path); err == nil {
			if at, err := locate(root, names); err == nil && at != nil && at.From == from {
				delete(hints, at.At)
			}
		}
	}
	var drop func(n *tree.Node)
	drop = func(n *tree.Node) {
		b := n.Open()
		if b == nil {
			return
		}
		for i := range b.Items {
			drop(&b.Items[i])
		}
		for i := range b.Members {
			if m := &b.Members[i]; m.Gone {
				continue
			} else if hints[m.Value.At].Unsaid {
				b.Remove(i)
			} else {
				drop(&m.Value)
			}
		}
	}
	for _, h := range hints {
		if h.Unsaid {
			drop(root)
			return
		}
	}
}

package patch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/inside"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// ApplyType is the media type of a server-side apply. Its body is JSON, which is YAML too.
const ApplyType = "application/apply-patch+yaml"

// Apply returns the server-side apply (KEP-555) of the configuration that v encodes to: the fields that a field manager has an
// opinion on, and no others. The server remembers that they are the manager's, and removes those that it applied before and that
// are left out now, unless somebody else owns them too. So a configuration that is empty is no empty patch.
//
// v encodes to a JSON object: a struct, a map, a meta.Unstructured, a json.RawMessage. Every field that encoding/json writes is
// wanted, except null, and except the zero of a field tagged omitempty or omitzero; [Overlay] says more about that rule. With paths, which are
// JSON pointers such as "/spec/replicas" or "/spec/template/spec/containers/0/image", only what they lead to is sent, whatever
// else v has; and a path leads to a zero too, also to one that the tag omitempty hides. Nothing is added to an element of a list,
// so where its list is keyed, its key must be named as well. It is an error if v does not have what a path leads to, or has null
// there.
//
// apiVersion, kind, metadata.name and metadata.namespace are always sent if v has them. metadata.resourceVersion makes
// it an apply to that version, as [Patch.WithResourceVersion] does; where there is no object any more, a server creates one, whatever
// the version is.
//
// What only the server sets vanishes where it is empty and is an error where it is not: metadata.managedFields, uid, generation,
// creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds and selfLink. A status that is empty throughout vanishes. One
// that is not is for the subresource status: a client refuses to apply it to the object itself, where a server ignores it, unless a
// path names it.
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

// Inside is for package client. Only packages of this module can use its result.
func (p Patch) Inside() inside.Patch {
	if !p.status {
		return inside.Patch{}
	}
	return inside.Patch{OnObject: malformed("status must be left out of a configuration of the object itself; " +
		"apply it to the subresource status, or name /status in the paths of patch.Apply")}
}

// readConfiguration returns what v encodes to, or as much of it as the paths name.
func readConfiguration(v any, paths []string) (*tree.Node, error) {
	root, err := readObject("the configuration", v)
	if err != nil {
		return nil, err
	}
	dropZeros(root, root.From, readTags(v, root), paths)
	if len(paths) == 0 {
		return root, nil
	}
	named := selection{}
	for _, path := range paths {
		names, err := ParsePointer(path)
		if err == nil && len(names) == 0 {
			err = malformed("path %s must name a member", quote(path))
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

// selection is the set of what paths lead to: by name, what of it is chosen. An empty one is all.
type selection map[string]selection

func (s selection) add(names []string) {
	for i, name := range names {
		next, ok := s[name]
		switch {
		case i == len(names)-1:
			s[name] = selection{} // all, whatever parts of it were chosen
		case !ok:
			next = selection{}
			s[name] = next
		case len(next) == 0:
			return // all is chosen
		}
		s = next
	}
}

// of returns the chosen parts of an object or list, which has them.
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

// locate returns the value that the names lead to; nil if it is not there. The error says that a name is no index.
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
				return nil, notFound("index %s is behind the last of %d elements", quote(name), len(b.Items))
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

// complete makes sure that the configuration has what a path leads to: what the JSON of a struct leaves out because it is zero
// is taken from the struct.
func complete(root *tree.Node, v reflect.Value, path string, names []string) error {
	at, err := locate(root, names)
	if err != nil {
		return fmt.Errorf("path %s: %w", quote(path), err)
	}
	if at == nil {
		field, ok := fieldOf(v, names)
		if !ok {
			return fmt.Errorf("path %s: %w", quote(path), notFound("the configuration does not have it"))
		}
		text, err := json.Marshal(field.Interface())
		if err != nil {
			return fmt.Errorf("path %s: encode it: %w", quote(path), err)
		}
		s, err := tree.Read("it", text)
		if err != nil {
			return fmt.Errorf("path %s: %w", quote(path), err)
		}
		zero := s.Root()
		if at = &zero; zero.Kind() != 'n' && !put(root, names, zero) {
			return fmt.Errorf("path %s: %w", quote(path), notFound("the configuration does not have it"))
		}
	}
	if at.Kind() == 'n' {
		return malformed("path %s leads to null, which says nothing; an empty object, list or string says that it is to be empty", quote(path))
	}
	return nil
}

// put sets a value that is not there, and the objects around it. It reports whether there can be one.
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

// fieldOf returns the value that names lead to in a Go value that encoding/json encodes by its fields.
func fieldOf(v reflect.Value, names []string) (reflect.Value, bool) {
	for {
		for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() && !encodesItself(v.Type()) {
			v = v.Elem()
		}
		if !v.IsValid() || len(names) == 0 {
			return v, v.IsValid()
		}
		if encodesItself(v.Type()) {
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

// tidy takes out of a configuration what says nothing, and returns an error for what no configuration may say. It reports
// whether there is a status that the paths do not name.
func tidy(root *tree.Node, paths []string) (status bool, err error) {
	dropNulls(root)
	object := root.Open()
	for _, name := range []string{"apiVersion", "kind"} {
		dropIf(object, name, isZero)
	}
	if at := object.Find("metadata"); at >= 0 {
		n := &object.Members[at].Value
		if n.Kind() != '{' {
			return false, malformed("metadata must be an object")
		}
		metadata := n.Open()
		for _, name := range []string{"name", "namespace", "resourceVersion"} {
			dropIf(metadata, name, isZero)
		}
		for _, name := range onlyServer {
			dropIf(metadata, name, isZero)
			if metadata.Find(name) >= 0 {
				return false, malformed("metadata.%s must be left out of a configuration that is applied: only the server sets it; "+
					"of an object that was read, apply what patch.Extract returns, or name in the paths of patch.Apply what is meant", name)
			}
		}
		dropIf(object, "metadata", isZero)
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

// isZero reports whether a value is what an unset field encodes to.
func isZero(n *tree.Node) bool {
	switch n.Kind() {
	case '{', '[':
		b := n.Open()
		return b.Len() == 0 && len(b.Items) == 0
	case '"':
		return len(n.Unquoted()) == 0
	case '0':
		return string(n.Text()) == "0"
	}
	return n.Kind() == 'n'
}

// isHollow reports whether a value is an object that has nothing but such objects.
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

// dropNulls takes the members out that are null. Elements of lists stay.
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

// dropZeros takes the zeros of fields out that leave zeros out, although encoding/json has written them, unless a path leads to them.
func dropZeros(root *tree.Node, from *tree.Source, hints map[uint32]hint, paths []string) {
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
			} else if hints[m.Value.At].unsaid {
				b.Remove(i)
			} else {
				drop(&m.Value)
			}
		}
	}
	for _, h := range hints {
		if h.unsaid {
			drop(root)
			return
		}
	}
}

package patch

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// IsApplied reports whether an object proves that this [Apply] by the manager would change nothing: the object has
// every value of the configuration, elements of lists in the same order, and its metadata.managedFields say that the
// manager has applied these fields and no others. The apply then need not be sent. obj is the object as the server
// sent it, for example from a cache that keeps managedFields: any value that encodes to it.
//
// If IsApplied returns true, the apply changes nothing as long as the server's object equals obj, and no admission
// webhook changes what it has accepted before. If it returns false, the apply may still change nothing, in these
// cases:
//
//   - The server writes a value in another way, such as "0.5" for "500m".
//   - The server has filled in an object that was applied empty.
//   - The object has a part that is owned whole, and Kubernetes itself does not define that part.
//   - The configuration has an object as a member that the schema does not name: an entry of a map, or an unknown
//     field that a custom resource keeps.
//   - The configuration names a resource version.
//   - The manager is called kubectl: the server keeps a copy of each of its applies in an annotation.
func (p Patch) IsApplied(obj any, m FieldManager) bool {
	if p.err != nil || p.mediaType != ApplyType || m.Name == "" || m.Name == "kubectl" {
		return false
	}
	s, err := tree.Read("the patch", p.body)
	if err != nil {
		return false
	}
	config := s.Root()
	root, entries, err := readManaged(obj)
	if err != nil {
		return false
	}
	for _, names := range whichObject {
		if want := textAt(&config, names...); want != "" && want != textAt(root, names...) {
			return false
		}
	}
	if at, err := locate(&config, []string{"metadata", "resourceVersion"}); at != nil || err != nil {
		return false
	}
	mine := slices.IndexFunc(entries, func(e meta.ManagedFields) bool { return m.owns(&e) })
	version := textAt(root, "apiVersion")
	if mine < 0 || entries[mine].APIVersion != version {
		return false
	}
	set, err := fieldset.Of(&entries[mine])
	if err != nil {
		return false
	}
	since := slices.ContainsFunc(entries[mine+1:], func(e meta.ManagedFields) bool { return e.Operation == operationApply })
	c := comparison{version: version, last: !since, names: &namings{}}
	others := &fieldset.Set{}
	for i := range entries {
		if other, err := fieldset.Of(&entries[i]); err == nil && i != mine && entries[i].APIVersion == version {
			others.Add(other)
		}
	}
	for _, names := range whichObject {
		removeAt(&config, names)
	}
	if at := config.Open().Find("metadata"); at >= 0 && config.Open().Members[at].Value.IsZero() {
		config.Open().Remove(at)
	}
	return c.members(&config, root, set, others)
}

// removeAt removes a member from an object, if it is there.
func removeAt(n *tree.Node, names []string) {
	last := len(names) - 1
	at, err := locate(n, names[:last])
	if err != nil || at == nil || at.Kind() != '{' {
		return
	}
	if i := at.Open().Find(names[last]); i >= 0 {
		at.Open().Remove(i)
	}
}

// comparison reports whether an object has all values of a configuration, and whether the configuration names exactly
// the fields that are in a set.
type comparison struct {
	version string // the object's apiVersion
	last    bool   // no manager has applied after this one
	names   *namings
}

// same compares the values of the member called name. others has the fields within the value that other owners own.
func (c comparison) same(name string, config, obj *tree.Node, s *fieldset.Set, others *fieldset.Set) bool {
	if s == nil {
		return false
	}
	leaf := s.Self && len(s.Children) == 0
	switch config.Kind() {
	case '{':
		switch {
		case !leaf:
			return !s.Self && c.members(config, obj, s, others)
		case config.Open().Len() == 0:
			// An object that was applied empty may have gained parts that other managers own.
			return tree.Same(config, obj) || obj.Kind() == '{' && hasParts(others)
		default:
			return fieldset.OwnedWhole(c.version, name) && tree.Same(config, obj)
		}
	case '[':
		if !leaf {
			return !s.Self && c.elements(config, obj, s, others)
		}
		return tree.Same(config, obj) // the set names the list and no elements, so the list is owned whole
	}
	return leaf && tree.Same(config, obj)
}

// isUnset reports whether a server may leave the value out of what it writes. An empty object does not count: if it is
// absent, it may have been removed together with its members, although its owner still owns it.
func isUnset(n *tree.Node) bool {
	return n.Kind() == 'f' || n.Kind() != '{' && n.IsZero()
}

func (c comparison) members(config, obj *tree.Node, s *fieldset.Set, others *fieldset.Set) bool {
	if obj.Kind() != '{' {
		return false
	}
	from, to := config.Open(), obj.Open()
	if from.Len() != len(s.Children) {
		return false
	}
	for i := range from.Members {
		m := &from.Members[i]
		if m.Gone {
			continue
		}
		at := to.Find(string(m.Name))
		key := fieldset.Field(string(m.Name))
		part := s.Child(key)
		if at < 0 && c.last && part != nil && part.Self && len(part.Children) == 0 && isUnset(&m.Value) {
			// The member is owned and absent, because the server does not write its zero value. To the server an apply
			// looks like a change at first; in the end only the time in the manager's entry differs. The server then
			// restores that time, unless it must move the entry behind that of a later apply.
			continue
		}
		if at < 0 || !c.same(string(m.Name), &m.Value, &to.Members[at].Value, part, others.Child(key)) {
			return false
		}
	}
	return true
}

// elements compares lists whose elements are owned one by one.
func (c comparison) elements(config, obj *tree.Node, s *fieldset.Set, others *fieldset.Set) bool {
	if obj.Kind() != '[' {
		return false
	}
	from, to := config.Open().Items, obj.Open().Items
	names := c.names.in(s, others)
	if len(from) != len(s.Children) || names.index || names.value == (len(names.names) > 0) {
		return false
	}
	there := make(map[*namedElement]int, min(len(to), len(from))) // the index of each element in the object
	for i := range to {
		e := names.find(&to[i], i)
		if _, twice := there[e]; twice && e != nil {
			return false
		}
		there[e] = i
	}
	last, used := -1, make(map[*namedElement]bool, len(from))
	for i := range from {
		e := names.find(&from[i], i)
		at, found := there[e]
		if e == nil || !found || used[e] || at <= last || !e.own.Self {
			return false
		}
		used[e], last = true, at
		if !c.element(&from[i], &to[at], e.own, e.others) {
			return false
		}
	}
	return true
}

func (c comparison) element(config, obj *tree.Node, s *fieldset.Set, others *fieldset.Set) bool {
	if len(s.Children) == 0 || config.Kind() != '{' {
		return len(s.Children) == 0 && tree.Same(config, obj)
	}
	return c.members(config, obj, s, others)
}

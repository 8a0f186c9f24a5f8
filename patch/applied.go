package patch

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// IsApplied reports whether an object proves that this [Apply] by the manager changes nothing: the object has every value that
// the configuration has, elements of lists in its order, and its metadata.managedFields say that the manager has applied these
// fields and no others. So an apply can be left unsent. obj is the object as the server sent it, such as from a cache that keeps
// managedFields: any value that encodes to it.
//
// True is right as long as the object is as obj says, and no admission webhook changes what it has let pass before. False says
// nothing: the server may still find that nothing changes, as where it writes a value in another way ("0.5" for "500m"), where it
// has filled an object that was applied empty, where an object that is owned whole is not one that Kubernetes itself defines, where
// an object is a member that the schema does not name (of a map, of a custom resource that keeps unknown fields), or where the
// configuration names a version. It is false for a manager called kubectl, of whose applies the server keeps a copy in an annotation.
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
	set, err := fieldsOf(&entries[mine])
	if err != nil {
		return false
	}
	since := slices.ContainsFunc(entries[mine+1:], func(e meta.ManagedFields) bool { return e.Operation == operationApply })
	c := comparison{version: version, last: !since, names: &namings{}}
	others := &fieldset.Set{}
	for i := range entries {
		if other, err := fieldsOf(&entries[i]); err == nil && i != mine && entries[i].APIVersion == version {
			others.Add(other)
		}
	}
	for _, names := range whichObject {
		removeAt(&config, names)
	}
	if at := config.Open().Find("metadata"); at >= 0 && isZero(&config.Open().Members[at].Value) {
		config.Open().Remove(at)
	}
	return c.members(&config, root, set, others)
}

// removeAt takes a member out of an object, if it is there.
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

// comparison finds out whether a configuration is in an object, and whether what it names is exactly a set of fields.
type comparison struct {
	version string // the object's apiVersion
	last    bool   // nobody has applied since
	names   *namings
}

// same is for the value of a member, which is at a place called name. others is what everybody else owns there.
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
			return tree.Same(config, obj) || obj.Kind() == '{' && hasParts(others) // of what is owned whole nobody owns a part
		default:
			return fieldset.OwnedWhole(c.version, name) && tree.Same(config, obj)
		}
	case '[':
		if !leaf {
			return !s.Self && c.elements(config, obj, s, others)
		}
		return tree.Same(config, obj) // no list but one that is owned whole is in a set itself
	}
	return leaf && tree.Same(config, obj)
}

// isUnset reports whether a value is one that a server may leave out of what it writes. An empty object that is not there may have
// been taken away with what was in it, although its owner still has it.
func isUnset(n *tree.Node) bool {
	return n.Kind() == 'f' || n.Kind() != '{' && isZero(n)
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
			// It is owned and not there, as the server does not write it where it is zero. So it finds a change at first, and at last
			// none but the time in the manager's entry, which it takes back unless the entry has to go behind a later one.
			continue
		}
		if at < 0 || !c.same(string(m.Name), &m.Value, &to.Members[at].Value, part, others.Child(key)) {
			return false
		}
	}
	return true
}

// elements is for lists whose elements are owned one by one.
func (c comparison) elements(config, obj *tree.Node, s *fieldset.Set, others *fieldset.Set) bool {
	if obj.Kind() != '[' {
		return false
	}
	from, to := config.Open().Items, obj.Open().Items
	names := c.names.in(s, others)
	if len(from) != len(s.Children) || names.index || names.value == (len(names.names) > 0) {
		return false
	}
	there := make(map[*namedElement]int, min(len(to), len(from))) // where the object has each element
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

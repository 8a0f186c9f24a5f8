package source

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// fields adds a field to a struct for each property of an object, or for each chosen one.
func (g *generator) fields(st *goStruct, s *schema.Schema, at string, chosen selection) error {
	root := slices.ContainsFunc(st.fields, func(f goField) bool { return f.name == "" && f.member == "metadata" })
	left := maps.Clone(chosen)
	if s.Embedded && chosen == nil {
		s = s.Whole()
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		parts, is := chosen[name]
		delete(left, name)
		if root && isHead(name) || chosen != nil && !is {
			continue
		}
		if err := g.field(st, s, name, at, root, parts); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if !root || !isHead(name) {
			return fmt.Errorf("%s has no field %q", at, name)
		}
	}
	return nil
}

// field adds the field of a property.
func (g *generator) field(st *goStruct, s *schema.Schema, name, at string, root bool, chosen selection) error {
	use := s.Properties[name]
	at += "." + name
	if !fitsTag(name) {
		return fmt.Errorf("%s: the name of a member must have 1 to %d bytes, and no quotes, backslashes, commas or control characters, since a "+
			"tag cannot have them, got %q", at[:min(len(at), 300)], maxMember, name[:min(len(name), 80)])
	}
	t, err := g.typeOf(use, member{parent: st.name, name: name, at: at, embedded: s.Embedded}, chosen)
	if err != nil {
		return err
	}
	resolved := g.lookup(use)
	f := goField{typ: t, member: name}
	absence{
		s: resolved, use: use, required: s.Required[name], top: root && (name == "spec" || name == "status"),
		hint: g.options.Hints(st.component, name), lookup: g.lookup,
	}.mark(&f)
	if f.typ.expr == "meta.ObjectMeta" && name == "metadata" && !f.pointer && st.embeddable() {
		st.embed(f.typ, name)
		return nil
	}
	f.name = st.taken.take(goName(name), goName(name)+"Field")
	f.doc = fieldDoc(f.name, name, use, resolved)
	merging(&f, use, resolved, st.component != "")
	if g.options.Definitions {
		if err := g.say(&f, use, s.Required[name], root, at); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	st.fields = append(st.fields, f)
	return nil
}

// embeddable reports whether the names of ObjectMeta are still free.
func (st *goStruct) embeddable() bool {
	for _, name := range []string{"ObjectMeta", "Name", "Namespace", "Labels", "Annotations", "UID", "Key", "Identity"} {
		if st.taken[name] {
			return false
		}
	}
	return true
}

const maxMember = 512

// fitsTag reports whether encoding/json accepts a name in a tag.
func fitsTag(name string) bool {
	const others = "!#$%&()*+-./:;<=>?@[]^_{|}~ "
	return name != "" && len(name) <= maxMember && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(others, r)
	})
}

// fieldDoc returns the comment of a field.
func fieldDoc(field, name string, use, resolved *schema.Schema) string {
	doc := strings.TrimSpace(use.Description)
	if rest, ok := strings.CutPrefix(doc, name+" "); ok {
		doc = field + " " + rest
	}
	if doc == "" && use.Ref == "" {
		doc = strings.TrimSpace(resolved.Description)
	}
	add := func(sentence string) {
		if doc != "" {
			doc += "\n"
		}
		doc += sentence
	}
	if use.Default != nil && fmt.Sprint(use.Default) != "map[]" && use.Default != "" {
		add("The default is " + schema.JSON(use.Default) + ".")
	}
	if resolved.ListType == "map" && len(resolved.ListKeys) > 1 {
		add("The elements have the keys " + strings.Join(resolved.ListKeys, ", ") + ".")
	}
	if len(resolved.Enum) > 0 && resolved.Type != "string" {
		add("One of " + schema.JSON(resolved.Enum) + ".")
	}
	return doc
}

// merging sets the tags by which Ensure and the patches of this module merge lists and objects. For the built-in kinds
// it uses only the tags in their documents, because Ensure knows these kinds.
func merging(f *goField, use, s *schema.Schema, isComponent bool) {
	switch {
	case use.PatchStrategy != "":
		f.strategy, f.key = use.PatchStrategy, use.PatchMergeKey
	case isComponent:
	case s.ListType == "map" && len(s.ListKeys) == 1 && fitsTag(s.ListKeys[0]):
		f.strategy, f.key = "merge", s.ListKeys[0]
	case s.MapType == "atomic" && (f.typ.form == structure || strings.HasPrefix(f.typ.expr, "map[")):
		f.strategy = "replace"
	}
	if e := f.typ.element; f.key != "" && e != nil && !slices.ContainsFunc(e.fields, func(inner goField) bool { return inner.member == f.key }) {
		f.strategy, f.key = "", "" // the field of the key was not chosen
	}
}

// member is the place of a value whose type is being made.
type member struct {
	parent   string // the name of the struct
	name     string // of the property
	at       string
	embedded bool // the parent is an embedded resource
	element  bool // it is an element of the property
	unkeyed  bool // it is an element of a list that is not a map
}

// what describes the value.
func (m member) what() string {
	if m.element {
		return "an element of " + m.at
	}
	return "the value of " + m.at
}

// typeName returns a free name for the type of the value.
func (g *generator) typeName(m member) string {
	name := goName(m.name)
	if m.element {
		return g.names.take(bounded(m.parent+singular(name)), bounded(m.parent+name+"Item"))
	}
	return g.names.take(bounded(m.parent+name), bounded(m.parent+name+"Type"))
}

// typeOf returns the type for a schema.
func (g *generator) typeOf(s *schema.Schema, m member, chosen selection) (goType, error) {
	if s.Ref != "" {
		return g.reference(s, m, chosen)
	}
	if t, ok, err := g.replacement(s, m); chosen == nil && (ok || err != nil) {
		return t, err
	}
	t, ok := leaf(s)
	if !ok {
		t, ok = g.shape(s, m)
	}
	switch {
	case ok && chosen != nil:
		return t, fmt.Errorf("%s: %w", m.at, errNoFields)
	case ok:
		return t, nil
	case s.Type == "string" && isEnum(s):
		if chosen != nil {
			return t, fmt.Errorf("%s: %w", m.at, errNoFields)
		}
		return g.enum(s, m)
	case s.Type == "array":
		m.unkeyed = s.ListType == ""
		return g.listOf(s.Items, "[]", m, chosen)
	case len(s.Properties) > 0:
		return g.structOf(s, g.typeName(m), "", m, chosen)
	case s.Additional != nil:
		return g.listOf(s.Additional, "map[string]", m, chosen)
	case chosen != nil:
		return t, fmt.Errorf("%s: %w", m.at, errNoFields)
	case g.options.Definitions && s.Type == "object":
		return goType{expr: "struct{}", form: structure, like: reflect.TypeFor[struct{}]()}, nil
	}
	return raw(), nil
}

// reference returns the type of a component. It makes the type once, unless only some of its fields are chosen.
func (g *generator) reference(s *schema.Schema, m member, chosen selection) (goType, error) {
	t, ok := component(s.Ref)
	to := g.now.Components[s.Ref]
	switch {
	case ok && chosen != nil:
		return t, fmt.Errorf("%s: %w", m.at, errNoFields)
	case ok:
		return t, nil
	case to.Ref != "":
		return g.typeOf(to, m, chosen)
	case len(to.Properties) == 0:
		return g.typeOf(to, m, chosen)
	case chosen != nil:
		return g.structOf(to, g.typeName(m), s.Ref, m, chosen)
	}
	if t, ok = g.isMade(s.Ref); ok {
		return t, nil
	}
	if t, ok = g.imported(s.Ref); ok {
		return t, nil
	}
	parts := strings.Split(s.Ref, ".")
	name := goName(parts[len(parts)-1])
	longer := goName(strings.Join(parts[max(0, len(parts)-3):], "."))
	return g.structOf(to, g.names.take(name, longer), s.Ref, m, nil)
}

// structOf makes a struct.
func (g *generator) structOf(s *schema.Schema, name, ref string, m member, chosen selection) (goType, error) {
	st := &goStruct{name: name, component: ref, taken: names{}, open: s.PreserveUnknown && chosen == nil}
	what := m.what()
	if ref != "" {
		what = "the schema " + ref
	}
	if err := g.begin(st, s, what); err != nil {
		return goType{}, err
	}
	t := goType{expr: name, form: structure, of: st}
	if ref != "" && chosen == nil {
		g.components[ref] = made{t, g.now.Components}
	}
	err := g.fields(st, s, m.at, chosen)
	if g.options.Definitions && err == nil {
		t.like = st.like()
		if st.open {
			t.open = 1
		}
	}
	return t, err
}

// listOf makes a list or a map of elements.
func (g *generator) listOf(s *schema.Schema, prefix string, m member, chosen selection) (goType, error) {
	if s == nil {
		s = &schema.Schema{}
	}
	if m.element {
		m.name += "Item"
	}
	m.element = true
	t, err := g.typeOf(s, m, chosen)
	if err != nil {
		return t, err
	}
	if (s.Nullable || g.lookup(s).Nullable) && t.form != nilable && t.form != moment {
		prefix += "*"
	}
	list := goType{expr: prefix + t.expr, form: nilable, element: t.of, packages: t.packages}
	if g.options.Definitions {
		list.like = listLike(prefix, t.like)
		if t.open > 0 {
			list.open = t.open + 1
		}
	}
	return list, nil
}

package patch

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Schema says of each member of a kind's objects how a strategic merge patch changes it: whether a list is merged or replaced,
// by which member its items are told apart, and whether the members that a patch does not name are dropped. Make it once with
// [SchemaOf] or [SchemaFromOpenAPI] and keep it: that reads the whole kind. It is safe for concurrent use.
//
// The zero Schema knows nothing: every object is merged and every list replaced, as in a JSON merge patch.
type Schema struct {
	root *shape
	err  error
}

// Strategy is how a strategic merge patch changes one member. The zero value merges an object and replaces a list.
type Strategy struct {
	Merge      bool   // a list is merged with the patch's
	Replace    bool   // an object is replaced
	RetainKeys bool   // a patch that is computed lists the members that stay
	MergeKey   string // the member that tells the items of a merged list apart; empty if they are scalars
}

// Strategy returns how the member at path is changed, and whether the schema knows it. The path is of the names of members;
// through a list it goes without a step of its own, as in "spec", "containers", "ports".
func (s Schema) Strategy(path ...string) (Strategy, bool) {
	at, found := s.root, field{}
	for _, name := range path {
		for at != nil && at.items != nil {
			at = at.items
		}
		if at == nil {
			return Strategy{}, false
		}
		f, ok := at.members[name]
		if !ok && at.values == nil {
			return Strategy{}, false
		} else if !ok {
			f = field{shape: at.values}
		}
		at, found = f.shape, f
	}
	return Strategy{Merge: found.merge, Replace: found.replace, RetainKeys: found.retain, MergeKey: found.mergeKey}, len(path) > 0
}

// shape is what is known of one kind of value. A shape may lead back to itself. Nil knows nothing.
type shape struct {
	members map[string]field // of an object with members of its own
	values  *shape           // of every value of a map
	items   *shape           // of every item of a list
}

// field is how a member is changed.
type field struct {
	shape    *shape
	merge    bool   // a list is merged, not replaced
	replace  bool   // an object is replaced, not merged
	retain   bool   // a patch of it says which members stay
	mergeKey string // the member that tells the items of a list apart; empty where they are no objects
}

// member returns how a member is changed. What is not known is plain JSON.
func (s *shape) member(name []byte) field {
	if s == nil {
		return field{}
	}
	if f, ok := s.members[string(name)]; ok {
		return f
	}
	return field{shape: s.values}
}

// item is the shape of the items of the list that s is. A server takes a list where the schema has an object for a list of such.
func (s *shape) item() *shape {
	if s == nil || s.items == nil {
		return s
	}
	return s.items
}

// strategies sets how a member is changed from the text of a tag or an extension: merge, replace or retainKeys, or one of the
// first two and retainKeys, with a comma.
func (f *field) strategies(text string) error {
	words := strings.Split(text, ",")
	seen := 0
	for _, word := range words {
		switch word {
		case "retainKeys":
			f.retain = true
			continue
		case "merge":
			f.merge = true
		case "replace":
			f.replace = true
		case "":
		default:
			return fmt.Errorf("patch strategy %q must be merge, replace or retainKeys, or retainKeys and one of the others", text)
		}
		seen++
	}
	if seen > 1 || len(words) > 2 {
		return fmt.Errorf("patch strategy %q must be merge, replace or retainKeys, or retainKeys and one of the others", text)
	}
	return nil
}

// SchemaOf reads the schema from the struct tags patchStrategy and patchMergeKey of T, as the types of k8s.io/api have them: T
// is a struct or a pointer to one. Members have the names that encoding/json gives them. What a type does not tell, such as
// what is in an interface, is plain JSON. If T is no struct or a tag is wrong, what uses the Schema returns the error.
func SchemaOf[T any]() Schema {
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return Schema{err: fmt.Errorf("patch.SchemaOf: %s must be a struct or a pointer to one", reflect.TypeFor[T]())}
	}
	r := typeReader{known: make(map[reflect.Type]*shape)}
	root := r.read(t)
	if len(r.errs) > 0 {
		return Schema{err: fmt.Errorf("patch.SchemaOf: %s: %w", t, errors.Join(r.errs...))}
	}
	return Schema{root: root}
}

// typeReader makes one shape of each Go type, so that a type that contains itself ends.
type typeReader struct {
	known map[reflect.Type]*shape
	errs  []error
}

func (r *typeReader) read(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if s, ok := r.known[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
	default:
		return nil
	}
	s := &shape{}
	r.known[t] = s
	switch t.Kind() {
	case reflect.Struct:
		s.members = r.members(t)
	case reflect.Map:
		if s.values = r.read(t.Elem()); s.values == nil {
			s.values = &shape{} // it may have any member, of which nothing is known
		}
	default:
		s.items = r.read(t.Elem())
	}
	return s
}

// found is a struct field with what encoding/json weighs when several have one name.
type found struct {
	field
	tagged bool
	twice  bool
}

// members reads a struct as encoding/json does: level by level of embedding, where the shallowest field of a name wins, then
// the one with a name in its tag; of two that are still equal neither counts.
func (r *typeReader) members(t reflect.Type) map[string]field {
	members := make(map[string]field)
	taken := make(map[string]bool)
	seen := map[reflect.Type]int{t: 0} // the level where a struct is
	for level, depth := []reflect.Type{t}, 1; len(level) > 0; depth++ {
		names := make(map[string]found)
		count := make(map[reflect.Type]int)
		var next []reflect.Type
		for _, t := range level {
			for i := range t.NumField() {
				f := t.Field(i)
				if inner := embedded(f); inner != nil {
					at, ok := seen[inner]
					if count[inner]++; !ok || at == depth && count[inner] == 2 { // twice: then none of its fields counts
						seen[inner] = depth
						next = append(next, inner)
					}
					continue
				}
				r.add(names, t, f)
			}
		}
		for name, f := range names {
			if !taken[name] && !f.twice {
				members[name] = f.field
			}
			taken[name] = true
		}
		level = next
	}
	return members
}

// add takes a field of a struct into the names of its level.
func (r *typeReader) add(names map[string]found, t reflect.Type, f reflect.StructField) {
	tag := f.Tag.Get("json")
	if !f.IsExported() || tag == "-" {
		return
	}
	name, _, _ := strings.Cut(tag, ",")
	now := found{tagged: name != ""}
	if name == "" {
		name = f.Name
	}
	now.mergeKey = f.Tag.Get("patchMergeKey")
	if err := now.strategies(f.Tag.Get("patchStrategy")); err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s.%s: %w", t, f.Name, err))
	}
	now.shape = r.read(f.Type)
	if was, ok := names[name]; ok {
		if was.tagged && !now.tagged {
			return
		}
		now.twice = was.tagged == now.tagged
	}
	names[name] = now
}

// embedded returns the struct whose fields encoding/json takes for fields of the one that f is in, or nil.
func embedded(f reflect.StructField) reflect.Type {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !f.Anonymous || name != "" || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

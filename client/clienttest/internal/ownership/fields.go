package ownership

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// The fields of an object depend on its shape. An atomic list or object is one field. The elements of a set and of a
// list with keys are fields, and so are the members of an object. A member that the schema names is not itself a field
// while it has members.

// missing is the value of a member that is absent. It differs from null.
type missing struct{}

// elements are the elements of a list that is not atomic, by their keys.
type elements struct {
	list  []any            // the elements that have a key
	order []string         // the key of each
	by    map[string][]any // one element for each key, unless the list is not valid
}

// index finds the elements of a list that is not atomic.
func index(s *schema.Shape, list []any) elements {
	e := elements{by: make(map[string][]any, len(list))}
	for _, v := range list {
		if key, ok := s.KeyOf(v); ok {
			e.list, e.order = append(e.list, v), append(e.order, key)
			e.by[key] = append(e.by[key], v)
		}
	}
	return e
}

// fieldsOf returns the fields of a value.
func fieldsOf(v any, s *schema.Shape) *fieldset.Set {
	set := &fieldset.Set{}
	switch v := v.(type) {
	case jsontree.Object:
		if s.AtomicObject() {
			set.Self = true
			return set
		}
		for name, m := range v {
			inner, named := s.Field(name)
			c := fieldsOf(m, inner)
			if empty, ok := m.(jsontree.Object); !named || ok && len(empty) == 0 {
				c.Self = true
			}
			put(set, fieldset.Field(name), c)
		}
	case []any:
		if s.AtomicList() {
			set.Self = true
			return set
		}
		for key, all := range index(s, v).by {
			c := &fieldset.Set{}
			if len(all) == 1 {
				c = fieldsOf(all[0], s.Item())
			}
			c.Self = true
			put(set, key, c)
		}
	default:
		set.Self = true
	}
	return set
}

// put adds the fields of c below the key in set.
func put(set *fieldset.Set, key string, c *fieldset.Set) {
	if c.IsEmpty() {
		return
	}
	if set.Children == nil {
		set.Children = make(map[string]*fieldset.Set)
	}
	set.Children[key] = c
}

// changes are the fields in which two values differ. No field is in two of the sets.
type changes struct{ added, modified, removed *fieldset.Set }

func changesOf(old, now any, s *schema.Shape) changes {
	c := changes{&fieldset.Set{}, &fieldset.Set{}, &fieldset.Set{}}
	c.compare(old, now, s, nil)
	return c
}

// compare adds the changes from old to now, one of which may be missing.
func (c changes) compare(old, now any, s *schema.Shape, path []string) {
	if len(path) == 1 && sameValue(old, now) {
		return // the usual case: a write does not change the member, so nothing below needs to be compared
	}
	if c.inside(old, now, s, path) {
		switch {
		case old == missing{}:
			c.added.Insert(path...)
		case now == missing{}:
			c.removed.Insert(path...)
		}
		return
	}
	// The value is one field. If an object or a list has replaced a value of another type, or was replaced by one, its
	// own fields have changed too.
	switch {
	case old == missing{}:
		c.added.Insert(path...)
	case now == missing{}:
		c.removed.Insert(path...)
	case !sameValue(old, now):
		c.modified.Insert(path...)
	}
}

// inside compares the fields within two values. It returns false if the values are one field, for example if the
// object or list is empty on both sides.
func (c changes) inside(old, now any, s *schema.Shape, path []string) bool {
	oldObject, nowObject := s.Written(objectIn(old, s)), s.Written(objectIn(now, s))
	if len(oldObject)+len(nowObject) > 0 {
		for name := range allKeys(oldObject, nowObject) {
			inner, _ := s.Field(name)
			c.compare(valueOf(oldObject, name), valueOf(nowObject, name), inner, append(path, fieldset.Field(name)))
		}
		return isObject(old) && isObject(now)
	}
	oldList, nowList := listIn(old, s), listIn(now, s)
	if len(oldList)+len(nowList) == 0 {
		return false
	}
	before, after := index(s, oldList), index(s, nowList)
	for key := range allKeys(before.by, after.by) {
		at := append(path, key)
		was, is := before.by[key], after.by[key]
		switch {
		case len(was) <= 1 && len(is) <= 1:
			c.compare(only(was), only(is), s.Item(), at)
		case len(was) > 1 && len(is) > 1:
			if !slices.EqualFunc(was, is, sameValue) {
				c.modified.Insert(at...)
			}
		case len(was) > 1:
			if len(is) > 0 {
				c.compare(missing{}, is[0], s.Item(), at)
			}
			c.removed.Insert(at...)
		default:
			if len(was) > 0 {
				c.compare(was[0], missing{}, s.Item(), at)
			}
			c.added.Insert(at...)
		}
	}
	return isList(old) && isList(now)
}

// valueOf returns a member, or missing.
func valueOf(m jsontree.Object, name string) any {
	if v, found := m[name]; found {
		return v
	}
	return missing{}
}

// only returns the first element of a list, which has at most one, or missing.
func only(list []any) any {
	if len(list) == 0 {
		return missing{}
	}
	return list[0]
}

// objectIn returns the members of an object that are separate fields.
func objectIn(v any, s *schema.Shape) jsontree.Object {
	m, _ := v.(jsontree.Object)
	if s.AtomicObject() {
		return nil
	}
	return m
}

// listIn returns the elements of a list that are separate fields.
func listIn(v any, s *schema.Shape) []any {
	list, _ := v.([]any)
	if s.AtomicList() {
		return nil
	}
	return list
}

// isObject reports whether v can stand for an object, as null and missing can.
func isObject(v any) bool {
	switch v.(type) {
	case jsontree.Object, nil, missing:
		return true
	}
	return false
}

func isList(v any) bool {
	switch v.(type) {
	case []any, nil, missing:
		return true
	}
	return false
}

// allKeys yields the keys of both.
func allKeys[V any](a, b map[string]V) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range a {
			if !yield(key) {
				return
			}
		}
		for key := range b {
			if _, both := a[key]; !both && !yield(key) {
				return
			}
		}
	}
}

// sameValue compares two values, numbers by their meaning.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case jsontree.Object:
		b, ok := b.(jsontree.Object)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a, b))
	}
	return jsontree.Equal(a, b)
}

func sameNumber(a, b json.Number) bool {
	_, wholeA := a.Int64()
	_, wholeB := b.Int64()
	if wholeA == nil && wholeB == nil {
		x, _ := a.Int64()
		y, _ := b.Int64()
		return x == y
	}
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x == y
}

// named returns the set plus the members that a schema names and that have fields in the set. Without them, these
// members would be removed together with their fields.
func named(set *fieldset.Set, s *schema.Shape) *fieldset.Set {
	if set == nil {
		return nil
	}
	out := &fieldset.Set{Self: set.Self, Children: make(map[string]*fieldset.Set, len(set.Children))}
	for key, child := range set.Children {
		var inner *schema.Shape
		isNamed := false
		switch key[0] {
		case 'f':
			inner, isNamed = s.Field(key[len("f:"):])
		case 'k':
			inner = s.Item()
		}
		child = named(child, inner)
		child.Self = child.Self || isNamed && !child.IsEmpty()
		out.Children[key] = child
	}
	return out
}

// remove returns a value without the fields of set. An object or a list becomes null if nothing is left of it, or if
// it is itself a field and the set has fields inside it.
func remove(v any, set *fieldset.Set, s *schema.Shape) any {
	switch v := v.(type) {
	case jsontree.Object:
		if s.AtomicObject() {
			return nil
		}
		out := make(jsontree.Object, len(v))
		for name, m := range v {
			gone := set.Child(fieldset.Field(name))
			switch {
			case gone == nil:
			case gone.Self:
				continue
			case !gone.IsEmpty():
				inner, _ := s.Field(name)
				m = remove(m, gone, inner)
			}
			out[name] = m
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		if s.AtomicList() {
			return nil
		}
		var out []any
		for _, e := range v {
			key, _ := s.KeyOf(e)
			gone := set.Child(key)
			switch {
			case gone == nil:
			case gone.Self:
				continue
			case !gone.IsEmpty():
				e = remove(e, gone, s.Item())
			}
			out = append(out, e)
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return v
}

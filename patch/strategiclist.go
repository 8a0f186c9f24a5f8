package patch

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
)

// kind is a type of JSON value.
type kind int

const (
	kindNone kind = iota // nothing is known, as of an empty list
	kindNull
	kindBool
	kindNumber
	kindString
	kindList
	kindObject
)

func kindOf(v any) kind {
	switch v.(type) {
	case bool:
		return kindBool
	case json.Number:
		return kindNumber
	case string:
		return kindString
	case []any:
		return kindList
	case map[string]any:
		return kindObject
	}
	return kindNull
}

func (k kind) scalar() bool { return k == kindBool || k == kindNumber || k == kindString }

func typeName(v any) string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}[kindOf(v)]
}

// scalarKey returns a text that is the same for scalars that are the same value, and its rest without the first byte is how
// the value is sorted. Whole numbers are told apart digit by digit as far as int64 goes.
func scalarKey(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return "s" + v, true
	case bool:
		return "b" + strconv.FormatBool(v), true
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return "n" + strconv.FormatInt(i, 10), true
		}
		if f, err := v.Float64(); err == nil && !wholeDigits(v.String()) {
			return "n" + strconv.FormatFloat(f, 'g', -1, 64), true
		}
		return "n" + v.String(), true
	}
	return "", false
}

func wholeDigits(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return c == '.' || c == 'e' || c == 'E' })
}

// element is an item of a merged list with what tells it from the others.
type element struct {
	key   string
	value any
	from  int // where it stood
}

// marked returns the item's $patch directive, or nothing.
func (e element) marked() string {
	object, _ := e.value.(map[string]any)
	word, _ := object[directivePatch].(string)
	return word
}

// elements takes a list apart. The items are objects with the merge key, unless it is empty: then they are scalars. Only
// {"$patch": "replace"} needs no key.
func elements(what string, list []any, mergeKey string, at *place) ([]element, error) {
	out := make([]element, len(list))
	for i, v := range list {
		e := element{value: v, from: i}
		id := v
		if object, ok := v.(map[string]any); ok && mergeKey != "" {
			if e.marked() == "replace" {
				out[i] = e
				continue
			}
			if id, ok = object[mergeKey]; !ok || id == nil {
				return nil, at.item(i).fault(what, ErrMergeKey, "the item has no %q, which tells the items of this list apart", mergeKey)
			}
		} else if mergeKey != "" {
			return nil, at.item(i).fault(what, ErrMergedList, "it must be an object with %q, not %s", mergeKey, typeName(v))
		}
		var ok bool
		if e.key, ok = scalarKey(id); !ok {
			if mergeKey != "" {
				return nil, at.item(i).member(mergeKey).fault(what, ErrMergeKey, "a merge key must be a scalar, not %s", typeName(id))
			}
			return nil, at.item(i).fault(what, ErrMergedList, "it must be a scalar, not %s", typeName(id))
		}
		out[i] = e
	}
	return out, nil
}

func values(list []element) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e.value
	}
	return out
}

// places returns where each key stands first.
func places(list []element) map[string]int {
	out := make(map[string]int, len(list))
	for i, e := range list {
		if _, ok := out[e.key]; !ok {
			out[e.key] = i
		}
	}
	return out
}

// twice tells whether two items cannot be told apart.
func twice(list []element) bool { return len(places(list)) != len(list) }

// sameType returns the kind of all items of the lists, which must be scalars or objects.
func sameType(what string, at *place, lists ...[]any) (kind, error) {
	all := kindNone
	for _, list := range lists {
		for i, v := range list {
			k := kindOf(v)
			if k == kindNull || k == kindList {
				return k, at.item(i).fault(what, ErrMergedList, "%s cannot be merged with other items", typeName(v))
			}
			if all != kindNone && k != all {
				return k, at.item(i).fault(what, ErrMergedList, "the items of a merged list must all be of one type")
			}
			all = k
		}
	}
	return all, nil
}

// arrange puts a merged list into the order that a server gives it. The items that order names come as it says; the others
// keep their order in the live list. Of one of each, the other goes first if it did so in the live list.
func arrange(list, order, live []element) []element {
	ordered, lived := places(order), places(live)
	var named, rest []element
	for _, e := range list {
		if _, ok := ordered[e.key]; ok {
			named = append(named, e)
		} else {
			rest = append(rest, e)
		}
	}
	named, rest = arrangeBy(named, ordered), arrangeBy(rest, lived)
	out := make([]element, 0, len(list))
	for len(named) > 0 && len(rest) > 0 {
		a, ok1 := lived[rest[0].key]
		b, ok2 := lived[named[0].key]
		if ok1 && ok2 && a < b {
			out, rest = append(out, rest[0]), rest[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return append(append(out, named...), rest...)
}

// arrangeBy sorts a list by the place of its keys. Items to delete go last. What has no place goes before what stands left of
// it, which is no order, but the one that servers have.
func arrangeBy(list []element, place map[string]int) []element {
	out := make([]element, 0, len(list))
	var last []element
	for _, e := range list {
		if e.marked() == "delete" {
			last = append(last, e)
		} else {
			out = append(out, e)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if a, ok := place[out[i].key]; ok {
			if b, ok := place[out[j].key]; ok {
				return a < b
			}
		}
		return true
	})
	return append(out, last...)
}

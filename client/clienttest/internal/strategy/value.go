package strategy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// report collects what is wrong with an object.
type report struct {
	subresource string // that is written; empty for the whole object
	admin       bool   // see Write.Admin
	causes      []meta.StatusCause
}

// value is a value in an object, with its place, and what it replaces. Rules are written with its methods. As in a
// compiled-in type, most of them do not tell an absent value from an empty one.
type value struct {
	to      *report
	path    string
	is      any // nil if it is absent
	was     any // the value at the same place of the object that is replaced
	updates bool
	placed  bool // path is set; otherwise the place does not matter
}

// at returns a member of an object, or a member of a member.
func (v value) at(names ...string) value {
	for _, name := range names {
		v.is, v.was = member(v.is, name), member(v.was, name)
		if v.placed {
			v.path = strings.TrimPrefix(v.path+"."+name, ".")
		}
	}
	return v
}

func member(of any, name string) any {
	m, _ := of.(jsontree.Object)
	return m[name]
}

// key returns a value of a map, whose place is written with brackets.
func (v value) key(name string) value {
	v.is, v.was = member(v.is, name), member(v.was, name)
	if v.placed {
		v.path += "[" + name + "]"
	}
	return v
}

// items returns the elements of a list. An element replaces the one with the same index.
func (v value) items() []value {
	is, was := v.list(), before(v).list()
	all := make([]value, len(is))
	for i, e := range is {
		all[i] = value{to: v.to, is: e, updates: v.updates, placed: v.placed}
		if v.placed {
			all[i].path = fmt.Sprintf("%s[%d]", v.path, i)
		}
		if i < len(was) {
			all[i].was = was[i]
		}
	}
	return all
}

// keys returns the names of the members of an object, sorted.
func (v value) keys() []string {
	m, _ := v.is.(jsontree.Object)
	return slices.Sorted(maps.Keys(m))
}

// before returns the value that v replaces, as a value.
func before(v value) value {
	v.is = v.was
	return v
}

// The methods below return the value in a Go type; zero if it is absent.

func (v value) text() string {
	s, _ := v.is.(string)
	return s
}

func (v value) flag() bool {
	b, _ := v.is.(bool)
	return b
}

func (v value) number() int64 {
	n, _ := v.is.(json.Number)
	i, _ := n.Int64()
	return i
}

func (v value) list() []any {
	l, _ := v.is.([]any)
	return l
}

func (v value) len() int {
	switch is := v.is.(type) {
	case []any:
		return len(is)
	case jsontree.Object:
		return len(is)
	case string:
		return len(is)
	}
	return 0
}

// exists reports whether the value is present, even if it is empty: whether the compiled-in type's pointer to it is not
// nil.
func (v value) exists() bool { return v.is != nil }

// isText reports whether an integer or string is a string.
func (v value) isText() bool {
	_, ok := v.is.(string)
	return ok
}

// creates reports whether the object is new.
func (v value) creates() bool { return !v.updates }

// unchanged reports whether the object is not new, and the value is as it was. An empty value equals an absent one.
func (v value) unchanged() bool { return v.updates && same(v.is, v.was) }

func same(a, b any) bool { return jsontree.Equal(compact(a), compact(b)) }

// compact returns a value without the members and elements that are empty, and nil for an empty value.
func compact(v any) any {
	switch v := v.(type) {
	case jsontree.Object:
		out := jsontree.Object{}
		for name, e := range v {
			if e = compact(e); e != nil {
				out[name] = e
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = compact(e)
		}
		return out
	}
	return v
}

// The methods below report that something is wrong with the value.

func (v value) wrong(reason, format string, args ...any) {
	v.to.causes = append(v.to.causes, meta.StatusCause{Reason: reason, Field: v.path, Message: fmt.Sprintf(format, args...)})
}

// required says that a value is missing.
func (v value) required(why string) { v.add(status.RequiredValue(v.path, why)) }

// invalid says that a value is wrong.
func (v value) invalid(format string, args ...any) {
	v.add(status.InvalidValue(v.path, v.is, fmt.Sprintf(format, args...)))
}

// forbidden says that the field must not be set, or must not change.
func (v value) forbidden(format string, args ...any) {
	v.add(status.ForbiddenValue(v.path, fmt.Sprintf(format, args...)))
}

// unsupported says that a value is not in a set.
func (v value) unsupported(supported ...string) {
	v.add(status.UnsupportedValue(v.path, v.is, slices.Clone(supported)...))
}

// duplicate says that a list has an element twice.
func (v value) duplicate() {
	v.wrong("FieldValueDuplicate", "Duplicate value: %s", status.Shown(v.is))
}

// notFound says that something that is referred to does not exist.
func (v value) notFound() {
	v.wrong("FieldValueNotFound", "Not found: %s", status.Shown(v.is))
}

// tooLong says that a string has more bytes than the limit.
func (v value) tooLong(limit int) {
	v.wrong("FieldValueTooLong", "Too long: may not be more than %d bytes", limit)
}

// tooMany says that a list has more elements than the limit.
func (v value) tooMany(limit int) {
	v.wrong("FieldValueTooMany", "Too many: %d: must have at most %d items", v.len(), limit)
}

func (v value) add(c meta.StatusCause) { v.to.causes = append(v.to.causes, c) }

// The methods below report a value that breaks a rule, and return whether the value obeys it.

// must reports an empty value.
func (v value) must() bool {
	if v.len() == 0 && !isNumber(v.is) {
		v.required("")
		return false
	}
	return true
}

func isNumber(v any) bool {
	_, ok := v.(json.Number)
	return ok
}

// oneOf reports a text that is not in a set. It reports an empty text as missing.
func (v value) oneOf(all ...string) bool {
	if v.text() == "" {
		v.required("")
		return false
	}
	return v.among(all...)
}

// among reports a text that is not in a set; the empty text is not supported either.
func (v value) among(all ...string) bool {
	if slices.Contains(all, v.text()) {
		return true
	}
	v.unsupported(all...)
	return false
}

// natural reports a number below zero.
func (v value) natural() bool { return v.atLeast(0) }

// atLeast reports a number below a bound.
func (v value) atLeast(low int64) bool {
	if v.number() >= low {
		return true
	}
	v.invalid("must be greater than or equal to %d", low)
	return false
}

// between reports a number below low or above high.
func (v value) between(low, high int64) bool {
	if n := v.number(); low <= n && n <= high {
		return true
	}
	v.invalid("must be between %d and %d, inclusive", low, high)
	return false
}

// immutable reports a change.
func (v value) immutable() bool {
	if !v.updates || v.unchanged() {
		return true
	}
	v.invalid("field is immutable")
	return false
}

// fits reports each of the reasons why a value has the wrong form.
func (v value) fits(why []string) bool {
	for _, w := range why {
		v.invalid("%s", w)
	}
	return len(why) == 0
}

// reports runs a check of the value, and returns whether it reports something.
func (v value) reports(check func(value)) bool {
	n := len(v.to.causes)
	check(v)
	return len(v.to.causes) > n
}

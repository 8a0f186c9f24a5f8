package overlay

import (
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file is about values that a cached object cannot prove, because its Go type cannot express them.
//
//   - A plain field is also zero if the server has no value. Suppose that a program wants false, and that the server
//     has no value, which it treats as true: the zero of the field must not count as the wanted false.
//   - An object that is replaced whole may have members on the server that the type has no field for.
//   - If the type of a list's elements lacks one of the keys, an element may be another one than it appears to be.
//
// Apply treats each of these as a change, so a result without changes is a proof.

// cachedTypes knows the Go types of the values whose JSON is live. The zero value is for JSON from a server.
type cachedTypes struct {
	from  *tree.Source
	types map[uint32]reflect.Type // the types of structs and lists, by their offsets in the text
	vague map[uint32]bool         // zeros in live for which the server may have nothing
}

// readCached reads the Go value whose JSON is live.
func readCached(v any, live *tree.Node) cachedTypes {
	c := cachedTypes{from: live.From, types: make(map[uint32]reflect.Type), vague: make(map[uint32]bool)}
	govalue.Walk(v, live, govalue.Visitor{
		Branch: func(v reflect.Value, n *tree.Node) { c.types[n.At] = v.Type() },
		Field: func(f gotype.Field, v reflect.Value, n *tree.Node) bool {
			switch v.Kind() {
			case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice: // nil if the server has nothing
			default:
				if !f.Omits && v.IsZero() {
					c.vague[n.At] = true // the zero may come from the Go field and not from the server
				}
			}
			return true
		},
	})
	return c
}

// typeOf returns the Go type of a value of live, or nil if the type can express everything.
func (c *cachedTypes) typeOf(n *tree.Node) reflect.Type {
	if c.from == nil || n.From != c.from {
		return nil
	}
	return c.types[n.At]
}

// isVague reports whether the server may have nothing where live has a zero, so that a wanted zero may have to be
// written. An object with wanted members is not vague; its members decide.
func (o *overlay) isVague(live, want *tree.Node, at *site) bool {
	if o.cached.from == nil || live.From != o.cached.from || !o.cached.vague[live.At] || !o.adds(want, at) || o.among(alwaysThere, at) {
		return false
	}
	if want.Kind() == '{' {
		for m := range want.Open().Each {
			if !o.isUnsaid(&m.Value) {
				return false
			}
		}
	}
	return true
}

// isPart reports whether the server's value, at a place that is replaced whole, may have members that live's type has
// no field for.
func (o *overlay) isPart(live, want *tree.Node, at *site) bool {
	t := o.cached.typeOf(live)
	if t == nil {
		return false
	}
	members := membersOfWhole["selector"] // in other kinds, selectors are the only known objects
	switch {
	case o.isBuiltIn(at):
		members = ""
		o.places(at, func(place string) bool { // the longest place counts
			if found, ok := membersOfWhole[place]; ok {
				members = found
			}
			return false
		})
	case o.hints[want.At].Whole && want.From == o.want: // no schema lists its members
		members = ""
	case !saysWhole(t, "matchLabels") && !saysWhole(t, "matchExpressions"): // the object is not a selector
		return false
	}
	return !saysWhole(t, members)
}

// saysWhole reports whether a type can hold all the members of an object, or of the objects in a list.
func saysWhole(t reflect.Type, members string) bool {
	t = elementOf(t)
	// A map and an interface hold everything, and a scalar has no members.
	if govalue.EncodesItself(t) || t.Kind() != reflect.Struct {
		return true
	}
	for member := range strings.FieldsSeq(members) {
		if field, ok := typeOfField(t, member[strings.LastIndexByte(member, '/')+1:]); !ok || !saysWhole(field, membersOfWhole[member]) {
			return false
		}
	}
	return members != ""
}

// lacksKey reports whether the type of a list's elements lacks one of the members that distinguish them.
func (o *overlay) lacksKey(list *tree.Node, keys []string) bool {
	t := o.cached.typeOf(list)
	if t == nil {
		return false
	}
	if t = elementOf(t); govalue.EncodesItself(t) || t.Kind() != reflect.Struct {
		return false
	}
	for _, key := range keys {
		if _, ok := typeOfField(t, key); !ok {
			return true
		}
	}
	return false
}

// elementOf returns the type that pointers and lists lead to.
func elementOf(t reflect.Type) reflect.Type {
	for !govalue.EncodesItself(t) && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		t = t.Elem()
	}
	return t
}

func typeOfField(t reflect.Type, name string) (_ reflect.Type, ok bool) {
	for _, f := range gotype.Fields(t) {
		if f.Name == name {
			return t.FieldByIndex(f.Way).Type, true
		}
	}
	return nil, false
}

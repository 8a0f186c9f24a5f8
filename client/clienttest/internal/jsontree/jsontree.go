// Package jsontree represents JSON values as trees of maps, lists and scalars. It reads them from JSON and from YAML,
// and writes, copies and compares them. Numbers are text, so they are written as they were read.
package jsontree

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Object is a JSON object as encoding/json decodes it, with numbers as json.Number, so that 2^53+1 and 1.50 keep their
// text.
type Object = map[string]any

// KindOf returns the name of a decoded value's type, as in encoding/json's errors.
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// OutOfRange returns the first number of v that no 64-bit integer or floating-point number can hold, such as 1e400, or
// "". Members are looked at in the order of their names.
func OutOfRange(v any) json.Number {
	switch v := v.(type) {
	case Object:
		for _, name := range Names(v) {
			if n := OutOfRange(v[name]); n != "" {
				return n
			}
		}
	case []any:
		for _, e := range v {
			if n := OutOfRange(e); n != "" {
				return n
			}
		}
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return v
		}
	}
	return ""
}

// Names returns the names of the members of an object, in order.
func Names(v Object) []string {
	names := slices.AppendSeq(make([]string, 0, len(v)), maps.Keys(v))
	slices.Sort(names)
	return names
}

// Append appends v in a canonical form: no white space, keys sorted. Equal values give equal bytes.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case json.Number:
		return append(b, v...)
	case string:
		return AppendString(b, v)
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = Append(b, e)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, k := range Names(v) {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendString(b, k)
			b = append(b, ':')
			b = Append(b, v[k])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("clienttest: encode a value of type %T", v))
}

// AppendString appends s as the API server and encoding/json write it: <, > and & are escaped.
func AppendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string can be encoded
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Clone returns a copy that shares nothing with v.
func Clone(v any) any { return Map(v, func(leaf any) any { return leaf }) }

// Map returns a copy of v in which each scalar is replaced by what leaf returns for it.
func Map(v any, leaf func(any) any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, e := range v {
			out[k] = Map(e, leaf)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Map(e, leaf)
		}
		return out
	}
	return leaf(v)
}

// Equal reports whether two decoded values are the same.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, ok := b.(Object)
		return ok && maps.EqualFunc(a, b, Equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	}
	switch b.(type) {
	case Object, []any:
		return false
	}
	return a == b
}

// Lookup returns the text of the scalar at a path such as "spec.nodeName", as field selectors compare it. An absent
// value is "".
func Lookup(m Object, path string) string {
	var v any = m
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(Object)
		if !ok {
			return ""
		}
		v = m[name]
	}
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// MustDecode decodes a document that is known to be good, such as one that this module embeds.
func MustDecode(doc []byte, into any) {
	if err := json.Unmarshal(doc, into); err != nil {
		panic(fmt.Sprintf("clienttest: decode what is known to be JSON: %v", err))
	}
}

// GoValue returns a value whose numbers have the Go types that a real server gives them.
func GoValue(v any) any {
	return Map(v, func(leaf any) any {
		n, ok := leaf.(json.Number)
		if !ok {
			return leaf
		}
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, _ := n.Float64() // infinite if out of range
		return f
	})
}

// Of returns the JSON of a value as a tree. The value must have a JSON form.
func Of(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode %T: %v", v, err))
	}
	tree, _ := Parse(b) // it was just written
	return tree
}

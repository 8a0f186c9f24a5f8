package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// object is a JSON object in a document, with its path.
type object struct {
	at      string
	members map[string]any
}

func asObject(at string, v any) (object, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return object{}, fmt.Errorf("%s must be an object, got %s", at, kindOf(v))
	}
	return object{at, m}, nil
}

// child returns a member that is an object; an empty object if there is no such member.
func (o object) child(name string) (object, error) {
	v := o.members[name]
	if v == nil {
		return object{at: o.path(name)}, nil
	}
	return asObject(o.path(name), v)
}

// path returns the path of a member for errors. It quotes unusual names.
func (o object) path(name string) string { return o.at + "." + show(name) }

// show returns a name for an error: as it is, or quoted and clipped.
func show(name string) string {
	for i := range len(name) {
		if c := name[i]; c != '-' && c != '_' && c != '$' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return quote(name)
		}
	}
	if len(name) == 0 || len(name) > maxShown {
		return quote(name)
	}
	return name
}

const maxShown = 80

// quote returns a text for an error.
func quote(text string) string {
	if len(text) > maxShown {
		return strconv.QuoteToASCII(text[:maxShown]) + "..."
	}
	return strconv.QuoteToASCII(text)
}

// kindOf returns the type of a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func member[V any](o object, name, what string) (value V, err error) {
	v := o.members[name]
	if v == nil {
		return value, nil
	}
	value, ok := v.(V)
	if !ok {
		return value, fmt.Errorf("%s must be %s, got %s", o.path(name), what, kindOf(v))
	}
	return value, nil
}

func (o object) text(name string, err *error) string { return get[string](o, name, "a string", err) }
func (o object) flag(name string, err *error) bool   { return get[bool](o, name, "a boolean", err) }
func (o object) list(name string, err *error) []any  { return get[[]any](o, name, "a list", err) }

// get returns a member, and keeps the first error.
func get[V any](o object, name, what string, err *error) V {
	value, wrong := member[V](o, name, what)
	if *err == nil {
		*err = wrong
	}
	return value
}

func (o object) number(name string, err *error) *float64 {
	n := get[json.Number](o, name, "a number", err)
	if n == "" {
		return nil
	}
	f, wrong := n.Float64()
	if wrong != nil && *err == nil {
		*err = fmt.Errorf("%s must be a number that fits 64 bits, got %s", o.path(name), quote(string(n)))
	}
	return &f
}

func (o object) count(name string, err *error) int64 {
	n := o.number(name, err)
	switch {
	case n == nil:
		return 0
	case *n < 0 || *n != float64(int64(*n)):
		if *err == nil {
			*err = fmt.Errorf("%s must be an integer that is not negative, got %v", o.path(name), *n)
		}
		return 0
	}
	return int64(*n)
}

// texts returns the strings of a list.
func (o object) texts(name string, err *error) []string {
	var all []string
	for i, v := range o.list(name, err) {
		text, ok := v.(string)
		if !ok && *err == nil {
			*err = fmt.Errorf("%s[%d] must be a string, got %s", o.path(name), i, kindOf(v))
		}
		all = append(all, text)
	}
	return all
}

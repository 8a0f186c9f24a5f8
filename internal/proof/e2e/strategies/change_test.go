package strategies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// change is one change of an object.
type change struct {
	path string // where, with the indices of lists
	more string // and, of a value that has only one member, where that is
	what string
	to   object // the whole object after it
}

// field returns the place of a change without indices, as the list of what is not checked has it.
func (c change) field() string {
	var out strings.Builder
	skip := false
	for _, r := range c.path + c.more {
		switch {
		case r == '[':
			skip = true
		case r == ']':
			skip = false
		case !skip:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// changer makes the changes of an object.
type changer struct {
	schemas map[string]*schema // of the server, by name
	whole   object
	changes []change
}

// schema is a schema of OpenAPI as kube-apiserver writes it.
type schema struct {
	Ref        string             `json:"$ref"`
	AllOf      []*schema          `json:"allOf"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Additional json.RawMessage    `json:"additionalProperties"`
}

func (c *changer) resolve(s *schema) *schema {
	switch {
	case s == nil:
		return &schema{}
	case len(s.AllOf) == 1:
		return c.resolve(s.AllOf[0])
	case s.Ref != "":
		return c.resolve(c.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]])
	}
	return s
}

// place is where a value is: set replaces it, or removes it with nil.
type place struct {
	path string
	set  func(v any)
}

// try adds the change that sets a place to a value.
func (c *changer) try(p place, was, to any, what string) {
	p.set(to)
	c.changes = append(c.changes, change{p.path, only(to, ""), what, clone(c.whole).(object)})
	p.set(was)
}

// only returns the path of the one scalar in a value, or as far as there is one member.
func only(v any, path string) string {
	switch v := v.(type) {
	case object:
		if len(v) == 1 {
			for name, e := range v {
				return only(e, path+"."+name)
			}
		}
	case []any:
		if len(v) == 1 {
			return only(v[0], path)
		}
	}
	return path
}

func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for name, e := range v {
			out[name] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}

// walk makes the changes of a value, and of all values in it.
func (c *changer) walk(p place, v any, s *schema) {
	s = c.resolve(s)
	switch v := v.(type) {
	case object:
		c.object(p, v, s)
	case []any:
		c.list(p, v, s)
	case string:
		texts := []any{"", "x", "Not_A Name", strings.Repeat("a", 300), "/a/../b", "-1"}
		for _, e := range append(texts, s.Enum...) {
			if e != v {
				c.try(p, v, e, fmt.Sprintf("%.20q", e))
			}
		}
	case float64:
		for _, n := range []float64{-1, 0, 1, 65536, 2147483647} {
			if n != v {
				c.try(p, v, n, fmt.Sprint(n))
			}
		}
		if s.Format == "int-or-string" {
			c.try(p, v, "x%", "text")
			c.try(p, v, "50%", "percentage")
		}
	case bool:
		c.try(p, v, !v, fmt.Sprint(!v))
	}
}

func (c *changer) object(p place, v object, s *schema) {
	if len(v) > 0 && p.set != nil {
		c.try(p, v, object{}, "{}")
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner := place{strings.TrimPrefix(p.path+"."+name, "."), func(e any) {
			if e == nil {
				delete(v, name)
			} else {
				v[name] = e
			}
		}}
		if s.Properties == nil { // a map
			inner.path = p.path
		}
		if inner.path == "apiVersion" || inner.path == "kind" || inner.path == "metadata" {
			continue
		}
		c.try(inner, v[name], nil, "without "+name)
		c.walk(inner, v[name], c.member(s, name))
	}
	if s.Properties == nil && len(v) > 0 {
		for _, name := range []string{"Not A Name!", "", "example.com/x", strings.Repeat("k", 70)} {
			c.try(place{p.path, func(e any) {
				if e == nil {
					delete(v, name)
				} else {
					v[name] = e
				}
			}}, nil, clone(v[slices.Sorted(maps.Keys(v))[0]]), fmt.Sprintf("key %.20q", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		_, found := v[name]
		at := strings.TrimPrefix(p.path+"."+name, ".")
		if found || at == "status" || at == "apiVersion" || at == "kind" || at == "metadata" {
			continue
		}
		for _, e := range c.some(s.Properties[name], 2) {
			c.try(place{at, func(e any) {
				if e == nil {
					delete(v, name)
				} else {
					v[name] = e
				}
			}}, nil, e, fmt.Sprintf("with %s %.60s", name, text(e)))
		}
	}
}

func (c *changer) member(s *schema, name string) *schema {
	if p := s.Properties[name]; p != nil {
		return p
	}
	var additional schema
	_ = json.Unmarshal(s.Additional, &additional) // it may be a boolean
	return &additional
}

func (c *changer) list(p place, v []any, s *schema) {
	c.try(p, v, []any{}, "[]")
	if len(v) == 0 {
		return
	}
	c.try(p, v, append(clone(v).([]any), clone(v[0])), "first twice")
	for _, e := range c.some(s.Items, 1) {
		c.try(p, v, append(clone(v).([]any), e), fmt.Sprintf("and %.60s", text(e)))
	}
	for i := range v {
		c.walk(place{fmt.Sprintf("%s[%d]", p.path, i), func(e any) { v[i] = e }}, v[i], s.Items)
	}
}

// some returns values of a schema: objects with nothing in them, and with one member each, as deep as that.
func (c *changer) some(s *schema, depth int) []any {
	s = c.resolve(s)
	switch {
	case s.Format == "int-or-string":
		return []any{1.0, "x"}
	case s.Format == "date-time" || s.Format == "micro-time":
		return []any{"2026-01-02T03:04:05Z"}
	case len(s.Enum) > 0:
		return []any{s.Enum[0], s.Enum[len(s.Enum)-1]}
	case s.Format == "byte":
		return []any{"YWI="}
	}
	switch s.Type {
	case "string":
		return []any{"x", "10.0.0.1"}
	case "integer", "number":
		return []any{1.0, -1.0}
	case "boolean":
		return []any{true, false}
	case "array":
		if depth == 0 {
			return nil
		}
		all := []any{}
		for _, e := range c.some(s.Items, depth-1) {
			all = append(all, []any{e})
		}
		return all
	case "object":
		if s.Properties == nil {
			return []any{object{"a": "1"}}
		}
		all := []any{object{}}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if depth > 0 {
				for _, e := range c.some(s.Properties[name], depth-1) {
					all = append(all, object{name: e})
				}
			}
		}
		return all
	}
	return []any{object{"a": "1"}}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

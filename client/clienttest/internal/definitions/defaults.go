package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/values"
	"github.com/bowline-go/bowline/client/meta"
)

// defaults checks the defaults in a structural schema: that they are valid, and have no unknown members.
func (r *report) defaults(s view, at string) {
	root := maps.Clone(s)
	root["x-kubernetes-embedded-resource"] = true
	r.defaultsIn(root, at, surroundings{})
}

// surroundings are the object that surrounds a value.
type surroundings struct {
	schema     view          // of the object
	around     func(any) any // returns the object, given the value
	inMetadata bool          // the value is the kind or the apiVersion, or belongs to the metadata
}

// in returns the surroundings of a value that is one level deeper. Step takes that value and returns the one around it.
func (o surroundings) in(step func(v any) any) surroundings {
	around := o.around
	o.around = func(v any) any { return around(step(v)) }
	return o
}

func (r *report) defaultsIn(s view, at string, o surroundings) {
	if s.flag("x-kubernetes-embedded-resource") {
		o = surroundings{schema: s, around: func(v any) any { return v }}
	}
	if v := s["default"]; v != nil {
		r.checkDefault(s, v, at+".default", o)
	}
	// The defaults of additional properties are not checked.
	if items := s.in("items"); items != nil {
		r.defaultsIn(items, at+".items", o.in(func(v any) any { return []any{v} }))
	}
	for _, p := range s.properties("properties") {
		inner := o.in(func(v any) any { return jsontree.Object{p.name: v} })
		inner.inMetadata = o.inMetadata || s.flag("x-kubernetes-embedded-resource") && isMetadata(p.name)
		r.defaultsIn(p.schema, fmt.Sprintf("%s.properties[%s]", at, p.name), inner)
	}
}

func (r *report) checkDefault(s view, v any, at string, o surroundings) {
	var wrong []meta.StatusCause
	if o.inMetadata {
		whole, _ := jsontree.Clone(o.around(v)).(jsontree.Object)
		for name, value := range map[string]any{"apiVersion": "validation/v1", "kind": "Validation"} {
			if _, found := whole[name]; !found {
				whole[name] = value
			}
		}
		if wrong = embedded(o.schema, whole, ""); len(wrong) > 0 {
			r.invalid(at, v, "must result in valid metadata: "+joined(wrong))
			return
		}
	} else {
		hasMore := unknown(s, v, s.flag("x-kubernetes-preserve-unknown-fields"))
		v = jsontree.Clone(v)
		wrong = embedded(s, v, at)
		if hasMore {
			r.invalid(at, v, "must not have unknown fields")
		}
	}
	if len(wrong) == 0 {
		wrong = wrongValue(s, v, at)
	}
	r.causes = append(r.causes, wrong...)
}

// joined returns causes as one text.
func joined(causes []meta.StatusCause) string {
	text := status.Invalid("", "", "", causes).Error()
	return strings.TrimPrefix(text, ` "" is invalid: `)
}

// unknown reports whether a value has members that its schema does not know. Keep says that they may stay.
func unknown(s view, v any, keep bool) bool {
	switch v := v.(type) {
	case jsontree.Object:
		for name, e := range v {
			property, found := s.property(name)
			switch {
			case s.flag("x-kubernetes-embedded-resource") && isMetadata(name):
			case found, s.has("additionalProperties"):
				if !found {
					property = s.in("additionalProperties")
				}
				if unknown(property, e, property.flag("x-kubernetes-preserve-unknown-fields")) {
					return true
				}
			case !keep:
				return true
			}
		}
	case []any:
		items := s.in("items")
		for _, e := range v {
			if (items != nil || !keep) && unknown(items, e, keep || items.flag("x-kubernetes-preserve-unknown-fields")) {
				return true
			}
		}
	}
	return false
}

// embedded returns what is wrong with the types and the metadata of the objects in a value. It removes the members
// of their metadata that the server does not keep.
func embedded(s view, v any, at string) []meta.StatusCause {
	if wrong := coerce(s, v, at); wrong != nil {
		return []meta.StatusCause{*wrong}
	}
	var causes []meta.StatusCause
	eachObject(s, v, at, func(object jsontree.Object, at string) {
		causes = append(causes, wrongObject(object, at)...)
	})
	return causes
}

// eachObject calls f with the objects in a value that are resources.
func eachObject(s view, v any, at string, f func(object jsontree.Object, at string)) {
	switch v := v.(type) {
	case jsontree.Object:
		if s.flag("x-kubernetes-embedded-resource") {
			f(v, at)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if p, found := s.property(name); found {
				eachObject(p, v[name], member(at, name), f)
			} else if additional := s.in("additionalProperties"); additional != nil {
				eachObject(additional, v[name], fmt.Sprintf("%s[%s]", at, name), f)
			}
		}
	case []any:
		if items := s.in("items"); items != nil {
			for i, e := range v {
				eachObject(items, e, fmt.Sprintf("%s[%d]", at, i), f)
			}
		}
	}
}

func member(at, name string) string { return strings.TrimPrefix(at+"."+name, ".") }

// coerce brings the metadata of the objects in a value into the form of the server. It returns the error about
// the first kind, apiVersion or metadata that it cannot read.
func coerce(s view, v any, at string) (wrong *meta.StatusCause) {
	eachObject(s, v, at, func(o jsontree.Object, at string) {
		refuse := func(name, why string) {
			if wrong == nil {
				c := invalid(member(at, name), o[name], why)
				wrong = &c
			}
		}
		for _, name := range []string{"apiVersion", "kind"} {
			if value, found := o[name]; found {
				if _, isText := value.(string); !isText {
					refuse(name, "must be a string")
				}
			}
		}
		if value, found := o["metadata"]; found {
			m, err := readMetadata(value)
			if err != nil {
				refuse("metadata", err.Error())
				return
			}
			o["metadata"] = jsontree.Of(m)
		}
	})
	return wrong
}

func readMetadata(v any) (m meta.ObjectMeta, err error) {
	d, err := object.Parse(jsontree.Append(nil, jsontree.Object{"metadata": v}))
	if err != nil {
		return m, err
	}
	return d.Meta, nil
}

// wrongObject returns what is wrong with the type and the metadata of an object.
func wrongObject(o jsontree.Object, at string) []meta.StatusCause {
	var r report
	for _, name := range []string{"apiVersion", "kind"} {
		value, found := o[name]
		text, _ := value.(string)
		switch why := wrongLabel(strings.ToLower(text)); {
		case !found:
			r.required(member(at, name), "")
		case text == "":
			r.invalid(member(at, name), text, "must not be empty")
		case name == "apiVersion" && strings.Count(text, "/") > 1:
			r.invalid(member(at, name), text, "unexpected GroupVersion string: "+text)
		case name == "kind" && len(why) > 0:
			r.invalid(member(at, name), text, "may have mixed case, but should otherwise match: "+strings.Join(why, ","))
		}
	}
	if value, found := o["metadata"]; found {
		m, _ := readMetadata(value) // coerce has read it
		if m.Name == "" {
			m.Name = "name"
		}
		segment := object.Type{}
		segment.NameSegment = true
		for _, c := range object.NewValidator().Object(&segment, &m) {
			c.Field = member(at, c.Field)
			r.causes = append(r.causes, c)
		}
	}
	return r.causes
}

// wrongValue returns why a value does not fit a schema.
func wrongValue(s view, v any, at string) []meta.StatusCause {
	// Package values checks the values of a status apart from the rest of an object.
	const member = "status"
	document := jsontree.Object{"properties": jsontree.Object{member: forDefaults(s)}}
	compiled, err := values.Parse(json.RawMessage(jsontree.Append(nil, document)))
	if err != nil {
		return []meta.StatusCause{invalid(at, "", err.Error())}
	}
	causes := compiled.CheckStatus(jsontree.Object{member: v}, jsontree.Object{})
	for i := range causes {
		below := strings.TrimPrefix(causes[i].Field, member)
		if _, isObject := v.(jsontree.Object); isObject && s.has("additionalProperties") {
			// Here, the server's messages have a dot before the name of the first member.
			causes[i].Message = strings.Replace(causes[i].Message, ": "+strings.TrimPrefix(below, ".")+" in", ": "+below+" in", 1)
		}
		causes[i].Field = at + below
	}
	return causes
}

// forDefaults returns a schema without the members that the server ignores when it checks defaults.
func forDefaults(s view) jsontree.Object {
	plain := s.plain()
	view(plain).walk("", func(s view, _ string) {
		delete(s, "x-kubernetes-int-or-string")
		delete(s, "x-kubernetes-list-type")
		if s.in("items") == nil {
			delete(s, "items")
		}
	})
	return plain
}

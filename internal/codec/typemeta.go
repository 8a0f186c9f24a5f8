package codec

import "reflect"

// The items of a list do not name their kind and apiVersion; the list does. This file sets them in the Go value: in a
// struct before it is decoded, so that the document may replace them, and in a map afterwards.

// setType sets the fields kind and apiVersion of a zero struct, as far as it has them and they can hold the text.
func (p *plan) setType(to place, t typeMeta) {
	if p.setString(to, "kind", t.kind) && p.setString(to, "apiVersion", t.apiVersion) {
		return
	}
	// The fields are not strings. If they do not accept the text, decoding the object returns the error.
	if _, err := (request{}).document(p, to, t.document()); err != nil {
		to.value(p.typ).SetZero()
	}
}

// setString reports false for a field that is not a plain string.
func (p *plan) setString(to place, name, value string) bool {
	at := p.find([]byte(name))
	if at < 0 {
		return true
	}
	f := &p.fields[at]
	if f.plan.shape != shapeString || f.hops != nil {
		return false
	}
	*as[string](to.field(f.offset)) = value
	return true
}

// addType adds the members kind and apiVersion to a map that lacks them, if its values can hold the text.
func (p *plan) addType(to place, t typeMeta) {
	switch p.shape {
	case shapeAnyMap:
		object := *as[map[string]any](to)
		setAbsent(object, "kind", t.kind)
		setAbsent(object, "apiVersion", t.apiVersion)
	case shapeMap, shapeStringMap:
		more := newPlace(p.typ)
		if _, err := (request{}).document(p, more, t.document()); err != nil {
			return
		}
		object := to.value(p.typ)
		for name, value := range more.value(p.typ).Seq2() {
			if !object.MapIndex(name).IsValid() {
				object.SetMapIndex(name, value)
			}
		}
	}
}

func setAbsent(object map[string]any, name, value string) {
	if _, ok := object[name]; !ok {
		object[name] = value
	}
}

// reset makes a field zero again, except for the kind and apiVersion, because a later member of its name counts.
func (d *decoder) reset(f *field, to place) {
	to.value(f.plan.typ).SetZero()
	if d.depth > 1 || f.plan.shape != shapeString || f.hops != nil || d.typed.isEmpty() {
		return
	}
	switch f.name {
	case "kind":
		*as[string](to) = d.typed.kind
	case "apiVersion":
		*as[string](to) = d.typed.apiVersion
	}
}

// SetTypeMeta sets the kind and the apiVersion of what v points to, as [Decode] does for a T. v must be a pointer to a
// struct.
func SetTypeMeta(v any, apiVersion, kind string) {
	if setter, ok := v.(interface{ SetTypeMeta(apiVersion, kind string) }); ok {
		setter.SetTypeMeta(apiVersion, kind)
		return
	}
	to := reflect.ValueOf(v)
	if p := plans.of(to.Type().Elem()); p.shape == shapeStruct {
		p.setType(place{to.UnsafePointer()}, typeMeta{apiVersion: apiVersion, kind: kind})
	}
}

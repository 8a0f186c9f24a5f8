package codec

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"slices"
)

// This file is about members for which a Go type has no place. Decoding skips them, so a later encoding does not have
// them.

// serverSet has the members of an object's own metadata that a write cannot lose: the server keeps them whatever is
// written, or every request has them in its path.
var serverSet = [...]string{
	"name", "namespace", "uid", "resourceVersion", "generation", "selfLink", "managedFields",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// loses reports whether the member at i counts as lost. Its value is at value, and the struct at the place has no
// field for it.
func (d *decoder) loses(to place, i, value int) bool {
	quoted, _ := d.quoted(i)
	name := string(quoted)
	switch {
	case d.data[value] == 'n': // null
		return false
	case d.depth == 1:
		return name != "kind" && name != "apiVersion" // Marshal adds them
	case d.depth == 2 && to == d.metadata:
		return !slices.Contains(serverSet[:], name)
	}
	return true
}

// unknown ends decoding at the name at i, for which the type of the plan has no field.
func (d *decoder) unknown(p *plan, i int) int {
	name, _ := d.quoted(i)
	d.fault = fault{typ: p.typ, at: i, more: &details{cause: errUnknown}}
	d.within(step{name: string(name), kind: stepKey})
	return broken
}

// metadata returns the place of the object's own metadata, or no place. The metadata must be a struct that is neither
// empty nor behind a pointer, so that no other value can have the same place.
func (p *plan) metadata(to place) place {
	if p.shape != shapeStruct {
		return place{}
	}
	at := p.find([]byte("metadata"))
	if at < 0 || p.fields[at].hops != nil || p.fields[at].plan.shape != shapeStruct || p.fields[at].plan.size == 0 {
		return place{}
	}
	return to.field(p.fields[at].offset)
}

// Lost returns, in order, JSON Pointers to the members of the object for which t has no place. It returns at most as
// many as most says. Members that do not count for [Decode] do not count here. The object must have been decoded by
// encoding/json with UseNumber; Lost changes it.
//
// It is an error if the object does not fit t.
func Lost(t reflect.Type, object map[string]any, most int) ([]string, error) {
	withoutNull(object)
	delete(object, "kind")
	delete(object, "apiVersion")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		for _, name := range serverSet {
			delete(metadata, name)
		}
	}
	var lost []string
	for len(lost) < most {
		raw, err := stdjson.Marshal(object)
		if err != nil {
			return nil, err
		}
		_, _, err = decode(t, raw, request{strict: true})
		var wrong *Error
		switch {
		case err == nil:
			return lost, nil
		case !errors.Is(err, errUnknown) || !errors.As(err, &wrong):
			return lost, err
		}
		lost = append(lost, pointerOf(wrong.steps))
		remove(object, wrong.steps)
	}
	return lost, nil
}

// withoutNull removes the members that are null from all objects.
func withoutNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil {
				delete(v, name)
			} else {
				withoutNull(value)
			}
		}
	case []any:
		for _, value := range v {
			withoutNull(value)
		}
	}
}

// remove removes a member. The steps to it begin with the innermost.
func remove(v any, steps []step) {
	for _, s := range slices.Backward(steps[1:]) {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[s.name]
		case []any:
			v = parent[s.index]
		}
	}
	delete(v.(map[string]any), steps[0].name)
}

package codec

import (
	stdjson "encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// This file is about what a Go type has no place for. Decoding passes it over, so that it is gone from what is encoded later.

// serverSet names the members of an object's own metadata that a server keeps, whatever is written. Those in the path of every
// request are among them.
var serverSet = [...]string{
	"name", "namespace", "uid", "resourceVersion", "generation", "selfLink", "managedFields",
	"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// loses reports whether the member at i of the object that goes to the place, and that has no field for it, counts as lost.
// Its value is at value.
func (d *decoder) loses(to place, i, value int) bool {
	end, _ := stringEnd(d.data, i+1)
	name := string(d.data[i+1 : end])
	switch {
	case d.data[value] == 'n': // null
		return false
	case d.depth == 1:
		return name != "kind" && name != "apiVersion" // Marshal knows them
	case d.depth == 2 && to == d.metadata:
		return !slices.Contains(serverSet[:], name)
	}
	return true
}

// metadata is the place of the object's own metadata, of which nothing else can be in: a struct that is neither empty nor
// behind a pointer. There may be none.
func (p *plan) metadata(to place) place {
	if p.shape != shapeStruct {
		return place{}
	}
	at := p.find([]byte("metadata"))
	if at < 0 || p.fields[at].plan.shape != shapeStruct || p.fields[at].plan.size == 0 {
		return place{}
	}
	return to.field(p.fields[at].offset)
}

// Lost returns JSON pointers to members of the object for which T has no place, in order, and no more than most of them. What
// does not count for [DecodeNoting] does not count here. object is as encoding/json decodes it with UseNumber; it is changed.
//
// It is an error if the object does not fit T.
func Lost[T any](object map[string]any, most int) ([]string, error) {
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
		var v T
		err = json.Unmarshal(raw, &v, whole)
		where := (*json.SemanticError)(nil)
		switch {
		case err == nil:
			return lost, nil
		case !errors.Is(err, json.ErrUnknownName) || !errors.As(err, &where) || !remove(object, where.JSONPointer):
			var v T
			return lost, json.Unmarshal(raw, &v, wholeLenient) // there are types that only that takes
		}
		lost = append(lost, string(where.JSONPointer))
	}
	return lost, nil
}

// withoutNull takes the members that are null out of all objects.
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

// remove takes a member out, and reports whether it was there.
func remove(v any, at jsontext.Pointer) bool {
	name := at.LastToken()
	for token := range at.Parent().Tokens() {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[token]
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(parent) {
				return false
			}
			v = parent[index]
		}
	}
	object, _ := v.(map[string]any)
	_, ok := object[name]
	delete(object, name)
	return ok
}

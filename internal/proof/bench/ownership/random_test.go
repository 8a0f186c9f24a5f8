package ownership_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// name is that of the object.
const name = "thing"

// metadataSchema is as much of ObjectMeta as the fields of these objects need.
const metadataSchema = `{"type": "object", "properties": {
	"name": {"type": "string"}, "namespace": {"type": "string"}, "uid": {"type": "string"}, "resourceVersion": {"type": "string"},
	"generation": {"type": "integer"}, "creationTimestamp": {"type": "string", "format": "date-time"},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
	"finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
	"managedFields": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "object"}}}}`

// specSchema has every type of list and map, also within each other. Everything may be null, which an apply leaves where it takes
// away all that is in a map of somebody else's.
const specSchema = `{"type": "object", "nullable": true, "properties": {
	"text": {"type": "string", "nullable": true},
	"number": {"type": "integer", "nullable": true},
	"ratio": {"type": "number", "nullable": true},
	"flag": {"type": "boolean", "nullable": true},
	"set": {"type": "array", "nullable": true, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
	"numbers": {"type": "array", "nullable": true, "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
	"list": {"type": "array", "nullable": true, "x-kubernetes-list-type": "atomic", "items": {"type": "string"}},
	"labels": {"type": "object", "nullable": true, "additionalProperties": {"type": "string", "nullable": true}},
	"whole": {"type": "object", "nullable": true, "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string", "nullable": true}},
	"deep": {"type": "object", "nullable": true, "properties": {"a": {"type": "object", "nullable": true, "properties": {
		"b": {"type": "string", "nullable": true}, "c": {"type": "string", "nullable": true}}}, "d": {"type": "string", "nullable": true}}},
	"maps": {"type": "object", "nullable": true, "additionalProperties": {"type": "object", "nullable": true, "properties": {
		"x": {"type": "string", "nullable": true}, "set": {"type": "array", "nullable": true, "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}},
	"open": {"type": "object", "nullable": true, "x-kubernetes-preserve-unknown-fields": true},
	"ports": {"type": "array", "nullable": true, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
		"type": "object", "required": ["port"], "properties": {
			"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "note": {"type": "string", "nullable": true},
			"whole": {"type": "object", "nullable": true, "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string", "nullable": true}}},
			"set": {"type": "array", "nullable": true, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
			"inner": {"type": "array", "nullable": true, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
				"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": {"type": "string", "nullable": true}}}}}}}}}`

// thingSchema is that of the objects, as a CustomResourceDefinition has it.
const thingSchema = `{"type": "object", "properties": {"spec": ` + specSchema + `}}`

// kind of a write.
type how int

const (
	apply how = iota
	force
	update
)

// write is one write of one who writes: what is applied, or the object after an update.
type write struct {
	by     string
	how    how
	object map[string]any
}

func (w write) String() string {
	b, err := json.Marshal(w.object)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s %s %s", w.by, [...]string{"applies", "forces", "updates"}[w.how], b)
}

// random makes writes of few words, so that those who write meet.
type random struct {
	*rand.Rand
	schema map[string]any
	twice  bool // what has keys may be there twice
}

func newRandom(seed uint64) random {
	r := random{Rand: rand.New(rand.NewPCG(seed, 325))}
	if err := json.Unmarshal([]byte(specSchema), &r.schema); err != nil {
		panic(err)
	}
	return r
}

func (r random) oneIn(n int) bool { return r.IntN(n) == 0 }

// write makes one. live is the object as it is, which an update changes.
func (r random) write(live map[string]any) write {
	w := write{by: []string{"a", "b", "c"}[r.IntN(3)], how: []how{apply, apply, apply, force, update}[r.IntN(5)]}
	r.twice = r.oneIn(map[how]int{apply: 20, force: 20, update: 4}[w.how])
	metadata := map[string]any{}
	if r.oneIn(2) {
		metadata["labels"] = r.value(map[string]any{"additionalProperties": map[string]any{"type": "string"}, "type": "object"})
	}
	if r.oneIn(4) {
		metadata["finalizers"] = r.distinct([]any{"x.y/a", "x.y/b", "x.y/c"})
	}
	w.object = map[string]any{"metadata": metadata}
	if !r.oneIn(10) {
		w.object["spec"] = r.value(r.schema)
	}
	if was, ok := live["spec"].(map[string]any); ok && w.how == update && r.oneIn(2) {
		// Most of what is there stays.
		mixed := maps.Clone(was)
		if some, ok := w.object["spec"].(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(some)) {
				if r.oneIn(2) {
					mixed[k] = some[k]
				}
			}
		}
		w.object["spec"] = mixed
	}
	return w
}

// value makes a value of a schema.
func (r random) value(schema map[string]any) any {
	if schema["nullable"] == true && r.oneIn(25) {
		return nil
	}
	if schema["x-kubernetes-preserve-unknown-fields"] == true {
		return r.object(2)
	}
	switch schema["type"] {
	case "object":
		out := map[string]any{}
		if properties, ok := schema["properties"].(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(properties)) {
				if r.IntN(5) < 2 {
					out[k] = r.value(properties[k].(map[string]any))
				}
			}
			return out
		}
		for _, k := range r.distinct([]any{"a", "b", "c"}) {
			out[k.(string)] = r.value(schema["additionalProperties"].(map[string]any))
		}
		return out
	case "array":
		return r.list(schema)
	case "integer":
		return int64(r.IntN(3))
	case "number":
		return []any{int64(1), 1.5, 2.5}[r.IntN(3)]
	case "boolean":
		return r.oneIn(2)
	}
	return []any{"x", "y", ""}[r.IntN(3)]
}

func (r random) list(schema map[string]any) any {
	items := schema["items"].(map[string]any)
	switch schema["x-kubernetes-list-type"] {
	case "set":
		if items["type"] == "integer" {
			return r.distinct([]any{int64(1), int64(2), int64(30)})
		}
		return r.distinct([]any{"a", "b", "c", "d"})
	case "map":
		out := []any{}
		if keys := schema["x-kubernetes-list-map-keys"].([]any); len(keys) == 1 {
			for _, n := range r.distinct([]any{"a", "b", "c"}) {
				item := r.value(items).(map[string]any)
				item["name"] = n
				out = append(out, item)
			}
			return out
		}
		for _, n := range r.distinct([]any{"1", "1U", "2", "2S"}) {
			item := r.value(items).(map[string]any)
			delete(item, "protocol")
			item["port"] = int64(n.(string)[0] - '0')
			switch {
			case len(n.(string)) > 1:
				item["protocol"] = map[byte]string{'U': "UDP", 'S': "SCTP"}[n.(string)[1]]
			case r.oneIn(2):
				item["protocol"] = "TCP"
			}
			out = append(out, item)
		}
		return out
	}
	out := []any{}
	for range r.IntN(3) {
		out = append(out, r.value(items))
	}
	return out
}

// distinct returns some of the words in any order, and of some two where there may be.
func (r random) distinct(words []any) []any {
	out := []any{}
	for _, i := range r.Perm(len(words))[:r.IntN(len(words))] {
		out = append(out, words[i])
	}
	if len(out) > 0 && r.twice && r.oneIn(3) {
		out = slices.Insert(out, r.IntN(len(out)+1), out[r.IntN(len(out))])
	}
	return out
}

// object makes a value of no schema.
func (r random) object(depth int) any {
	out := map[string]any{}
	for _, k := range r.distinct([]any{"a", "b", "c"}) {
		switch r.IntN(6) {
		case 0:
			out[k.(string)] = nil
		case 1:
			out[k.(string)] = []any{int64(r.IntN(2))}
		case 2, 3:
			out[k.(string)] = []any{"x", int64(1)}[r.IntN(2)]
		default:
			if depth > 0 {
				out[k.(string)] = r.object(depth - 1)
			}
		}
	}
	return out
}

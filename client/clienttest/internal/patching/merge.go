package patching

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

func applyMerge(doc, body []byte, lenient bool) (Result, error) {
	v, err := jsontree.Parse(body)
	change, isObject := v.(jsontree.Object)
	_, isList := v.([]any)
	outOfRange := jsontree.OutOfRange(v)
	switch {
	case !lenient && isObject && outOfRange != "":
		return Result{}, status.BadRequest("error decoding patch: json: cannot unmarshal number %s into Go value of type float64", outOfRange)
	case isObject:
	case lenient && isList:
		return Result{Doc: body, shown: string(body)}, nil // reading it as an object fails later
	case lenient, err == nil && v == nil:
		return Result{}, status.BadRequest("Invalid JSON Patch")
	default:
		return Result{}, status.BadRequest("error decoding patch: %v", notAnObject(v, err))
	}
	whole, err := jsontree.Parse(doc)
	if err != nil {
		return Result{}, err
	}
	target, _ := whole.(jsontree.Object)
	mergeMembers(target, change)
	result := jsontree.Append(nil, target)
	return Result{Doc: result, Value: target, wrong: schema.Duplicates(body), before: doc, merged: change}, nil
}

// appendMerged writes the result of a merge patch as a real server shows it: the objects that the patch changes have
// their members sorted by name, and everything else is as it was.
func appendMerged(b, before []byte, after, change jsontree.Object) []byte {
	var was map[string]json.RawMessage
	jsontree.MustDecode(before, &was)
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(after)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontree.AppendString(b, name), ':')
		inner, changed := change[name]
		object, isObject := after[name].(jsontree.Object)
		deeper, isMerged := inner.(jsontree.Object)
		switch {
		case !changed:
			b = append(b, was[name]...)
		case isObject && isMerged && bytes.HasPrefix(was[name], []byte("{")):
			b = appendMerged(b, was[name], object, deeper)
		default:
			b = jsontree.Append(b, after[name])
		}
	}
	return append(b, '}')
}

// mergeMembers applies a merge patch as a real server does, which also drops nulls from the objects in new lists.
func mergeMembers(into, change jsontree.Object) {
	for k, v := range change {
		was, wasObject := into[k].(jsontree.Object)
		now, isObject := v.(jsontree.Object)
		switch {
		case v == nil:
			delete(into, k)
		case wasObject && isObject:
			mergeMembers(was, now)
		case wasObject:
			into[k] = v
		default:
			dropNulls(v)
			into[k] = v
		}
	}
}

func dropNulls(v any) {
	switch v := v.(type) {
	case jsontree.Object:
		maps.DeleteFunc(v, func(_ string, v any) bool { return v == nil })
		for _, v := range v {
			dropNulls(v)
		}
	case []any:
		for _, v := range v {
			dropNulls(v)
		}
	}
}

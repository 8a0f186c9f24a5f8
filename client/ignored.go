package client

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ignoredError says that the server has accepted a write of Modify and left out a part of the change.
type ignoredError string

func (e ignoredError) Error() string { return string(e) }

// leftOut returns the error of a write from which the server has left out some fields, such as "status", "spec" or
// "metadata.labels".
func leftOut(fields []string, subresource string) error {
	text := "server ignored the change of " + strings.Join(fields, ", ")
	if subresource == "" {
		text += ", which is written through Resource.Status"
	} else {
		text += ", which is not part of " + subresource
	}
	return &UsageError{Err: ignoredError(text)}
}

// ignored returns the parts of c that the server has left out of the object that it stored: those that only the status
// subresource writes, and those that it does not write. A part that the server changed in any way does not count.
func (r resource) ignored(ctx context.Context, q request, c change, stored []byte) (fields []string) {
	if r.own || q.subresource != "" && q.subresource != "status" {
		return nil
	}
	before, after := parts(c.before), parts(c.after)
	var was, sent, is map[string]json.RawMessage
	either := make(map[string]json.RawMessage, len(before))
	maps.Copy(either, before)
	maps.Copy(either, after)
	for name := range either {
		if (name == "status") != (q.subresource == "") || bytes.Equal(before[name], after[name]) {
			continue
		}
		if was == nil {
			was, sent, is = parts(c.live.Raw), parts(c.body), parts(stored)
		}
		live := value(was[name])
		if !sameValue(live, value(sent[name])) && sameValue(live, value(is[name])) {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	if q.subresource == "" && len(fields) > 0 {
		if has, known := r.hasStatus(ctx, q.key); known && !has { // the value that was sent means the same as the old one
			return nil
		}
	}
	return fields
}

// parts returns the members of an object that a write can change, by their names in an ignoredError.
func parts(object []byte) map[string]json.RawMessage {
	var all, metadata map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return nil
	}
	_ = json.Unmarshal(all["metadata"], &metadata) // metadata may be missing
	for _, name := range [...]string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if part, ok := metadata[name]; ok {
			all["metadata."+name] = part
		}
	}
	for _, name := range [...]string{"metadata", "kind", "apiVersion"} {
		delete(all, name)
	}
	return all
}

// value decodes JSON and keeps numbers as they are written. It returns nil for an empty raw.
func value(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// sameValue compares JSON values. A value with nothing but zeros is the same as a missing one, as it is for servers.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for name, v := range x {
			if !sameValue(v, y[name]) {
				return false
			}
		}
		for name, v := range y {
			if _, ok := x[name]; !ok && !isEmpty(v) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case map[string]any, []any:
		default:
			if a == b {
				return true
			}
		}
	}
	return isEmpty(a) && isEmpty(b)
}

// isEmpty reports whether a JSON value has nothing but zeros.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case float64:
		return v == 0
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, member := range v {
			if !isEmpty(member) {
				return false
			}
		}
		return true
	}
	return false
}

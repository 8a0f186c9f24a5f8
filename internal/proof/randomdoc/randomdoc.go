// Package randomdoc makes random JSON documents for tests of patches.
package randomdoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Source makes documents that resemble each other.
type Source struct {
	*rand.Rand
	// NoNulls makes no member whose value is null.
	NoNulls bool
}

// New returns a source that makes the same documents for the same seed.
func New(seed uint64) *Source { return &Source{Rand: rand.New(rand.NewPCG(seed, 5))} }

// Name returns a name of a member. Some of these names are hard to write.
func (r *Source) Name() string {
	return []string{"a", "b", "name", "key", "type", "a/b", "m~n", "", "é", "é", "\"\\\n", "0", "-", "x y"}[r.IntN(14)]
}

// Scalar returns a string, a number or a boolean.
func (r *Source) Scalar() any {
	switch r.IntN(6) {
	case 0:
		return true
	case 1:
		return json.Number([]string{"0", "1", "1.0", "1e0", "-0", "9007199254740993", "1e400", "0.1"}[r.IntN(8)])
	case 2:
		return json.Number(fmt.Sprint(r.IntN(3)))
	default:
		return r.Name()
	}
}

// Value returns a value of at most depth levels.
func (r *Source) Value(depth int) any {
	switch n := r.IntN(10); {
	case depth > 0 && n < 4:
		return r.Object(depth - 1)
	case depth > 0 && n < 7:
		list := make([]any, r.IntN(6))
		for i := range list {
			if list[i] = r.Value(depth - 1); r.IntN(8) == 0 {
				list[i] = nil
			}
		}
		return list
	case n == 9 && !r.NoNulls:
		return nil
	}
	return r.Scalar()
}

// Object returns an object of at most depth levels below it.
func (r *Source) Object(depth int) map[string]any {
	object := make(map[string]any)
	for range r.IntN(6) {
		object[r.Name()] = r.Value(depth)
	}
	return object
}

// Change returns the value with some of it changed, in a copy.
func (r *Source) Change(v any, depth int) any {
	if r.IntN(8) == 0 {
		return r.Value(depth)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) { // sorted, so that a seed fixes the result
			if r.IntN(8) > 0 {
				out[name] = r.Change(v[name], depth-1)
			}
		}
		if r.IntN(3) == 0 {
			out[r.Name()] = r.Value(max(0, depth-1))
		}
		return out
	case []any:
		out := make([]any, 0, len(v)+1)
		for _, value := range v {
			switch r.IntN(8) {
			case 0:
			case 1:
				out = append(out, r.Value(max(0, depth-1)), value)
			default:
				out = append(out, r.Change(value, max(0, depth-1)))
			}
		}
		if r.IntN(4) == 0 {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// ChangeObject is Change for an object, and returns an object.
func (r *Source) ChangeObject(v map[string]any, depth int) map[string]any {
	for {
		if object, ok := r.Change(v, depth).(map[string]any); ok {
			return object
		}
	}
}

package patch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// applyOps builds a JSON patch and applies it.
func applyOps(t *testing.T, doc string, ops ...patch.Op) (string, error) {
	t.Helper()
	body, err := patch.JSON(ops...).Body()
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.ApplyJSON([]byte(doc), body)
	return string(got), err
}

// chance makes documents that resemble each other.
type chance struct {
	*rand.Rand
	nulls bool // as members, too
}

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 5)), true} }

func (r chance) name() string {
	return []string{"a", "b", "name", "key", "type", "a/b", "m~n", "", "é", "é", "\"\\\n", "0", "-", "x y"}[r.IntN(14)]
}

func (r chance) scalar() any {
	switch r.IntN(6) {
	case 0:
		return true
	case 1:
		return json.Number([]string{"0", "1", "1.0", "1e0", "-0", "9007199254740993", "1e400", "0.1"}[r.IntN(8)])
	case 2:
		return json.Number(fmt.Sprint(r.IntN(3)))
	default:
		return r.name()
	}
}

func (r chance) value(depth int) any {
	switch n := r.IntN(10); {
	case depth > 0 && n < 4:
		return r.object(depth - 1)
	case depth > 0 && n < 7:
		list := make([]any, r.IntN(6))
		for i := range list {
			if list[i] = r.value(depth - 1); r.IntN(8) == 0 {
				list[i] = nil
			}
		}
		return list
	case n == 9 && r.nulls:
		return nil
	}
	return r.scalar()
}

func (r chance) object(depth int) map[string]any {
	object := make(map[string]any)
	for range r.IntN(6) {
		object[r.name()] = r.value(depth)
	}
	return object
}

// change returns the value with some of it changed, in a copy.
func (r chance) change(v any, depth int) any {
	if r.IntN(8) == 0 {
		return r.value(depth)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) { // or a seed would not say all
			if r.IntN(8) > 0 {
				out[name] = r.change(v[name], depth-1)
			}
		}
		if r.IntN(3) == 0 {
			out[r.name()] = r.value(max(0, depth-1))
		}
		return out
	case []any:
		out := make([]any, 0, len(v)+1)
		for _, value := range v {
			switch r.IntN(8) {
			case 0:
			case 1:
				out = append(out, r.value(max(0, depth-1)), value)
			default:
				out = append(out, r.change(value, max(0, depth-1)))
			}
		}
		if r.IntN(4) == 0 {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// changeObject is change for an object, which it stays.
func (r chance) changeObject(v map[string]any, depth int) map[string]any {
	for {
		if object, ok := r.change(v, depth).(map[string]any); ok {
			return object
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// isSame compares two documents by a test operation.
func isSame(t *testing.T, a, b []byte) bool {
	t.Helper()
	_, err := applyOps(t, string(a), patch.Test("", json.RawMessage(b)))
	return err == nil
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

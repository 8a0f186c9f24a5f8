package meta_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/meta"
)

func sample() map[string]any {
	return map[string]any{
		"spec": map[string]any{
			"replicas": int64(3),
			"big":      int64(1<<53 + 1),
			"huge":     json.Number("18446744073709551616"),
			"ratio":    0.5,
			"whole":    5.0,
			"name":     "x",
			"paused":   true,
			"nothing":  nil,
			"args":     []any{"a", "b"},
			"ports":    []any{int64(80), int64(443)},
			"mixed":    []any{"a", int64(1)},
			"labels":   map[string]any{"a": "1"},
			"when":     "2024-05-06T07:08:09Z",
			"data":     "aGVsbG8=",
			"items":    []any{map[string]any{"name": "first"}},
			"goInt":    7,
			"goLabels": map[string]string{"b": "2"},
		},
	}
}

func nested[V any](path ...string) func(map[string]any) (any, bool, error) {
	return func(obj map[string]any) (any, bool, error) { return meta.Nested[V](obj, path...) }
}

// behaviour 34
func TestNested(t *testing.T) {
	type phase string
	tests := []struct {
		name  string
		read  func(map[string]any) (any, bool, error)
		want  any
		found bool
		err   string
	}{
		{"a string", nested[string]("spec", "name"), "x", true, ""},
		{"a string of a type of one's own", nested[phase]("spec", "name"), phase("x"), true, ""},
		{"a boolean", nested[bool]("spec", "paused"), true, true, ""},
		{"an integer", nested[int64]("spec", "replicas"), int64(3), true, ""},
		{"an integer as any other", nested[int32]("spec", "replicas"), int32(3), true, ""},
		{"an integer as an unsigned one", nested[uint8]("spec", "replicas"), uint8(3), true, ""},
		{"an integer as a float", nested[float64]("spec", "replicas"), 3.0, true, ""},
		{"2^53+1 is exact", nested[int64]("spec", "big"), int64(9007199254740993), true, ""},
		{
			"an integer beyond int64 as text", nested[json.Number]("spec", "huge"),
			json.Number("18446744073709551616"), true, "",
		},
		{"an integer as text", nested[json.Number]("spec", "big"), json.Number("9007199254740993"), true, ""},
		{"a float", nested[float64]("spec", "ratio"), 0.5, true, ""},
		{"a whole float as an integer", nested[int]("spec", "whole"), 5, true, ""},
		{"a Go int that was put there", nested[int64]("spec", "goInt"), int64(7), true, ""},
		{"strings", nested[[]string]("spec", "args"), []string{"a", "b"}, true, ""},
		{"numbers", nested[[]uint16]("spec", "ports"), []uint16{80, 443}, true, ""},
		{"a map of strings", nested[map[string]string]("spec", "labels"), map[string]string{"a": "1"}, true, ""},
		{
			"a map of strings that Go code put there", nested[map[string]any]("spec", "goLabels"),
			map[string]any{"b": "2"},
			true, "",
		},
		{"a string in such a map", nested[string]("spec", "goLabels", "b"), "2", true, ""},
		{"objects", nested[[]map[string]any]("spec", "items"), []map[string]any{{"name": "first"}}, true, ""},
		{"base64 data", nested[[]byte]("spec", "data"), []byte("hello"), true, ""},
		{
			"a type that decodes itself", nested[meta.Time]("spec", "when"),
			meta.Time{Time: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).Local()},
			true, "",
		},
		{"anything", nested[any]("spec", "args"), []any{"a", "b"}, true, ""},
		{"the object itself", nested[map[string]any](), sample(), true, ""},
		{"a missing field", nested[string]("spec", "none"), "", false, ""},
		{"a missing field on the way", nested[string]("none", "of", "these"), "", false, ""},
		{"names are case-sensitive", nested[string]("spec", "Name"), "", false, ""}, // behaviour 30
		{"there is no syntax for elements", nested[string]("spec", "items[0]"), "", false, ""},
		{"null is found, as nil", nested[any]("spec", "nothing"), nil, true, ""},
		{"null is found, as the zero value", nested[string]("spec", "nothing"), "", true, ""},
		{"null is found, as no list", nested[[]string]("spec", "nothing"), []string(nil), true, ""},
		{
			"null on the way", nested[string]("spec", "nothing", "deeper"), "", false,
			"read spec.nothing.deeper: spec.nothing is null, not an object",
		},
		{
			"a string on the way", nested[string]("spec", "name", "deeper"), "", false,
			"spec.name is a string, not an object",
		},
		{
			"a number on the way", nested[string]("spec", "goInt", "deeper"), "", false,
			"spec.goInt is a number, not an object",
		},
		{"an array on the way", nested[string]("spec", "items", "0"), "", false, "spec.items is an array, not an object"},
		{
			"a string that is none", nested[string]("spec", "replicas"), "", false,
			"read spec.replicas: it is a number, not string",
		},
		{"a number that is none", nested[int]("spec", "name"), 0, false, "it is a string, not int"},
		{
			"an object that is none", nested[map[string]any]("spec", "args"), map[string]any(nil), false,
			"it is an array, not map",
		},
		{
			"a list that is none", nested[[]string]("spec", "labels"), []string(nil), false,
			"it is an object, not []string",
		},
		{
			"a list with an element that is none", nested[[]string]("spec", "mixed"), []string(nil), false,
			"element 1: it is a number",
		},
		{"a map with a value that is none", nested[map[string]string]("spec"), map[string]string(nil), false, `field "`},
		{
			"a number that does not fit", nested[int32]("spec", "big"), int32(0), false,
			"9007199254740993 does not fit int32",
		},
		{"a negative bound", nested[uint]("spec", "ratio"), uint(0), false, "0.5 does not fit uint"},
		{"an integer beyond int64", nested[int64]("spec", "huge"), int64(0), false, "does not fit int64"},
		{"an integer beyond uint64", nested[uint64]("spec", "huge"), uint64(0), false, "does not fit uint64"},
		{"a struct", nested[struct{ A string }]("spec", "labels"), struct{ A string }{}, false, "not struct"},
		{"data that is no base64", nested[[]byte]("spec", "name"), []byte(nil), false, "not base64"},
		{"a time that is none", nested[meta.Time]("spec", "name"), meta.Time{}, false, "RFC 3339"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := tt.read(sample())
			if found != tt.found || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, found %v; want %#v, %v", got, found, tt.want, tt.found)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
	cyclic := []any{nil}
	cyclic[0] = cyclic
	goValues := map[string]any{
		"uint": uint8(7), "max": uint64(math.MaxUint64), "float32": float32(0.1), "strings": []string{"a"}, "nil": []int(nil),
		"nilMap": map[string]int(nil), "func": t.Run, "cyclic": cyclic, "big": 1e300, "nan": math.NaN(),
	}
	for _, tt := range []struct {
		name  string
		read  func(map[string]any) (any, bool, error)
		want  any
		found bool
	}{
		{"a Go uint8", nested[int]("uint"), 7, true},
		{"a uint64 beyond int64", nested[uint64]("max"), uint64(math.MaxUint64), true},
		{"a uint64 beyond int64 as int64", nested[int64]("max"), int64(0), false},
		{"a float32 keeps its digits", nested[float64]("float32"), 0.1, true},
		{"Go strings as JSON", nested[[]any]("strings"), []any{"a"}, true},
		{"a nil slice", nested[[]string]("nil"), []string(nil), true},
		{"a nil map", nested[map[string]string]("nilMap"), map[string]string(nil), true},
		{"a function", nested[string]("func"), "", false},
		{"a function as a boolean", nested[bool]("func"), false, false},
		{"a function on the way", nested[bool]("func", "x"), false, false},
		{"a list that holds itself", nested[[][]string]("cyclic"), [][]string(nil), false},
		{"a number that is too large", nested[float32]("big"), float32(0), false},
		{"a whole number that no integer holds", nested[int64]("big"), int64(0), false},
		{"not a number", nested[int64]("nan"), int64(0), false},
		{"a function that would decode itself", nested[meta.Time]("func"), meta.Time{}, false},
	} {
		got, found, err := tt.read(goValues)
		if !reflect.DeepEqual(got, tt.want) || found != tt.found || (err == nil) != found {
			t.Errorf("%s: %#v, %v, %v; want %#v, %v", tt.name, got, found, err, tt.want, tt.found)
		}
	}
	if v, found, err := meta.Nested[string](map[string]any(nil), "a"); v != "" || found || err != nil {
		t.Errorf("in a nil object: %q, %v, %v", v, found, err)
	}
}

func TestSetNestedStoresWhatDecodingWouldGive(t *testing.T) {
	type phase string
	yes := true
	tests := []struct {
		name  string
		value any
		want  any
	}{
		{"an int", 1, int64(1)},
		{"an int8", int8(-1), int64(-1)},
		{"an int16", int16(1), int64(1)},
		{"an int32", int32(1), int64(1)},
		{"an int64", int64(math.MinInt64), int64(math.MinInt64)},
		{"a uint", uint(1), int64(1)},
		{"a uint8", uint8(1), int64(1)},
		{"a uint16", uint16(1), int64(1)},
		{"a uint32", uint32(1), int64(1)},
		{"a uint64", uint64(1), int64(1)},
		{"a uintptr", uintptr(1), int64(1)},
		{"a uint64 beyond int64", uint64(math.MaxUint64), json.Number("18446744073709551615")},
		{"an integer of a type of one's own", time.Duration(5), int64(5)},
		{"a float64", 0.25, 0.25},
		{"a float32 keeps its digits", float32(0.1), 0.1},
		{"a number as text", json.Number("12"), int64(12)},
		{"a string", "x", "x"},
		{"a string with what JSON escapes", "<&>\u2028", "<&>\u2028"},
		{"a string of a type of one's own", phase("x"), "x"},
		{"nil", nil, nil},
		{"a nil pointer", (*int)(nil), nil},
		{"a nil map", map[string]any(nil), nil},
		{"a nil slice", []string(nil), nil},
		{"a pointer", &yes, true},
		{"strings", []string{"a"}, []any{"a"}},
		{"a map of integers", map[string]int{"a": 1}, map[string]any{"a": int64(1)}},
		{"integers deep inside", map[string]any{"a": []any{1, uint8(2)}}, map[string]any{"a": []any{int64(1), int64(2)}}},
		{"bytes", []byte("hello"), "aGVsbG8="},
		{
			"a struct",
			meta.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "a", UID: "u", Controller: &yes},
			map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u", "controller": true},
		},
		{"a time", meta.Time{Time: time.Unix(0, 0)}, "1970-01-01T00:00:00Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := map[string]any{}
			if err := meta.SetNested(obj, tt.value, "a", "b", "c"); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"a": map[string]any{"b": map[string]any{"c": tt.want}}}
			if !reflect.DeepEqual(obj, want) {
				t.Errorf("got %#v, want %#v", obj, want)
			}
		})
	}
}

func TestSetNestedFailsWithoutAPanicAndWithoutAChange(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	tests := []struct {
		name  string
		value any
		path  []string
		want  string
	}{
		{"no path", 1, nil, "the path must not be empty"},
		{"a string on the way", 1, []string{"spec", "name", "x"}, "spec.name is a string, not an object"},
		{"a string early on the way", 1, []string{"spec", "name", "x", "y"}, "spec.name is a string, not an object"},
		{"an array on the way", 1, []string{"spec", "args", "0"}, "spec.args is an array, not an object"},
		{
			"a map of strings early on the way", 1,
			[]string{"spec", "goLabels", "b", "c"},
			"spec.goLabels is a map[string]string, which cannot hold an object",
		},
		{"not a number", math.NaN(), []string{"spec", "x"}, "JSON has no number"},
		{"infinity inside a list", []any{math.Inf(1)}, []string{"spec", "x"}, "JSON has no number"},
		{"a function", func() {}, []string{"spec", "x"}, "set spec.x"},
		{"a channel", make(chan int), []string{"spec", "x"}, "set spec.x"},
		{"a complex number", 1i, []string{"spec", "x"}, "set spec.x"},
		{"a value that contains itself", cyclic, []string{"spec", "x"}, "nested more than"},
		{"text that is no number", json.Number("abc"), []string{"spec", "x"}, "set spec.x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := sample()
			err := meta.SetNested(obj, tt.value, tt.path...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if !reflect.DeepEqual(obj, sample()) {
				t.Errorf("the object changed to %v", obj)
			}
		})
	}
	if meta.SetNested(map[string]any(nil), 1, "a") == nil || meta.SetNested((*meta.Unstructured)(nil), 1, "a") == nil {
		t.Error("a nil object is accepted")
	}
	var none meta.Unstructured
	if err := meta.SetNested(&none, make(chan int), "a"); err == nil || none.Object != nil {
		t.Errorf("an Unstructured was set to %v, %v", none.Object, err)
	}
}

func TestSetNestedCreatesMissingMaps(t *testing.T) {
	obj := map[string]any{
		"null": nil, "nilmap": map[string]any(nil), "strings": map[string]string{"a": "1"}, "there": map[string]any{"a": "1"},
	}
	for _, path := range [][]string{
		{"null", "b"}, {"nilmap", "b"}, {"strings", "b"}, {"there", "b"}, {"new", "b", "c"}, {"top"},
	} {
		if err := meta.SetNested(obj, 1, path...); err != nil {
			t.Fatal(err)
		}
	}
	one := int64(1)
	want := map[string]any{
		"null": map[string]any{"b": one}, "nilmap": map[string]any{"b": one},
		"strings": map[string]any{"a": "1", "b": one},
		"there":   map[string]any{"a": "1", "b": one}, "new": map[string]any{"b": map[string]any{"c": one}}, "top": one,
	}
	if !reflect.DeepEqual(obj, want) {
		t.Errorf("got %v, want %v", obj, want)
	}
}

func TestSetNestedCopiesTheValue(t *testing.T) {
	value := map[string]any{"list": []any{"a"}}
	obj := map[string]any{}
	if err := meta.SetNested(obj, value, "x"); err != nil {
		t.Fatal(err)
	}
	value["list"].([]any)[0] = "changed"
	value["more"] = 1
	if want := map[string]any{"x": map[string]any{"list": []any{"a"}}}; !reflect.DeepEqual(obj, want) {
		t.Errorf("got %v, want %v", obj, want)
	}
}

func TestRemoveNested(t *testing.T) {
	obj := sample()
	tests := []struct {
		path []string
		want bool
	}{
		{[]string{"spec", "name"}, true},
		{[]string{"spec", "name"}, false},
		{[]string{"spec", "nothing"}, true},
		{[]string{"spec", "goLabels", "b"}, true},
		{[]string{"spec", "args", "0"}, false},
		{[]string{"none", "x"}, false},
		{nil, false},
		{[]string{"spec"}, true},
	}
	for _, tt := range tests {
		if got := meta.RemoveNested(obj, tt.path...); got != tt.want {
			t.Errorf("RemoveNested(%q) = %v, want %v", tt.path, got, tt.want)
		}
	}
	if len(obj) != 0 {
		t.Errorf("left is %v", obj)
	}
	if meta.RemoveNested((*meta.Unstructured)(nil), "a") {
		t.Error("removed from a nil object")
	}
}

func FuzzNested(f *testing.F) {
	f.Add([]byte(`{"a":{"b":1}}`), "a", "b", int64(5), uint64(math.MaxUint64), 0.5)
	f.Add([]byte(`{"a":null}`), "a", "b", int64(-1), uint64(1), math.NaN())
	f.Add([]byte(`{"a":[{"b":9007199254740993}]}`), "a", "", int64(0), uint64(0), 1e300)
	f.Fuzz(func(t *testing.T, raw []byte, first, second string, i int64, u uint64, x float64) {
		var obj meta.Unstructured
		if err := obj.UnmarshalJSON(raw); err != nil || obj.Object == nil {
			return
		}
		if !utf8.ValidString(first) || !utf8.ValidString(second) { // encoding changes such a name
			return
		}
		meta.Nested[any](obj.Object, first, second)
		meta.Nested[int32](obj.Object, first, second)
		meta.Nested[[]string](obj.Object, first)
		meta.Nested[map[string]string](obj.Object, first)
		for _, value := range []any{
			i, u, x, int8(i), uint32(u), float32(x), second, []int64{i}, map[string]uint64{first: u},
		} {
			c := meta.Clone(obj)
			if meta.SetNested(&c, value, first, second) != nil {
				if !reflect.DeepEqual(c, obj) {
					t.Fatalf("a failed set changed %v to %v", obj, c)
				}
				continue
			}
			if _, found, err := meta.Nested[any](c.Object, first, second); !found || err != nil {
				t.Fatalf("what was set is not there: %v", err)
			}
			out, err := c.MarshalJSON()
			if err != nil {
				t.Fatalf("what was set does not encode: %v", err)
			}
			var again meta.Unstructured
			if err := again.UnmarshalJSON(out); err != nil {
				t.Fatal(err)
			}
			if _, ok := value.(int64); ok {
				if back, _, err := meta.Nested[int64](again.Object, first, second); back != i || err != nil {
					t.Fatalf("%d became %d, %v", i, back, err)
				}
			}
			if _, ok := value.(uint64); ok {
				if back, _, err := meta.Nested[uint64](again.Object, first, second); back != u || err != nil {
					t.Fatalf("%d became %d, %v", u, back, err)
				}
			}
			if !meta.RemoveNested(c.Object, first, second) {
				t.Fatal("what was set cannot be removed")
			}
		}
	})
}

// attributes is a map type of a user's.
type attributes map[string]any

func TestNestedReadsObjectsOfEveryForm(t *testing.T) {
	of := map[string]any{"spec": map[string]any{"size": "7"}}
	raw := new(meta.Raw)
	if err := json.Unmarshal([]byte(`{"spec":{"size":"7"}}`), raw); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(path ...string) (string, bool, error){
		"a map":      func(path ...string) (string, bool, error) { return meta.Nested[string](of, path...) },
		"a map type": func(path ...string) (string, bool, error) { return meta.Nested[string](attributes(of), path...) },
		"an Unstructured": func(path ...string) (string, bool, error) {
			return meta.Nested[string](&meta.Unstructured{Object: of}, path...)
		},
		"a Raw": func(path ...string) (string, bool, error) { return meta.Nested[string](raw, path...) },
	} {
		if got, found, err := read("spec", "size"); got != "7" || !found || err != nil {
			t.Errorf("%s: got %q, %v, %v", name, got, found, err)
		}
		if got, found, err := read("spec", "none"); got != "" || found || err != nil {
			t.Errorf("%s: found %q, %v, %v where there is nothing", name, got, found, err)
		}
		if _, _, err := read("spec"); err == nil {
			t.Errorf("%s: an object is a string", name)
		}
	}
	if _, found, err := meta.Nested[string]((*meta.Unstructured)(nil), "spec"); found || err != nil {
		t.Errorf("nil: %v, %v", found, err)
	}
	if _, found, err := meta.Nested[string](attributes(nil), "spec"); found || err != nil {
		t.Errorf("nil: %v, %v", found, err)
	}
}

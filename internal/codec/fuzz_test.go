package codec_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// everything has the shapes of the zoo in one object.
type everything struct {
	Scalars    scalars      `json:"scalars"`
	Pointers   *pointers    `json:"pointers"`
	Optional   optional     `json:"optional"`
	Bytes      bytesAll     `json:"bytes"`
	Composites composites   `json:"composites"`
	Times      times        `json:"times"`
	Embedded   embedded     `json:"embedded"`
	Recursive  []*recursive `json:"recursive"`
	Methods    methods      `json:"methods"`
	Sloppy     sloppy       `json:"sloppy"`
	Any        any          `json:"any"`
}

// FuzzUnmarshal compares with encoding/json (guarantee S25). As that merges duplicates and ignores case in structs, it
// gets the document without duplicates, and documents with names that differ only in case are left out there.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"scalars":{"string":"\ud83d\u0041","int":-1,"float64":1e3},"any":[{"a":1,"a":2}],` +
		`"sloppy":{"nested":{"c":"1"}}}`))
	f.Add([]byte(`{"pointers":{"int32":5,"struct":{}},"bytes":{"bytes":"AQID","array":[1,2]},` +
		`"times":{"time":"2026-09-14T08:21:30Z","duration":5}}`))
	f.Add([]byte(`{"embedded":{"kind":"K","metadata":{"name":"a"},"name":"b","depth":"d"},` +
		`"methods":{"json":{"x":[]},"keys":{"k":"v"}},"recursive":[{"next":{"name":"n"}}]}`))
	f.Add([]byte(`{"composites":{"intKeys":{"1":"x"},"arrays":[["a"],["b","c"]],"maps":{"k":{"uint8":255}}}}`))
	for _, value := range values {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		original := bytes.Clone(raw)
		got, err := codec.Unmarshal[any](raw)
		var want any
		wantErr := json.Unmarshal(raw, &want)
		if want == nil && wantErr == nil {
			if err == nil {
				t.Fatalf("null gives %v", got)
			}
			return
		}
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("got %#v, %v; want %#v, %v", got, err, want, wantErr)
		}
		if !bytes.Equal(raw, original) {
			t.Fatalf("the input was changed to %q", raw)
		}

		typed, err := codec.Unmarshal[*everything](raw)
		var value any
		if decodeNumbers(raw, &value) != nil || !json.Valid(raw) {
			if err == nil {
				t.Fatal("accepted what is not JSON")
			}
			return
		}
		if caseVariant(value, slices.Concat(memberNames(reflect.TypeFor[everything](), map[reflect.Type]bool{}), zooNames())) {
			return
		}
		once, marshalErr := json.Marshal(value)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		wantTyped := new(everything)
		wantErr = json.Unmarshal(once, wantTyped)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("got %v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		// Raw text and what UnmarshalJSON gets is that of the document, with its escapes and white space.
		a, errA := json.Marshal(typed)
		b, errB := json.Marshal(wantTyped)
		if (errA == nil) != (errB == nil) || !reflect.DeepEqual(anyOf(a), anyOf(b)) {
			t.Fatalf("got\n%s, %v; want\n%s, %v", a, errA, b, errB)
		}
		if encoded, err := codec.Marshal(typed, "", ""); (err == nil) != (errA == nil) || !bytes.Equal(encoded, a) {
			t.Fatalf("encoded to\n%s, %v; want\n%s", encoded, err, a)
		}
	})
}

// decodeNumbers decodes with encoding/json and keeps numbers as they are spelt.
func decodeNumbers(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func anyOf(raw []byte) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}

// zooNames lists the names of all members in the zoo.
func zooNames() (names []string) {
	for _, t := range []reflect.Type{
		reflect.TypeFor[scalars](), reflect.TypeFor[pointers](), reflect.TypeFor[optional](), reflect.TypeFor[bytesAll](),
		reflect.TypeFor[composites](),
		reflect.TypeFor[times](), reflect.TypeFor[embedded](), reflect.TypeFor[recursive](), reflect.TypeFor[methods](),
		reflect.TypeFor[sloppy](),
		reflect.TypeFor[sloppy2](), reflect.TypeFor[pod](), reflect.TypeFor[document](),
	} {
		names = append(names, memberNames(t, map[reflect.Type]bool{})...)
	}
	names = append(names, memberNames(reflect.TypeFor[meta.OwnerReference](), map[reflect.Type]bool{})...)
	return append(names, memberNames(reflect.TypeFor[meta.ManagedFields](), map[reflect.Type]bool{})...)
}

// caseVariant reports whether a name in v is one of names but for its case.
func caseVariant(v any, names []string) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			variant := func(name string) bool { return name != k && strings.EqualFold(name, k) }
			if slices.ContainsFunc(names, variant) || caseVariant(e, names) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return caseVariant(e, names) })
	}
	return false
}

// FuzzMarshal checks that a kind and an apiVersion are there afterwards, and the rest is as before.
func FuzzMarshal(f *testing.F) {
	for _, seed := range []string{`{}`, `{"kind":"Pod"}`, `{"kind":"","apiVersion":null,` +
		`"a":[{}]}`, `{"k\u0069nd":"Pod","kind":""}`, `{"kind":5}`, `[]`, ` { "a" : 1 , "apiVersion" : "v1" } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := codec.Marshal(json.RawMessage(raw), "v1", "Pod")
		if err != nil {
			return
		}
		var before, after map[string]any
		if err := decodeNumbers(got, &after); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := decodeNumbers(raw, &before); err != nil {
			t.Fatalf("accepted %q", raw)
		}
		if after["kind"] != "Pod" || after["apiVersion"] != "v1" {
			t.Fatalf("got %s", got)
		}
		before["kind"], before["apiVersion"] = "Pod", "v1"
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("got %v, want %v", after, before)
		}
	})
}

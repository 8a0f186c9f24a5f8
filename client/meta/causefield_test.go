package meta_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestTheFieldOfACauseLeadsToThePointerAndTheValue(t *testing.T) {
	var obj meta.Unstructured
	if err := json.Unmarshal([]byte(`{"metadata":{"labels":{"a.b/c":"x","a~b":"y","p]q":"z","":"empty"}},"spec":{"containers":[{"image":"i"},{"image":7}],
		"a":{"b":1},"a.b":{"c":2},"x[0]":3,"null":null,"limits":{"cpu":"1"},"m":{"0":"zero"}}}`), &obj); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ field, pointer, value string }{
		{"spec.containers[0].image", "/spec/containers/0/image", "i"},
		{"spec.containers[1].image", "/spec/containers/1/image", "7"},
		{"spec.containers[1]", "/spec/containers/1", "map[image:7]"},
		{"metadata.labels[a.b/c]", "/metadata/labels/a.b~1c", "x"},
		{"metadata.labels.a.b/c", "/metadata/labels/a.b~1c", "x"}, // the object says that it is one name
		{"metadata.labels[a~b]", "/metadata/labels/a~0b", "y"},
		{"metadata.labels[p]q]", "/metadata/labels/p]q", "z"},
		{"metadata.labels[]", "/metadata/labels/", "empty"},
		{"spec.limits[cpu]", "/spec/limits/cpu", "1"},
		{"spec.m[0]", "/spec/m/0", "zero"},
		{"spec.a.b", "/spec/a/b", "1"},
		{"spec.a.b.c", "/spec/a.b/c", "2"},
		{"spec.x[0]", "/spec/x[0]", "3"},
		{"spec.null", "/spec/null", "<nil>"},
		{"<nil>", "", "map"},
		// what the object lacks
		{"spec.containers[2].image", "/spec/containers/2/image", ""},
		{"spec.containers[01].image", "/spec/containers/01/image", ""},
		{"spec.containers[-1]", "/spec/containers/-1", ""},
		{"spec.containers.0", "/spec/containers/0", ""},
		{"spec.missing.deep[k.l].m", "/spec/missing/deep/k.l/m", ""},
		{"spec.containers[0].image.deep", "/spec/containers/0/image/deep", ""},
		{"[0].x", "/0/x", ""},
		{"metadata.labels[q]r[s]", "/metadata/labels/q]r[s", ""},
	} {
		cause := meta.StatusCause{Field: test.field}
		pointer, err := cause.Pointer(&obj)
		if test.field == "metadata.labels[q]r[s]" { // nothing says where the first name ends
			test.pointer = pointer
		}
		if err != nil || pointer != test.pointer {
			t.Errorf("%s is %q, %v; want %q", test.field, pointer, err, test.pointer)
		}
		value, found, err := cause.Value(&obj)
		if err != nil || found != (test.value != "") || found && !strings.HasPrefix(fmt.Sprint(value), test.value) {
			t.Errorf("%s has %v, %v, %v; want %s", test.field, value, found, err, test.value)
		}
	}
	for field, want := range map[string]string{"spec.containers[0].image": "/spec/containers/0/image", "a[b.c].d": "/a/b.c/d", "a.b": "/a/b", "<nil>": "", "a[b]c]": "/a/b]c"} {
		if pointer, err := (meta.StatusCause{Field: field}).Pointer(nil); err != nil || pointer != want {
			t.Errorf("without an object %s is %q, %v", field, pointer, err)
		}
	}
	for field, want := range map[string]string{"": "the cause has no field", "a[b": "not closed", "a..b": "empty name", ".a": "empty name", "a.": "empty name", "a.[0]": "empty name", "[": "not closed"} {
		cause := meta.StatusCause{Field: field}
		if pointer, err := cause.Pointer(&obj); err == nil || !strings.Contains(err.Error(), want) || pointer != "" {
			t.Errorf("%q is %q, %v; want an error with %s", field, pointer, err, want)
		}
		if value, found, err := cause.Value(&obj); err == nil || found || value != nil {
			t.Errorf("%q has %v, %v, %v", field, value, found, err)
		}
	}
	if _, err := (meta.StatusCause{Field: "a"}).Pointer(math.NaN()); err == nil || !strings.Contains(err.Error(), `read the field "a" of float64`) {
		t.Error(err)
	}
	if value, found, err := (meta.StatusCause{Field: "metadata.name"}).Value(&copied{ObjectMeta: meta.ObjectMeta{Name: "n"}}); value != "n" || !found || err != nil {
		t.Errorf("the name of a struct is %v, %v, %v", value, found, err)
	}
}

// A path that a server writes leads back to where it came from.
func FuzzCauseField(f *testing.F) {
	f.Add("spec", "a.b", "c]", 3)
	f.Add("x", "", "y[0]", 0)
	f.Fuzz(func(t *testing.T, name, key, inner string, index int) {
		if name == "" || inner == "" || strings.ContainsAny(name+inner, ".[]") || index < 0 || index > 5 {
			name, inner, index = "spec", "image", 2
		}
		text, err := json.Marshal([]string{name, key, inner})
		if err != nil || json.Unmarshal(text, &[]*string{&name, &key, &inner}) != nil {
			return
		}
		list := make([]any, 6)
		for i := range list {
			list[i] = map[string]any{inner: fmt.Sprint(i)}
		}
		obj := map[string]any{name: map[string]any{key: list}}
		cause := meta.StatusCause{Field: fmt.Sprintf("%s[%s][%d].%s", name, key, index, inner)}
		if value, found, err := cause.Value(obj); err != nil || !found || value != fmt.Sprint(index) {
			t.Fatalf("%q has %v, %v, %v", cause.Field, value, found, err)
		}
		if pointer, err := cause.Pointer(nil); err != nil || !strings.HasPrefix(pointer, "/") {
			t.Fatalf("%q is %q, %v", cause.Field, pointer, err)
		}
	})
}

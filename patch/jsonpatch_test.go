package patch_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

func TestJSONEncodesItsOperations(t *testing.T) {
	two := int32(2)
	p := patch.JSON(
		patch.Test("/metadata/resourceVersion", "41"),
		patch.Add(patch.Pointer("metadata", "annotations", "a/b~c"), "<&>\u2028"),
		patch.Replace("/spec/replicas", &two),
		patch.Replace("/spec/paused", nil),
		patch.Add("/x", raw(`{"n": 9007199254740993}`)),
		patch.Remove("/spec/\"quoted\""),
		patch.Move("/a", "/b"),
		patch.Copy("", "/c"),
	)
	want := `[{"op":"test","path":"/metadata/resourceVersion","value":"41"},` +
		`{"op":"add","path":"/metadata/annotations/a~1b~0c","value":"\u003c\u0026\u003e\u2028"},` +
		`{"op":"replace","path":"/spec/replicas","value":2},` +
		`{"op":"replace","path":"/spec/paused","value":null},` +
		`{"op":"add","path":"/x","value":{"n":9007199254740993}},` +
		`{"op":"remove","path":"/spec/\"quoted\""},` +
		`{"op":"move","from":"/a","path":"/b"},` +
		`{"op":"copy","from":"","path":"/c"}]`
	body, err := p.Body()
	if err != nil || string(body) != want {
		t.Errorf("got %s, %v", body, err)
	}
	if got := p.MediaType(); got != "application/json-patch+json" { // behaviour 327
		t.Errorf("media type is %q", got)
	}
	ops, err := patch.ParseOps(body)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := patch.JSON(ops...).Body(); err != nil || string(again) != want {
		t.Errorf("parsed and built again it is %s, %v", again, err)
	}
}

func TestInvalidOperationsAreNotSent(t *testing.T) {
	for _, test := range []struct {
		op   patch.Op
		want string
	}{
		{patch.Op{}, `patch: operation 1: op must be add, remove, replace, move, copy or test, got ""`},
		{patch.Replace("spec/replicas", 3), `patch: operation 1 (replace "spec/replicas"): pointer "spec/replicas" must be empty or start with a slash`},
		{patch.Copy("a", "/b"), `patch: operation 1 (copy "a"): pointer "a" must be empty or start with a slash`},
		{patch.Add("/a~b", 1), `patch: operation 1 (add "/a~b"): pointer "/a~b" must have 0 or 1 after each ~`},
		{patch.Remove(""), `patch: operation 1 (remove ""): the whole document cannot be removed`},
		{patch.Move("/a", "/a/b"), `patch: operation 1 (move "/a/b"): the value at "/a" cannot be moved into itself`}, // behaviour 313
		{patch.Move("", "/a"), `patch: operation 1 (move "/a"): the value at "" cannot be moved into itself`},
	} {
		p := patch.JSON(patch.Test("/a", 1), test.op)
		body, err := p.Body()
		if body != nil || err == nil || err.Error() != test.want || !errors.Is(err, patch.ErrMalformed) {
			t.Errorf("got %s, %v; want %s", body, err, test.want)
		}
		var wrong *patch.OpError
		if !errors.As(err, &wrong) || wrong.Index != 1 {
			t.Errorf("error is %#v", err)
		}
		if p.IsEmpty() || p.MediaType() != patch.JSONType || p.String() != test.want {
			t.Errorf("it is %v, empty %v", p, p.IsEmpty())
		}
	}
	_, err := patch.JSON(patch.Add("/a", func() {})).Body()
	if want := `patch: operation 0 (add "/a"): encode the value: json: unsupported type: func()`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAnOperationShowsNoValue(t *testing.T) {
	for op, want := range map[string]patch.Op{
		`add "/data/password"`:    patch.Add("/data/password", "s3cr3t"),
		`copy "/data/a" to "/b"`:  patch.Copy("/data/a", "/b"),
		`test "/data/password"`:   patch.Test("/data/password", "s3cr3t"),
		`remove "/data/password"`: patch.Remove("/data/password"),
	} {
		if got := fmt.Sprintf("%v %+v %#v %s", want, want, want, want); got != strings.Join(slices.Repeat([]string{op}, 4), " ") {
			t.Errorf("got %s, want %s", got, op)
		}
	}
	p := patch.JSON(patch.Add("/data/password", "s3cr3t"))
	if got := fmt.Sprintf("%v %#v", p, p); got != "application/json-patch+json (55 bytes) application/json-patch+json (55 bytes)" {
		t.Errorf("the patch is %s", got)
	}
	if got := fmt.Sprint(patch.Patch{}); got != "the zero Patch" {
		t.Errorf("the zero Patch is %s", got)
	}
}

func TestAPatchThatAsksForNothingIsEmpty(t *testing.T) {
	for _, test := range []struct {
		name  string
		p     patch.Patch
		empty bool
	}{
		{"a merge patch without members", patch.Merge(map[string]any{}), true},
		{"a merge patch", patch.Merge(map[string]any{"a": nil}), false},
		{"a merge patch that is an error", patch.Merge(1), false},
		{"no operation", patch.JSON(), true},
		{"a test", patch.JSON(patch.Test("/a", 1)), true},
		{"a test and a removal", patch.JSON(patch.Test("/a", 1), patch.Remove("/a")), false},
		{"the zero Patch", patch.Patch{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.p.IsEmpty(); got != test.empty {
				t.Errorf("it is %v", got)
			}
			if got := test.p.WithResourceVersion("41").IsEmpty(); got != test.empty {
				t.Errorf("with a resource version it is %v", got)
			}
		})
	}
}

// behaviour 319; without it there is none, as TestDiffMakesAMergePatch and TestJSONEncodesItsOperations show.
func TestAPatchCanHoldForOneResourceVersion(t *testing.T) {
	for _, test := range []struct {
		name    string
		p       patch.Patch
		version string
		want    string
		err     string
	}{
		{"a merge patch", patch.Merge(map[string]any{"a": 1}), "41", `{"a":1,"metadata":{"resourceVersion":"41"}}`, ""},
		{
			"a merge patch with metadata", patch.Merge(raw(`{"metadata":{"labels":{"a":null},"resourceVersion":"7"},"n":1.0}`)), "41",
			`{"metadata":{"labels":{"a":null},"resourceVersion":"41"},"n":1.0}`, "",
		},
		{"an empty merge patch", patch.Merge(raw(`{}`)), "41", `{"metadata":{"resourceVersion":"41"}}`, ""},
		{
			"a JSON patch", patch.JSON(patch.Remove("/a")), "41",
			`[{"op":"test","path":"/metadata/resourceVersion","value":"41"},{"op":"remove","path":"/a"}]`, "",
		},
		{"an empty JSON patch", patch.JSON(), "41", `[{"op":"test","path":"/metadata/resourceVersion","value":"41"}]`, ""},
		{"a version to be quoted", patch.Merge(raw(`{}`)), `"\`, `{"metadata":{"resourceVersion":"\"\\"}}`, ""},
		{"a version that is not UTF-8", patch.JSON(), "4\xff1", `[{"op":"test","path":"/metadata/resourceVersion","value":"4` + "\ufffd" + `1"}]`, ""},
		{"no version", patch.Merge(raw(`{}`)), "", "", "patch.WithResourceVersion: version must not be empty"},
		{
			"metadata that is removed", patch.Merge(raw(`{"metadata":null}`)), "41", "",
			"patch.WithResourceVersion: the patch's metadata must be an object",
		},
		{"a patch that is an error", patch.JSON(patch.Remove("a")), "41", "", `patch: operation 0 (remove "a"): pointer "a" must be empty or start with a slash`},
		{"the zero Patch", patch.Patch{}, "41", "", "patch: the zero Patch changes nothing and has no media type; use patch.Merge"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _ := test.p.Body()
			kept := string(before)
			p := test.p.WithResourceVersion(test.version)
			body, err := p.Body()
			if string(body) != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got %s, %v; want %s, %s", body, err, test.want, test.err)
			}
			if p.MediaType() != test.p.MediaType() {
				t.Errorf("media type is %q", p.MediaType())
			}
			if string(before) != kept {
				t.Errorf("the patch that it was made from is now %s", before)
			}
		})
	}
}

func TestParsedOperationsKeepTheirValues(t *testing.T) {
	text := []byte(`[ {"value": {"n": 1.50}, "op": "add", "path": "/a"} ]`)
	ops, err := patch.ParseOps(text)
	if err != nil {
		t.Fatal(err)
	}
	copy(text, make([]byte, len(text))) // they are the caller's own
	body, err := patch.JSON(ops...).Body()
	if want := `[{"op":"add","path":"/a","value":{"n":1.50}}]`; err != nil || string(body) != want {
		t.Errorf("got %s, %v; want %s", body, err, want)
	}
	if ops, err := patch.ParseOps([]byte(`[`)); ops != nil || err == nil || err.Error() != "patch: the JSON patch is not JSON: it ends too early" {
		t.Errorf("got %v, %v", ops, err)
	}
}

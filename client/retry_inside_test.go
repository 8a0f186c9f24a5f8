package client

import (
	"errors"
	"testing"
)

// behaviour 53: which writes cannot take effect twice, or have the same outcome twice, by what they send.
func TestWritesWithAPreconditionAreRecognized(t *testing.T) {
	const jsonPatch = "application/json-patch+json"
	for _, test := range []struct {
		name               string
		r                  outgoing
		pinned, idempotent bool
	}{
		{"an update", request{verb: "update", body: []byte(`{"metadata":{"name":"a"}}`)}, false, false},
		{"an update of a version", request{verb: "update", body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}, true, false},
		{"an update of an empty version", request{verb: "update", body: []byte(`{"metadata":{"resourceVersion":""}}`)}, false, false},
		{"a creation with a version", request{verb: "create", collection: true, body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}, false, false},
		{"a subresource that is created", request{verb: "create", body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}, false, false},
		{"a merge patch", request{verb: "patch", contentType: "application/merge-patch+json", body: []byte(`{"metadata":{"uid":"u"}}`)}, false, false},
		{"a merge patch of a version", request{verb: "patch", contentType: "application/merge-patch+json", body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}, true, false},
		{"a strategic patch of a version", request{verb: "patch", contentType: "application/strategic-merge-patch+json", body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}, true, false},
		{"a patch that is not JSON", request{verb: "patch", contentType: "application/x", body: []byte(`{`)}, false, false},
		{"a JSON patch", request{verb: "patch", contentType: jsonPatch, body: []byte(`[{"op":"add","path":"/a","value":1}]`)}, false, false},
		{"a JSON patch that begins with a test", request{verb: "patch", contentType: jsonPatch, body: []byte(
			`[{"op":"test","path":"/a","value":1},{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"remove","path":"/a"}]`,
		)}, true, false},
		{"a JSON patch that tests what it has set", request{verb: "patch", contentType: jsonPatch, body: []byte(
			`[{"op":"replace","path":"/metadata/resourceVersion","value":"7"},{"op":"test","path":"/metadata/resourceVersion","value":"7"}]`,
		)}, false, false},
		{"a JSON patch that tests for nothing", request{verb: "patch", contentType: jsonPatch, body: []byte(`[{"op":"test","path":"/metadata/resourceVersion","value":""}]`)}, false, false},
		{"a JSON patch that is none", request{verb: "patch", contentType: jsonPatch, body: []byte(`{}`)}, false, false},
		{"an apply", request{verb: "patch", contentType: "application/apply-patch+yaml", body: []byte(`{}`)}, false, true},
		{"a deletion", request{verb: "delete", body: []byte(`{"kind":"DeleteOptions"}`)}, false, false},
		{"a deletion without a body", request{verb: "delete"}, false, false},
		{"a deletion of a uid", request{verb: "delete", body: []byte(`{"preconditions":{"uid":"u"}}`)}, true, false},
		{"a deletion of everything", request{verb: "delete", collection: true, body: []byte(`{"preconditions":{"uid":"u"}}`)}, false, false},
		{"a dry deletion", request{verb: "delete", body: []byte(`{"dryRun":["All"]}`)}, false, true},
		{"a dry creation", request{verb: "create", collection: true, query: map[string][]string{"dryRun": {"All"}}}, false, true},
		{"a raw update of a version", rawRequest{RawRequest{Method: "PUT", Body: []byte(`{"metadata":{"resourceVersion":"7"}}`)}}, false, false},
	} {
		if got := test.r.isRepeatable(true); got != test.idempotent {
			t.Errorf("%s may be repeated: %v", test.name, got)
		}
		if got := test.r.isRepeatable(false); got != (test.pinned || test.idempotent) {
			t.Errorf("%s may be repeated if it was not answered: %v", test.name, got)
		}
		if q, ok := test.r.(request); ok && q.isPinned() != test.pinned {
			t.Errorf("%s has a precondition: %v", test.name, !test.pinned)
		}
	}
}

// The same error is the same to a person although its text differs, and what is wrapped differs although it is not the same.
func TestErrorsAreComparedWithoutStreamIDs(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	if alike(a, b) || !alike(a, errors.New("a")) || !alike(errors.New("stream error: stream ID 1; x"), errors.New("stream error: stream ID 3; x")) {
		t.Error("what is alike is not what it should be")
	}
}

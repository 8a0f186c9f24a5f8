package meta_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 341
func TestStatusOnTheWire(t *testing.T) {
	const text = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"Pod \"a\" is invalid: spec.containers: Required value","reason":"Invalid",` +
		`"details":{"name":"a","group":"g","kind":"Pod","uid":"u","causes":[` +
		`{"reason":"FieldValueRequired","message":"Required value","field":"spec.containers"}],"retryAfterSeconds":3},"code":422}`
	want := meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: "Invalid", Code: 422,
		Message: `Pod "a" is invalid: spec.containers: Required value`,
		Details: &meta.StatusDetails{
			Name: "a", Group: "g", Kind: "Pod", UID: "u", RetryAfterSeconds: 3,
			Causes: []meta.StatusCause{{Reason: "FieldValueRequired", Message: "Required value", Field: "spec.containers"}},
		},
	}
	var got meta.Status
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decoded %+v, %v; want %+v", got, err, want)
	}
	if out, err := json.Marshal(want); err != nil || string(out) != text {
		t.Errorf("encoded %s, %v; want %s", out, err, text)
	}
}

package meta_test

import (
	"encoding/json"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// A name was taken for what is written in the JSON, so that `a\b`, an a and a backspace there, was found as an a, a backslash
// and a b, and the field that has this name was not.
func TestNamesAreComparedAsTheyRead(t *testing.T) {
	var r meta.Raw
	if err := json.Unmarshal([]byte(`{"data":{"a\\b":"backslash","a\b":"backspace","\u0063":"escaped"}}`), &r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{`a\b`: "backslash", "a\b": "backspace", "c": "escaped"} {
		if got, _, err := meta.Nested[string](&r, "data", name); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
	if got, found, err := meta.Nested[string](&r, "data", `\u0063`); found || err != nil {
		t.Errorf("a name that is not there is %q, %v", got, err)
	}
}

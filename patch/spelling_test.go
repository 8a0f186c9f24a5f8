package patch_test

import (
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// An API server compares the value of a test with its own text of the object. A guarded patch of an object whose JSON was
// written by somebody else failed there on each of these letters.
func TestTheValueOfATestIsWrittenAsTheServerWritesIt(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"letters that need no escape", `"\u0061\/é"`, `"a/é"`},
		{"letters of HTML", `"<a>&"`, `"\u003ca\u003e\u0026"`},
		{"letters of HTML, escaped", `"\u003C"`, `"\u003c"`},
		{"line separators", "\"\u2028\\u2029\"", `"\u2028\u2029"`},
		{"control characters", `"\u0008\u000c\u000a\u000D\t\u0000\u007f"`, "\"\\b\\f\\n\\r\\t\\u0000\x7f\""},
		{"bytes that are not Unicode", "\"\xff\\ud800\"", `"` + "\ufffd\ufffd" + `"`},
		{"a quote and a backslash", `"\"\\\u0022\\u003c<"`, `"\"\\\"\\u003c\u003c"`},
		{"in an object and a list", `{"<":["é",1.0,{"a\/b":null}]}`, `{"\u003c":["é",1.0,{"a/b":null}]}`},
		{"no string", `1.50`, `1.50`},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := `[{"op":"test","path":"/a","value":` + test.want + `}]`
			body, err := patch.JSON(patch.Test("/a", raw(test.value))).Body()
			if err != nil || string(body) != want {
				t.Errorf("got %s, %v; want %s", body, err, want)
			}
			want = `[{"op":"test","path":"/a","value":` + test.want + `},{"op":"remove","path":"/a"}]`
			body, err = patch.DiffGuarded(raw(`{"a":`+test.value+`}`), raw(`{}`)).Body()
			if err != nil || string(body) != want {
				t.Errorf("guarded it is %s, %v; want %s", body, err, want)
			}
		})
	}
}

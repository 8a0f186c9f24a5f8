package jsontree

import (
	"encoding/json"
	"testing"
)

// JSON is read as by the reader for JSON, and whatever can be read makes a value that can be written.
func FuzzParseYAML(f *testing.F) {
	for _, doc := range []string{
		`{"a":[1,2.50,null,true,"x"]}`, "a: b\nc:\n- d\n- e: f\n", "a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", "- yes\n- 0x10\n- 1_000\n- !!binary aGk=\n",
		"a: &a [*a]", "? [a]\n: b\n", "~: x", "", "\t", "{", "a: .inf", "a: 99999999999999999999", "a: b\n---\nc: d\n",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, _, err := ParseYAML(doc)
		if err != nil {
			return
		}
		b := Append(nil, v)
		if !json.Valid(b) {
			t.Fatalf("%q becomes %q", doc, b)
		}
		if again, _, err := ParseYAML(b); err != nil || !Equal(again, v) {
			t.Fatalf("%q becomes %s, and that %v, %v", doc, b, again, err)
		}
		if j, err := Parse(doc); err == nil && !Equal(j, v) {
			t.Fatalf("%q is %v as YAML and %v as JSON", doc, v, j)
		}
	})
}

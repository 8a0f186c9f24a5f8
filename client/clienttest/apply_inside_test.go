package clienttest

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
		v, _, err := parseYAML(doc)
		if err != nil {
			return
		}
		b := appendValue(nil, v)
		if !json.Valid(b) {
			t.Fatalf("%q becomes %q", doc, b)
		}
		if again, _, err := parseYAML(b); err != nil || !equal(again, v) {
			t.Fatalf("%q becomes %s, and that %v, %v", doc, b, again, err)
		}
		if j, err := parseJSON(doc); err == nil && !equal(j, v) {
			t.Fatalf("%q is %v as YAML and %v as JSON", doc, v, j)
		}
	})
}

// Fields are found, compared, merged and taken away for any two values of a shape, so that the sets and the values agree.
func FuzzApplied(f *testing.F) {
	const schema = `{"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
		"m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{
			"k":{"type":"string"},"v":{"type":"string"}}}},"l":{"type":"array","items":{"type":"string"}},
		"o":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	f.Add([]byte(`{"s":["a","b"],"m":[{"k":"a","v":"1"}],"l":["x"],"o":{"a":{"b":1}}}`), []byte(`{"s":["b","c"],"m":[{"k":"b"}],"o":{"a":1}}`))
	f.Add([]byte(`{"s":["a","a"],"m":[{"k":"a"},{"k":"a"}]}`), []byte(`{"s":["a"],"m":[{"k":"a"}]}`))
	f.Add([]byte(`{"s":null,"o":{}}`), []byte(`{"s":[],"o":null,"x":1}`))
	s, err := declaredShape([]byte(schema))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		live, errOne := parseJSON(one)
		config, errTwo := parseJSON(two)
		_, ok := live.(members)
		_, okToo := config.(members)
		if errOne != nil || errTwo != nil || !ok || !okToo {
			return
		}
		if len(s.check(config, "")) > 0 || len(s.check(live, "")) > 0 {
			return // which the engine is not given
		}
		if c := changesOf(live, live, s); !c.added.IsEmpty() || !c.modified.IsEmpty() || !c.removed.IsEmpty() {
			t.Fatalf("%s differs from itself by %v, %v and %v", one, c.added, c.modified, c.removed)
		}
		m := merged(live, config, s)
		c := changesOf(live, m, s)
		fields := fieldsOf(config, s)
		if extra := c.modified.Difference(fields); !extra.IsEmpty() {
			t.Fatalf("%s with %s modifies %s, which is not applied", one, two, extra.Append(nil))
		}
		if again := merged(m, config, s); !sameValue(again, m) {
			t.Fatalf("%s applied to %s twice makes %v of %v", two, one, again, m)
		}
		if rest := pruned(m, fields, nil, s); !fieldsOf(rest, s).Intersection(fields).Difference(fieldsOf(live, s)).IsEmpty() {
			t.Fatalf("%s applied to %s and left leaves %v", two, one, rest)
		}
	})
}

package ownership

import (
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
)

// Fields are found, compared, merged and taken away for any two values of a shape, so that the sets and the values agree.
func FuzzApplied(f *testing.F) {
	const text = `{"type":"object","properties":{"s":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
		"m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{
			"k":{"type":"string"},"v":{"type":"string"}}}},"l":{"type":"array","items":{"type":"string"}},
		"o":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	f.Add([]byte(`{"s":["a","b"],"m":[{"k":"a","v":"1"}],"l":["x"],"o":{"a":{"b":1}}}`), []byte(`{"s":["b","c"],"m":[{"k":"b"}],"o":{"a":1}}`))
	f.Add([]byte(`{"s":["a","a"],"m":[{"k":"a"},{"k":"a"}]}`), []byte(`{"s":["a"],"m":[{"k":"a"}]}`))
	f.Add([]byte(`{"s":null,"o":{}}`), []byte(`{"s":[],"o":null,"x":1}`))
	s, err := schema.Declared([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		live, errOne := jsontree.Parse(one)
		config, errTwo := jsontree.Parse(two)
		_, ok := live.(jsontree.Object)
		_, okToo := config.(jsontree.Object)
		if errOne != nil || errTwo != nil || !ok || !okToo {
			return
		}
		if len(s.Check(config, "")) > 0 || len(s.Check(live, "")) > 0 {
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

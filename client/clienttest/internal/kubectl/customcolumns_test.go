package kubectl_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/meta"
)

var widget = meta.TypeMeta{APIVersion: "g.dev/v1", Kind: "Widget"}

// object returns an object that is three hours old.
func object(t *testing.T) *kubectl.Object {
	t.Helper()
	v, err := jsontree.Parse([]byte(`{"spec":{"n":3,"f":2.75,"big":1e21,"s":"<&>","t":true,"nil":null,"m":{"b":"<&>","a":[1,2.5,null]},"l":["x","y"],
		"then":"1600-01-01T00:00:00Z","ahead":"9999-01-01T00:00:00Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	m := meta.ObjectMeta{Name: "n", Generation: 3, Labels: map[string]string{"a": "b"}, CreationTimestamp: meta.Time{Time: now.Add(-3 * time.Hour)}}
	return kubectl.NewObject(v.(jsontree.Object), m, now)
}

// The answers are those of k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor v0.37.2.
func TestCellsOfCustomColumns(t *testing.T) {
	for _, test := range []struct {
		typ, path string
		want      any
	}{
		{"integer", ".spec.n", int64(3)},
		{"integer", ".spec.f", int64(2)},
		{"integer", ".spec.s", nil},
		{"integer", ".spec.nil", nil},
		{"integer", ".spec.x", nil},
		{"integer", ".metadata.generation", int64(3)},
		{"integer", ".spec 5", nil},
		{"number", ".spec.n", 3.0},
		{"number", ".spec.f", 2.75},
		{"number", ".spec.big", 1e21},
		{"number", ".spec.t", nil},
		{"number", ".spec 1.5", 1.5},
		{"boolean", ".spec.t", true},
		{"boolean", ".spec.s", nil},
		{"string", ".spec.s", "<&>"},
		{"string", ".spec.n", "3"},
		{"string", ".spec.f", "2.75"},
		{"string", ".spec.big", "1e+21"},
		{"string", ".spec.t", "true"},
		{"string", ".spec.nil", "<no value>"},
		{"string", ".spec.x", nil},
		{"string", ".spec.m", `{"a":[1,2.5,null],"b":"\u003c\u0026\u003e"}`},
		{"string", ".spec.l", `["x","y"]`},
		{"string", ".spec.l[*]", "x"},
		{"string", ".spec.l[5]", nil},
		{"string", ".kind", "Widget"},
		{"string", ".apiVersion", "g.dev/v1"},
		{"string", ".metadata.name", "n"},
		{"string", ".metadata.labels", `{"a":"b"}`},
		{"string", ".spec.s.*", "60"},
		{"date", ".metadata.creationTimestamp", "3h"},
		{"date", ".spec.then", "292y"},
		{"date", ".spec.ahead", "<invalid>"},
		{"date", ".spec.s", "<invalid>"},
		{"date", ".spec.n", nil},
		{"date", ".spec.x", nil},
		{"date", `.spec ""`, "<unknown>"},
		{"date", `.spec "null"`, "<unknown>"},
	} {
		_, print := kubectl.CustomColumns(widget, []kubectl.CustomColumn{{kubectl.Column{Name: "A", Type: test.typ}, test.path}})
		if got := print(object(t)); len(got) != 2 || got[0] != "n" || got[1] != test.want {
			t.Errorf("%s as %s: got %#v, want %#v", test.path, test.typ, got, test.want)
		}
	}
}

func TestColumnsThatAResourceDeclares(t *testing.T) {
	const rest = `"type":"string","jsonPath":".spec.`
	for _, test := range []struct{ declared, want, cells string }{
		{`[]`, `Name string name 0, Age date  0`, "[n 3h]"},
		{`[{"name":"A",` + rest + `s","priority":1,"format":"byte"},{"name":"B",` + rest + `n"}]`, `Name string name 0, A string byte 1, B string  0`, "[n <&> 3]"},
		{`[{"name":"A",` + rest + `s"},{"name":"B",` + rest + `["},{"name":"C",` + rest + `n"}]`, `Name string name 0, A string  0`, "[n <&>]"},
	} {
		var declared []kubectl.CustomColumn
		if err := json.Unmarshal([]byte(test.declared), &declared); err != nil {
			t.Fatal(err)
		}
		columns, print := kubectl.CustomColumns(widget, declared)
		var got string
		for i, c := range columns {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%s %s %s %d", c.Name, c.Type, c.Format, c.Priority)
			if c.Description == "" {
				t.Errorf("%s has no description", c.Name)
			}
		}
		if cells := fmt.Sprint(print(object(t))); got != test.want || cells != test.cells {
			t.Errorf("%s: got %s and %s, want %s and %s", test.declared, got, cells, test.want, test.cells)
		}
	}
}

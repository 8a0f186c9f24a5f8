package client_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 35: 3 MB of JSON, wide or deep, are an object, or an error that says that they are nested too deeply; whether T
// has a place for them or not.
func TestThreeMegabytesOfAnyShape(t *testing.T) {
	const size = 3 << 20
	repeat := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for _, test := range []struct {
		name string
		data string
		deep bool
	}{
		{"an array of objects", "[" + repeat("{},") + "{}]", false},
		{"an array of numbers", "[" + repeat("1234567.5,") + "1]", false},
		{"one string", `"` + repeat("x") + `"`, false},
		{"one escaped string", `"` + repeat(`\n`) + `"`, false},
		{"white space", repeat(" ") + "1", false},
		{"arrays in arrays", repeat("[") + repeat("]"), true},
		{"objects in objects", repeat(`{"a":`) + "1" + repeat("}")[:size/len(`{"a":`)], true},
		{"arrays that do not end", repeat("["), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := strings.Replace(object("a", "1"), `"data":{}`, `"more":`+test.data, 1)
			checked := 0
			check := func(what, name string, err error) {
				t.Helper()
				checked++
				switch {
				case test.deep:
					if e := is[*client.AnswerError](t, err); e.Reason != client.TooDeep {
						t.Errorf("%s: error is %v", what, err)
					}
				case err != nil || name != "a":
					t.Errorf("%s: got %q, %v", what, name, err)
				}
			}
			for e, err := range client.For(connect(t, says(event("ADDED", body))), slims).Watch(t.Context(), client.WatchOptions{}) {
				check("a watch of what T does not name", e.Identity.Name, err)
			}
			for obj, err := range client.For(connect(t, says(listOf("5", "", body))), client.Type[*meta.Raw](configMaps)).All(t.Context(), client.ListOptions{}) {
				name := ""
				if err == nil {
					name = obj.Name
				}
				check("a list that keeps it as it is", name, err)
			}
			obj, err := client.For(connect(t, says(body)), client.Type[*meta.Unstructured](configMaps)).Get(t.Context(), web)
			name := ""
			if err == nil {
				name = obj.GetName()
			}
			check("a get that decodes all of it", name, err)
			if checked != 3 {
				t.Errorf("%d objects or errors, want one of each", checked)
			}
		})
	}
}

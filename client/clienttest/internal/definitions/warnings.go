package definitions

import (
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/values"
)

// Warnings returns what a server warns of when it stores a definition: formats that it does not know, which it ignores,
// and sets of values that are not scalars. Old is as for [Check]; a warning that Old causes too is left out.
func Warnings(d, old *object.Draft) []string {
	all := warningsOf(d)
	if old == nil {
		return all
	}
	before := warningsOf(old)
	return slices.DeleteFunc(all, func(text string) bool { return slices.Contains(before, text) })
}

func warningsOf(d *object.Draft) []string {
	var formats, sets []string
	for _, version := range view(d.Content).in("spec").list("versions") {
		version.in("schema").in("openAPIV3Schema").walk("", func(s view, _ string) {
			if f := s.text("format"); f != "" && !values.KnownFormat(s.text("type"), f) {
				formats = append(formats, fmt.Sprintf("unrecognized format %q", f))
			}
			of := s.in("items").text("type")
			if s.text("x-kubernetes-list-type") == "set" && (of == "object" || of == "array") {
				sets = append(sets, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply "+
					"or CEL validation rules", of))
			}
		})
	}
	slices.Sort(sets)
	all := slices.Concat(formats, sets)
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(text string) bool {
		twice := seen[text]
		seen[text] = true
		return twice
	})
}

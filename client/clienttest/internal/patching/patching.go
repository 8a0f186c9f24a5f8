// Package patching applies JSON patches, merge patches and strategic merge patches as kube-apiserver does, which
// deviates from the standards in some cases. Its errors have the server's words.
package patching

import (
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Result is the result of a patch.
type Result struct {
	Doc    []byte
	Value  any             // Doc as a value, if the patch has made one; no member occurs twice
	wrong  []string        // a strict server's errors about the members of the patch
	sorted bool            // whether the server sorts the errors about the members of the document
	shown  string          // the document as an error shows it
	before []byte          // for a merge patch, instead of shown: the document
	merged jsontree.Object // for a merge patch: the change that was merged into before
}

// Invalid returns the error for a patch whose result cannot be read as an object.
func (p Result) Invalid(why error) error {
	if p.merged != nil {
		object, _ := p.Value.(jsontree.Object)
		p.shown = string(appendMerged(nil, p.before, object, p.merged))
	}
	return status.Invalid("", "", "", []meta.StatusCause{status.InvalidValue("patch", p.shown, why.Error())})
}

// FieldErrors returns a strict server's errors about members of the patch and of its result.
func (p Result) FieldErrors(unknown []string) []string {
	if p.sorted {
		slices.Sort(unknown)
	}
	return slices.Concat(p.wrong, unknown)
}

// Apply applies a patch of a media type to the JSON of an object of a kind. A lenient server ignores more mistakes in
// a patch. If the patch cannot be applied, the error is a *status.Error.
func Apply(media string, doc, body []byte, kind meta.GVK, lenient bool) (Result, error) {
	switch media {
	case patch.JSONType:
		return applyJSON(doc, body, lenient)
	case patch.MergeType:
		return applyMerge(doc, body, lenient)
	}
	return applyStrategic(doc, body, kind)
}

// Package patching applies JSON patches, merge patches and strategic merge patches as kube-apiserver does, which is not always as their
// standards say, and refuses them in its words.
package patching

import (
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Result is what a patch has made of a document.
type Result struct {
	Doc    []byte
	Value  any             // the same, where it is at hand; no member is there twice
	wrong  []string        // what a strict server says about the members of the patch
	sorted bool            // and whether it sorts what it says about those of the document
	shown  string          // what it shows in an error
	before []byte          // of a merge patch, which shows in place of shown: the document,
	merged jsontree.Object // and what was merged into it
}

// Invalid returns the error of a patch whose result is not an object that can be read.
func (p Result) Invalid(why error) error {
	if p.merged != nil {
		object, _ := p.Value.(jsontree.Object)
		p.shown = string(appendMerged(nil, p.before, object, p.merged))
	}
	return status.Invalid("", "", "", []meta.StatusCause{status.InvalidValue("patch", p.shown, why.Error())})
}

// FieldErrors returns what a strict server says about members: of the patch, and of what it has made.
func (p Result) FieldErrors(unknown []string) []string {
	if p.sorted {
		slices.Sort(unknown)
	}
	return slices.Concat(p.wrong, unknown)
}

// Apply applies a patch of a media type to the JSON of an object of a kind. A lenient server passes over more of what is wrong
// with a patch. A patch that cannot be applied is a *status.Error.
func Apply(media string, doc, body []byte, kind meta.GVK, lenient bool) (Result, error) {
	switch media {
	case patch.JSONType:
		return applyJSON(doc, body, lenient)
	case patch.MergeType:
		return applyMerge(doc, body, lenient)
	}
	return applyStrategic(doc, body, kind)
}

// Package strategic applies strategic merge patches to JSON documents, and computes them. It is the implementation of
// package patch, which documents the patches. Errors about a patch or a document are of type [*Error].
package strategic

import "github.com/bowline-go/bowline/internal/patch/tree"

// Check returns an error if a strategic merge patch is not a JSON object, or has a directive with an invalid value.
func Check(strategicPatch []byte) error {
	_, err := parseStrategic(strategicPatch)
	return err
}

// parseStrategic reads a strategic merge patch and checks the values of its directives.
func parseStrategic(strategicPatch []byte) (tree.Node, error) {
	change, err := parseObject(thePatch, strategicPatch)
	if err == nil && mayDirect(change.Text()) {
		err = checkDirectives(thePatch, &change, nil)
	}
	return change, err
}

// Apply applies a strategic merge patch to doc as a server does, and returns the new document.
func Apply(doc, strategicPatch []byte, s *Shape) ([]byte, error) {
	target, err := parseObject(theDocument, doc)
	if err != nil {
		return nil, err
	}
	change, err := parseStrategic(strategicPatch)
	if err != nil {
		return nil, err
	}
	if err := (merger{}).object(&target, &change, s, nil); err != nil {
		return nil, err
	}
	return target.AppendTo(make([]byte, 0, len(doc)+len(strategicPatch)), 0)
}

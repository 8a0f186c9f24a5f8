// Package strategic applies strategic merge patches to JSON documents, and computes them. It is the inside of package patch, which
// documents what they are. Errors about a patch or a document are of type [*Error].
package strategic

import "github.com/bowline-go/bowline/internal/patch/tree"

// Check returns an error if a strategic merge patch is not a JSON object, or has a directive with a value that it cannot
// have.
func Check(strategicPatch []byte) error {
	_, err := parseStrategic(strategicPatch)
	return err
}

// parseStrategic reads a strategic merge patch, whose directives have values that they can have.
func parseStrategic(strategicPatch []byte) (tree.Node, error) {
	change, err := parseObject(thePatch, strategicPatch)
	if err == nil && mayDirect(change.Text()) {
		err = checkDirectives(thePatch, &change, nil)
	}
	return change, err
}

// Apply returns the document that doc becomes when a server applies the strategic merge patch to it.
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

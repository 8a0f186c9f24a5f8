package patch

import (
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// StrategicType is the media type of a strategic merge patch.
const StrategicType = "application/strategic-merge-patch+json"

// Strategic returns the strategic merge patch that v encodes to: a merge patch that can change single items of lists in
// the kinds that Kubernetes itself has. An item of a pod's containers changes the container of that name; in a JSON
// merge patch it would replace all containers. A server accepts it for its own kinds, not for custom resources. v is
// usually a small struct or map with only the members to change, or a json.RawMessage; it must encode to a JSON object.
//
// null removes a member anywhere. Some members are directives, which are obeyed instead of set:
//
//	"$patch": "delete"                       in an item of a merged list: removes the item of that merge key
//	"$patch": "delete"                       in an object: removes all that is in it
//	"$patch": "replace"                      in an object: it replaces the object
//	{"$patch": "replace"}                    as an item of a merged list: the other items replace the list
//	"$retainKeys": ["name", ...]             removes the members that it does not name
//	"$setElementOrder/ports": [...]          puts the items of the merged list "ports" in this order
//	"$deleteFromPrimitiveList/finalizers": [...]  removes these scalars from the list "finalizers"
//
// If a directive has a value that it cannot have, the error names its path, before anything is sent. [ApplyStrategic]
// or the server finds errors that depend on the kind, such as a directive for a list that is not merged.
func Strategic(v any) Patch {
	body, err := encode(v)
	if err != nil {
		return Patch{mediaType: StrategicType, err: fmt.Errorf("patch.Strategic: %w", err)}
	}
	if err := strategic.Check(body); err != nil {
		return Patch{mediaType: StrategicType, err: err}
	}
	return Patch{mediaType: StrategicType, body: body}
}

// ApplyStrategic applies a strategic merge patch to doc as a server does, and returns the new document. Both must be
// JSON objects. Members that the schema does not know are merged as plain JSON. Members stay in their place, and new
// ones follow them; everything that stays is written as it was, without white space.
//
// The result is what a server has before it decodes the document into its own type: new members contain no directives,
// and values that the patch replaces whole are taken as they are, including nulls. If a directive would be kept
// without being obeyed, such as in an item that the list does not have yet, ApplyStrategic returns an error. Errors
// about the patch or the document name the place in it, and show no value.
func ApplyStrategic(doc, strategicPatch []byte, s Schema) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return strategic.Apply(doc, strategicPatch, s.root)
}

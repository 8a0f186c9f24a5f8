package patch

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/strategic"
)

// StrategicType is the media type of a strategic merge patch.
const StrategicType = "application/strategic-merge-patch+json"

// Strategic returns the strategic merge patch that v encodes to. It is a merge patch that knows the lists of the kinds that
// Kubernetes itself has: an item of a pod's containers changes the container of that name, where a JSON merge patch would
// replace all containers. A server takes it for its own kinds, not for custom resources. v is usually a small struct or map
// with just what is to change, or a json.RawMessage; it must encode to a JSON object.
//
// Some members of it say what to do instead of being set. Anywhere null removes, and
//
//	"$patch": "delete"                       in an item of a merged list: removes the item of that merge key
//	"$patch": "delete"                       in an object: removes all that is in it
//	"$patch": "replace"                      in an object: it replaces the object
//	{"$patch": "replace"}                    as an item of a merged list: the other items replace the list
//	"$retainKeys": ["name", ...]             removes the members that it does not name
//	"$setElementOrder/ports": [...]          puts the items of the merged list "ports" in this order
//	"$deleteFromPrimitiveList/finalizers": [...]  removes these scalars from the list "finalizers"
//
// A value that such a member cannot have is a [*StrategicError] with its path, before anything is sent. What depends on the kind,
// as whether a list is merged, [ApplyStrategic] finds, or the server.
func Strategic(v any) Patch {
	body, err := json.Marshal(v)
	if err == nil && (len(body) == 0 || body[0] != '{') {
		err = fmt.Errorf("%s does not encode to a JSON object", goType(v))
	}
	if err != nil {
		return Patch{mediaType: StrategicType, err: fmt.Errorf("patch.Strategic: %w", err)}
	}
	if err := strategic.Check(body); err != nil {
		return Patch{mediaType: StrategicType, err: strategicError(err)}
	}
	return Patch{mediaType: StrategicType, body: body}
}

// ApplyStrategic returns the document that doc becomes when a server applies the strategic merge patch to it. Both must be
// JSON objects. What the schema does not know is merged as plain JSON. Members stay where they are, and new ones follow them;
// everything is written as it was, without the white space between.
//
// The result is what a server makes of it before it decodes it: new members have no directives in them, and what the patch
// replaces whole is taken as it stands, nulls included. Where a directive would be kept without being obeyed, as in an item
// that the list does not have yet, it is an error here. Errors about the patch or the document are of type [*StrategicError].
func ApplyStrategic(doc, strategicPatch []byte, s Schema) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	out, err := strategic.Apply(doc, strategicPatch, s.root)
	return out, strategicError(err)
}

package patch

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MergeType is the media type of a JSON merge patch (RFC 7386).
const MergeType = "application/merge-patch+json"

// Patch is a change to one object, ready to be sent. The zero Patch is invalid.
type Patch struct {
	mediaType string
	body      []byte
	err       error
}

// MediaType returns the media type, such as "application/merge-patch+json".
func (p Patch) MediaType() string { return p.mediaType }

// Body returns the encoded patch, or why it could not be built. The caller must not change it.
func (p Patch) Body() ([]byte, error) {
	if p.err == nil && p.mediaType == "" {
		return nil, errors.New("patch: the zero Patch changes nothing and has no media type; use patch.Merge")
	}
	return p.body, p.err
}

// Merge returns the JSON merge patch (RFC 7386) that v encodes to: a member replaces the object's member of that name, null
// removes it, an object is merged member by member, and a list replaces the whole list. v is usually a small struct or map
// with just what is to change, or a json.RawMessage; it must encode to a JSON object.
func Merge(v any) Patch {
	body, err := json.Marshal(v)
	if err == nil && (len(body) == 0 || body[0] != '{') {
		err = fmt.Errorf("%T does not encode to a JSON object", v)
	}
	if err != nil {
		return Patch{mediaType: MergeType, err: fmt.Errorf("patch.Merge: %w", err)}
	}
	return Patch{mediaType: MergeType, body: body}
}

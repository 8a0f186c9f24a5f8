package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// MergeType is the media type of a JSON merge patch (RFC 7386).
const MergeType = "application/merge-patch+json"

// Patch is a change to one object, ready to be sent. The zero Patch is invalid.
type Patch struct {
	mediaType string
	body      []byte
	err       error
	idle      bool // the patch requests no change, whatever its body is
	status    bool // an apply with a status that is not empty and that no path names
}

// MediaType returns the media type, such as "application/merge-patch+json".
func (p Patch) MediaType() string { return p.mediaType }

// Body returns the encoded patch, or the error that prevented it. The caller must not change it.
func (p Patch) Body() ([]byte, error) {
	if p.err == nil && p.mediaType == "" {
		return nil, errors.New("patch: the zero Patch changes nothing and has no media type; use patch.Merge")
	}
	return p.body, p.err
}

// IsEmpty reports whether the patch requests no change, so that it need not be sent. An example is the [Diff] of two
// equal objects. A JSON patch is empty if it has no operations other than tests, any other patch if it has no members.
// An [Apply] is never empty, because it removes what its manager applied earlier. The version that
// [Patch.WithResourceVersion] adds does not count. A patch that could not be built is not empty, so that its error
// shows when it is sent.
func (p Patch) IsEmpty() bool {
	return p.err == nil && (p.idle || p.mediaType != ApplyType && string(p.body) == "{}")
}

// String returns the media type and the size. It shows no values, which may be secret.
func (p Patch) String() string {
	switch {
	case p.err != nil:
		return p.err.Error()
	case p.mediaType == "":
		return "the zero Patch"
	}
	return fmt.Sprintf("%s (%d bytes)", p.mediaType, len(p.body))
}

// GoString returns the same as String, so that %#v does not show the body either.
func (p Patch) GoString() string { return p.String() }

// MarshalJSON returns an error, because a Patch cannot be part of another patch. There it would be encoded as an empty
// object, and applying that removes everything that was applied before.
func (p Patch) MarshalJSON() ([]byte, error) {
	return nil, errors.New("a patch.Patch must be passed directly, not inside another value or behind a pointer")
}

// Merge returns the JSON merge patch (RFC 7386) that v encodes to. A member replaces the object's member of that name,
// null removes it, an object is merged member by member, and a list replaces the whole list. v is usually a small
// struct or map with only the members to change, or a json.RawMessage; it must encode to a JSON object.
func Merge(v any) Patch {
	body, err := encode(v)
	if err != nil {
		return Patch{mediaType: MergeType, err: fmt.Errorf("patch.Merge: %w", err)}
	}
	return Patch{mediaType: MergeType, body: body}
}

// encode returns the JSON object that v encodes to.
func encode(v any) ([]byte, error) {
	if err := gotype.Unnamed(reflect.TypeOf(v)); err != nil {
		return nil, err
	}
	body, err := json.Marshal(v)
	if err == nil && (len(body) == 0 || body[0] != '{') {
		err = fmt.Errorf("%s does not encode to a JSON object", govalue.TypeName(v))
	}
	return body, err
}

// WithResourceVersion returns a patch that changes the object only if it still has the given version: the one that the
// change was made from. If another client has written since, the server refuses the patch. A JSON patch then starts
// with a test of metadata.resourceVersion, and the answer is Invalid. Any other patch has metadata.resourceVersion,
// and the answer is Conflict.
//
// It is an error if version is empty.
func (p Patch) WithResourceVersion(version string) Patch {
	body, err := p.Body()
	if err != nil {
		return p
	}
	if version == "" {
		err = errors.New("version must not be empty")
	} else if p.mediaType == JSONType {
		body = withVersionTest(body, version)
	} else {
		body, err = withVersion(body, version)
	}
	if err != nil {
		return Patch{mediaType: p.mediaType, err: fmt.Errorf("patch.WithResourceVersion: %w", err)}
	}
	return Patch{mediaType: p.mediaType, body: body, idle: p.IsEmpty(), status: p.status}
}

// withVersionTest returns the JSON patch with one more operation before the others.
func withVersionTest(body []byte, version string) []byte {
	out := append([]byte(nil), `[{"op":"test","path":"/metadata/resourceVersion","value":`...)
	out = append(jsonlex.AppendQuoted(out, version), '}')
	if len(body) > len("[]") {
		out = append(out, ',')
	}
	return append(out, body[1:]...)
}

// withVersion returns the object with metadata.resourceVersion.
func withVersion(body []byte, version string) ([]byte, error) {
	s, err := tree.Read("the patch", body)
	if err != nil {
		return nil, err
	}
	root := s.Root()
	object := root.Open()
	if object == nil || object.List {
		return nil, errors.New("the patch must be a JSON object")
	}
	quoted, err := tree.Read("the version", jsonlex.AppendQuoted(nil, version))
	if err != nil {
		return nil, err
	}
	at := object.Find("metadata")
	if at < 0 {
		object.Set("metadata", tree.Node{Branch: &tree.Branch{}})
		at = object.Find("metadata")
	}
	metadata := &object.Members[at].Value
	if metadata.Kind() != '{' {
		return nil, errors.New("the patch's metadata must be an object")
	}
	metadata.Open().Set("resourceVersion", quoted.Root())
	return root.AppendTo(make([]byte, 0, len(body)+len(version)+40), 0)
}

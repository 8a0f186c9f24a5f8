package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/patching"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// patchMedia returns the media type of a patch, which the resource must support.
func (c *call) patchMedia() (string, error) {
	media, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	accepted := []string{patch.JSONType, patch.MergeType, patch.StrategicType, mediaApply}
	if !c.res.Builtin {
		accepted = slices.Delete(accepted, 2, 3)
	}
	switch {
	case slices.Contains(accepted, media):
		return media, nil
	case c.res.Builtin:
		return "", status.Failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "415: Unsupported Media Type").
			With(meta.StatusDetails{})
	}
	return "", status.UnsupportedMediaType(accepted...)
}

// readPatch reads a patch and its parameters.
func (c *call) readPatch() (media string, body []byte, o writeOptions, err error) {
	if media, err = c.patchMedia(); err == nil {
		err = c.negotiate(false)
	}
	if err == nil {
		body, err = bodyOf(c.r)
	}
	if err == nil {
		o, err = c.patchOptions(media)
	}
	if err == nil {
		err = checkSyntax(media, body)
	}
	return media, body, o, err
}

// checkSyntax refuses a patch that cannot be written to an audit log, which is JSON. A real server checks this before
// it looks for the object. A real server does not check an apply that begins with a brace: it assumes that this is
// JSON.
func checkSyntax(media string, body []byte) error {
	switch {
	case media != mediaApply && !json.Valid(body):
		return status.BadRequest("invalid JSON patch")
	case media == mediaApply && !bytes.HasPrefix(bytes.TrimLeftFunc(body, unicode.IsSpace), []byte("{")):
		if _, _, err := jsontree.ParseYAML(body); err != nil {
			return status.BadRequest("error encoding patch: %v", err)
		}
	}
	return nil
}

// patchedDraft reads the object that results from a patch.
func (c *call) patchedDraft(p patching.Result) (*object.Draft, error) {
	d, err := object.Parse(p.Doc)
	known := c.res.Shape()
	if err == nil && c.res.Builtin && d.APIVersion == "" {
		known, d.Meta = schema.Nameless(), meta.ObjectMeta{}
	}
	if err == nil {
		err = c.checkKind(d, p.Doc)
	}
	if err == nil {
		err = d.Normalize(&c.res.Type)
	}
	if bad, ok := errors.AsType[*object.DecodeError](err); ok {
		return nil, p.Invalid(bad)
	}
	if err != nil {
		return nil, err
	}
	if known != nil && p.Value != nil && known.Knows(p.Value) {
		known.Prune(d.Content)
		return d, c.reportPatch(p, nil)
	}
	return d, c.reportPatch(p, c.unknown(p.Doc, d, known))
}

// reportPatch reports the unknown and duplicate members of the patch and of its result by the fieldValidation.
func (c *call) reportPatch(p patching.Result, unknown []string) error {
	if err := c.report(p.FieldErrors(unknown)); err != nil {
		return p.Invalid(err)
	}
	return nil
}

// applied applies a patch to the JSON of an object of a kind.
func (c *call) applied(media string, doc, body []byte, kind meta.GVK) (patching.Result, error) {
	return patching.Apply(media, doc, body, kind, c.query.Get("fieldValidation") == "Ignore")
}

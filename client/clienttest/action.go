package clienttest

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// readAction reads the body of a create that performs an action, such as a binding. A body without a kind has the only possible one.
func (c *call) readAction(into any, kind meta.GVK) error {
	b, err := c.readBody(kind)
	if err != nil {
		return err
	}
	return c.decode(b, into, kind)
}

// decode decodes a body that has a kind, or none.
func (c *call) decode(b *payload, into any, kind meta.GVK) error {
	is, err := object.TypeOf(b.json)
	if err != nil {
		return unrecognized(kind.Kind, err, b.sent)
	}
	is.Kind, is.APIVersion = cmp.Or(is.Kind, kind.Kind), cmp.Or(is.APIVersion, kind.APIVersion())
	if is.Kind != kind.Kind || is.APIVersion != kind.APIVersion() {
		err = noKind(is.Kind, is.APIVersion)
	} else if err = schema.Builtin().Of(kind).Fits(b.json); err == nil {
		if err = json.Unmarshal(b.json, into); err == nil {
			err = c.reportPayload(b, schema.FieldErrors(b.json, schema.Builtin().Of(kind)))
		}
	}
	if err != nil {
		_, version := meta.SplitAPIVersion(is.APIVersion)
		return status.BadRequest("%s in version %q cannot be handled as a %s: %v", is.Kind, version, kind.Kind, err)
	}
	return nil
}

// accept answers an action that has been carried out.
func (c *call) accept() error {
	writeStatus(c.w, meta.Status{Status: "Success", Code: http.StatusCreated})
	return nil
}

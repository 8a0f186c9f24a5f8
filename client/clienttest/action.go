package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// An action is a create below an object, or of an object that is not stored: a binding, an eviction, a token, a
// review.

// readAction reads the body of a create that performs an action, such as a binding. A body without a kind has the only
// possible one.
func (c *call) readAction(into any, kind meta.GVK) error {
	b, err := c.readBody(kind)
	if err != nil {
		return err
	}
	return c.decode(b, into, kind)
}

// readFor is readAction for a body that names the object to act on. m is the metadata within into; readFor compares
// its name with that in the path. It also reads the parameters.
func (c *call) readFor(into any, m *meta.ObjectMeta) (writeOptions, error) {
	kind := c.res.kindOf(c.Subresource)
	o, err := c.writeOptions("CreateOptions")
	if err == nil {
		err = c.readAction(into, kind)
	}
	if err == nil && m.Name != c.Key.Name {
		err = status.BadRequest("name in URL does not match name in %s object", kind.Kind)
	}
	return o, err
}

// accept answers an action that has been carried out.
func (c *call) accept() error {
	writeStatus(c.w, meta.Status{Status: "Success", Code: http.StatusCreated})
	return nil
}

package clienttest

import (
	"encoding/json"
	"maps"
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// An action is a create below an object, or of an object that is not stored: a binding, an eviction, a token, a
// review.

// readAction reads the body of a create that performs an action, such as a binding. A body without a kind has the only
// possible one.
func (c *call) readAction(into any, kind meta.GVK) error {
	b, err := c.readBody(kind)
	if err == nil {
		err = c.decode(b, into, kind)
	}
	if err != nil || c.virtual() {
		return err
	}
	return c.admitAction(b.json, into, kind)
}

// admitAction asks admission about the body of an action, and reads it again if admission has changed it.
func (c *call) admitAction(body []byte, into any, kind meta.GVK) error {
	tx := c.store.Begin()
	defer tx.End()
	changed, err := c.both(tx, nil, func(q *question) {
		q.Object, q.Parameters, q.DryRun = c.shownAction(body, kind), c.writeParameters(create), c.query.Has("dryRun")
	})
	if err != nil || changed == nil {
		return err
	}
	return json.Unmarshal(changed, into)
}

// shownAction returns the object of an action as admission sees it: with the members that the body may leave out, and
// with the owners of its fields.
func (c *call) shownAction(body []byte, kind meta.GVK) json.RawMessage {
	v, _ := jsontree.Parse(body) // it was read before
	whole, _ := v.(jsontree.Object)
	metadata, _ := whole["metadata"].(jsontree.Object)
	metadata = maps.Clone(metadata)
	if metadata == nil {
		metadata = jsontree.Object{}
	}
	metadata["namespace"] = c.Key.Namespace
	whole["kind"], whole["apiVersion"], whole["metadata"] = kind.Kind, kind.APIVersion(), metadata
	owners := ownership.Write{
		APIVersion: kind.APIVersion(), Subresource: c.Subresource, Shape: schema.Builtin().Of(kind), Part: ownership.All, Now: timestamp(),
	}
	metadata["managedFields"] = jsontree.Of(owners.Updated(c.bare(), whole, nil, managerOf(c.query.Get("fieldManager"), c.r.UserAgent())).Encode())
	return jsontree.Append(nil, whole)
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

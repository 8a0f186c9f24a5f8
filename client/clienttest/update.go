package clienttest

import (
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// serveUpdate replaces an object, or the part of it that a subresource writes.
func serveUpdate(c *call) error {
	d, o, err := c.readWrite("UpdateOptions")
	if err == nil {
		err = c.checkName(d.Meta.Name)
	}
	if err != nil {
		return err
	}
	var v *object.Revision
	var code int
	err = c.write(func(tx store.Tx) (err error) {
		v, code, err = c.update(tx, d, o)
		return err
	})
	if err != nil {
		return err
	}
	return c.writeObject(code, v)
}

// update stores the result of an update, or creates the object if the resource allows that.
func (c *call) update(tx store.Tx, d *object.Draft, o writeOptions) (_ *object.Revision, code int, _ error) {
	cur, err := c.present(tx)
	uid := d.Meta.UID
	switch {
	case cur != nil && uid != "" && uid != cur.UID:
		return nil, 0, c.otherUID(uid, cur.UID)
	case cur != nil:
		v, err := c.replace(tx, cur, cur.Draft(), d, o)
		return v, http.StatusOK, err
	case !c.res.CreateOnUpdate || c.Subresource != "":
		return nil, 0, err
	case uid != "":
		return nil, 0, c.otherUID(uid, "")
	}
	d.Meta.ResourceVersion = ""
	v, err := c.insert(tx, d, o)
	return v, http.StatusCreated, err
}

// otherUID returns the error for an update of an object whose name now belongs to another. A real server names the
// storage key in the error.
func (c *call) otherUID(wanted, present string) error {
	at := c.res.Resource.Resource
	switch {
	case !c.res.Builtin:
		at = c.res.Group + "/" + at
	case at == "services":
		at = "services/specs"
	case at == "nodes":
		at = "minions"
	}
	return status.Conflict(c.res, c.Key.Name, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", at, object.PathOf(c.Key), wanted, present))
}

package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// servePatch changes an object, or a part of it, by a patch or by server-side apply.
func servePatch(c *call) error {
	media, body, o, err := c.readPatch()
	if err != nil {
		return err
	}
	code := http.StatusOK
	var v *object.Revision
	err = c.write(func(tx store.Tx) (err error) {
		if media == mediaApply {
			v, code, err = c.apply(tx, body, o)
		} else {
			v, err = c.change(tx, media, body, o)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.writeObject(code, v)
}

// change applies a patch to an object's present state. A resource version in the result is a precondition.
func (c *call) change(tx store.Tx, media string, body []byte, o writeOptions) (*object.Revision, error) {
	cur, err := c.present(tx)
	if err != nil {
		return nil, err
	}
	p, err := c.applied(media, cur.Raw, body, c.res.GVK())
	if err != nil {
		return nil, err
	}
	d, err := c.patchedDraft(p)
	if err == nil {
		err = c.settle(d)
	}
	if err == nil {
		err = c.checkName(d.Meta.Name)
	}
	if err != nil {
		return nil, err
	}
	c.uniteOwners(d, "duplicate entries after mutating admission happens")
	return c.replace(tx, cur, cur.Draft(), d, o)
}

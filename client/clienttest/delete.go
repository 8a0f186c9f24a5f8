package clienttest

import (
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// serveDelete deletes one object.
func serveDelete(c *call) error {
	if err := c.negotiate(false); err != nil {
		return err
	}
	o, err := c.deleteOptions()
	if err != nil {
		return err
	}
	v, gone, err := c.removeNamed(o)
	if err != nil {
		return err
	}
	if !gone || c.res.ReturnDeleted {
		return c.writeObject(http.StatusOK, v)
	}
	answer := meta.Status{Status: "Success", Details: &meta.StatusDetails{
		Name: v.Key.Name, Group: c.res.Group, Kind: c.res.Resource.Resource, UID: v.UID,
	}}
	if c.options.DeletionVersions && !o.dryRun {
		answer.ResourceVersion = strconv.FormatUint(v.Version, 10)
	}
	writeStatus(c.w, answer)
	return nil
}

package clienttest

import (
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// serveGet answers with one object: its present state or, if the request has a resource version, the state in the
// replica's cache.
func serveGet(c *call) error {
	if err := c.negotiate(false); err != nil {
		return err
	}
	objects := c.res.objects.Present
	if text := c.query.Get("resourceVersion"); text != "" {
		version, err := strconv.ParseUint(text, 10, 64)
		if err == nil {
			err = c.cache.Await(c.r.Context(), c.res.objects, version)
		} else {
			err = badVersion(text, err)
		}
		if err != nil {
			return err
		}
		objects = func() store.Snapshot { return c.cache.Present(c.res.objects) }
	}
	v := objects().Get(object.PathOf(c.Key))
	if v == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	return c.writeObject(http.StatusOK, v)
}

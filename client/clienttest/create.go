package clienttest

import (
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// serveCreate stores a new object.
func serveCreate(c *call) error {
	d, o, err := c.readWrite("CreateOptions")
	if err != nil {
		return err
	}
	var v *object.Revision
	err = c.write(func(tx store.Tx) (err error) {
		v, err = c.insert(tx, d, o)
		return err
	})
	if err != nil {
		return err
	}
	return c.writeObject(http.StatusCreated, v)
}

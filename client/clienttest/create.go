package clienttest

import "net/http"

// serveCreate stores a new object.
func serveCreate(c *call) error {
	d, o, err := c.readWrite("CreateOptions")
	if err != nil {
		return err
	}
	tx := c.store.Begin()
	v, err := c.insert(tx, d, o)
	tx.End()
	if err != nil {
		return err
	}
	return c.writeObject(http.StatusCreated, v)
}

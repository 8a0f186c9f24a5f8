package clienttest

import "github.com/bowline-go/bowline/client/meta"

// serveEviction deletes a pod. The server has no disruption budgets.
func serveEviction(c *call) error {
	var e struct {
		meta.ObjectMeta `json:"metadata"`
		DeleteOptions   *deleteOptions `json:"deleteOptions"`
	}
	o, err := c.readFor(&e, &e.ObjectMeta)
	if err != nil {
		return err
	}
	if err := c.checkNamespace(e.Namespace); err != nil {
		return err
	}
	how := e.DeleteOptions
	if how == nil {
		how = &deleteOptions{}
	}
	if err := how.validate(); err != nil {
		return err
	}
	how.dryRun = how.dryRun || o.dryRun
	if _, _, err := c.removeNamed(how); err != nil {
		return err
	}
	return c.accept()
}

package clienttest

import "github.com/bowline-go/bowline/client/clienttest/internal/object"

// serveDeleteCollection deletes the objects that a list with the same parameters has, and answers with that list.
func serveDeleteCollection(c *call) error {
	sel, options, err := c.readList()
	if err != nil {
		return err
	}
	o, err := c.deleteOptions()
	if err != nil {
		return err
	}
	p, err := c.page(sel, options)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := c.removeAll(p.items, o); err != nil {
			return err
		}
	}
	return c.writeList(p)
}

func (c *call) removeAll(vs []*object.Revision, o *deleteOptions) error {
	tx := c.store.Begin()
	defer tx.End()
	if err := c.current(); err != nil {
		return err
	}
	for _, v := range vs {
		if cur := tx.Get(c.res.objects, v.Key); cur != nil && o.check(c.res, cur) == nil {
			c.remove(tx, c.res, cur, o)
		}
	}
	return nil
}

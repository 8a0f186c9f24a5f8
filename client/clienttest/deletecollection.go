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
		c.removeAll(p.items, o)
	}
	return c.writeList(p)
}

func (c *call) removeAll(vs []*object.Revision, o *deleteOptions) {
	tx := c.store.Begin()
	defer tx.End()
	if c.current() != nil {
		return
	}
	for _, v := range vs {
		if cur := tx.Get(c.res.objects, v.Key); cur != nil && o.check(c.res, cur) == nil {
			c.remove(tx, c.res, cur, o)
		}
	}
}

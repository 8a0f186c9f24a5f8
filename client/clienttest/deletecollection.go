package clienttest

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

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
	if err := c.removeAll(p.items, o); err != nil {
		return err
	}
	return c.writeList(p)
}

func (c *call) removeAll(vs []*object.Revision, o *deleteOptions) error {
	return c.write(func(tx store.Tx) error {
		if err := c.current(); err != nil {
			return err
		}
		for ; len(vs) > 0; vs = vs[1:] {
			cur := tx.Get(c.res.objects, vs[0].Key)
			if cur == nil || o.check(c.res, cur) != nil {
				continue
			}
			if err := c.admitRemoval(tx, cur, o); err != nil {
				return err
			}
			if !o.dryRun {
				c.remove(tx, c.res, cur, o)
			}
		}
		return nil
	})
}

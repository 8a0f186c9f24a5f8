package clienttest

// serveList answers with a page of a collection.
func serveList(c *call) error {
	sel, o, err := c.readList()
	if err != nil {
		return err
	}
	p, err := c.page(sel, o)
	if err != nil {
		return err
	}
	for i, v := range p.items {
		p.items[i] = c.shown(v)
	}
	return c.writeList(p)
}

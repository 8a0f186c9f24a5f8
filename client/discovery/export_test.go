package discovery

import (
	"context"
	"strings"
)

// GroupsOf returns what the server says about its groups: for each its name, "@", the preferred version and all
// versions, those that are stale with "!".
func GroupsOf(ctx context.Context, c *Catalog) ([]string, error) {
	lists, err := c.listings(ctx, nil, c.options.TTL)
	var all []string
	for _, l := range lists {
		if l == nil {
			continue
		}
		for _, g := range l.groups {
			text := []string{g.name + "@" + g.preferred}
			for _, v := range g.versions {
				if v.stale {
					v.name += "!"
				}
				text = append(text, v.name)
			}
			all = append(all, strings.Join(text, " "))
		}
	}
	return all, err
}

// SetMaxDocument bounds documents for tests.
func SetMaxDocument(c *Catalog, most int) { c.maxDocument, c.disk.max = most, most }

// Answers returns how many answers about fields a catalog keeps.
func Answers(c *Catalog) (n int) {
	for _, f := range c.fields {
		n += len(f.answers)
	}
	return n
}

package clienttest

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// page is a part of a list.
type page struct {
	items     []*object.Revision
	version   uint64 // of the list
	next      string // continue token
	remaining int    // how many objects come after this page; -1 is unknown
	shard     string // the shard selector that was applied
}

// snapshot returns the objects that a list is about.
func (c *call) snapshot(o listOptions) (store.Snapshot, error) {
	ctx, in := c.r.Context(), c.res.objects
	if o.exact {
		err := c.store.Await(ctx, o.version) // the store has it, even if the cache does not
		if err != nil {
			return store.Snapshot{}, err
		}
		objects, kept := in.At(o.version)
		if !kept {
			err = c.tooOld(o)
		}
		return objects, err
	}
	if err := c.cache.Await(ctx, o.version); err != nil {
		return store.Snapshot{}, err
	}
	if o.current {
		return in.Present(), nil
	}
	return c.cache.Present(in), nil
}

// page selects the objects of a list's page.
func (c *call) page(sel *selection, o listOptions) (*page, error) {
	objects, err := c.snapshot(o)
	if err != nil {
		return nil, err
	}
	from, to := object.Span(c.Key.Namespace)
	prefix := from
	if o.from != "" {
		from = o.from
	}
	p := &page{version: objects.Version, remaining: -1}
	if sel.shard != nil {
		p.shard = sel.shard.String()
	}
	for v := range objects.Between(from, to) {
		if !sel.matches(v) {
			continue
		}
		if p.items = append(p.items, v); len(p.items) == o.limit {
			break
		}
	}
	if o.limit == 0 || len(p.items) < o.limit {
		return p, nil
	}
	last := p.items[o.limit-1].Path + "\x00"
	end := objects.Len()
	if to != "" {
		end = objects.Below(to)
	}
	if rest := end - objects.Below(last); rest > 0 {
		p.next = continueToken{Version: int64(p.version), Path: "/" + strings.TrimPrefix(last, prefix)}.String()
		if sel.everything() {
			p.remaining = rest
		}
	}
	return p, nil
}

// tooOld returns the error for a list whose version is gone. For a later page, the error has a token that goes on regardless.
func (c *call) tooOld(o listOptions) error {
	if o.from == "" {
		return status.Expired("The resourceVersion for the provided list is too old.")
	}
	err := status.Expired("The provided continue parameter is too old to display a consistent list result. You can start a new " +
		"list without the continue parameter, or use the continue token in this response to retrieve the remainder of " +
		"the results. Continuing with the provided token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	prefix, _ := object.Span(c.Key.Namespace)
	err.Status.Continue = continueToken{Version: -1, Path: "/" + strings.TrimPrefix(o.from, prefix)}.String()
	return err
}

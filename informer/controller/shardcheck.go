// Checks that the sources of a controller and its Options.Shards fit together.

package controller

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/clustering"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/runners"
)

// Each check below has a parameter called where. Its error begins with the text of where and the name of the field.
const inOptions = "controller.Options: "

// validateShards returns why the sources of a Run and Options.Shards do not fit together.
func (c *Controller[K]) validateShards() error {
	if err := c.checkShards(inOptions); err != nil {
		return err
	}
	var base, all []Source[K]
	for _, f := range c.allFeeds() {
		if err := c.checkSource(inOptions, f.source); err != nil {
			return err
		}
		all = append(all, f.source)
		if f.covers == nil {
			base = append(base, f.source)
		}
	}
	return c.checkLookup(inOptions, base, all)
}

// checkAdded returns why added sources and Options.Shards do not fit together.
func (c *Controller[K]) checkAdded(where string, from []Source[K], forSome bool) error {
	where += ": Options."
	if err := c.checkShards(where); err != nil {
		return err
	}
	for _, s := range from {
		if err := c.checkSource(where, s); err != nil {
			return err
		}
	}
	c.mu.Lock()
	idle := c.isIdle()
	c.mu.Unlock()
	lookups := slices.Clone(from)
	c.set.mu.Lock()
	for _, f := range c.set.feeds {
		// A source that was added for some keys may know only those. A source of MapKeys does not count either, because
		// nothing tells which keys it knows.
		if _, narrow := f.source.(interface{ narrow() }); !forSome || f.covers == nil && !narrow {
			lookups = append(lookups, f.source)
		}
	}
	c.set.mu.Unlock()
	if !forSome && idle {
		return nil // other sources may follow, and Run checks again
	}
	return c.checkLookup(where, from, lookups)
}

// checkShards returns why Options.Shards cannot be used, whatever the sources are.
func (c *Controller[K]) checkShards(where string) error {
	if c.options.Shards == nil {
		return nil
	}
	if runners.IsNil(c.options.Shards) {
		return fmt.Errorf("%sShards is a nil %T: leave Shards out, or set a Group", where, c.options.Shards)
	}
	by := c.sharding.By()
	if err := by.Validate(); err != nil {
		return fmt.Errorf("%sShards: %w", where, err)
	}
	if by == meta.ShardByNamespace {
		var none K
		if _, ok := namespaceOf(none); !ok {
			return fmt.Errorf("%sShards by namespace need keys of type meta.Key, or with a method GetNamespace() string, got %T", where, none)
		}
	}
	return nil
}

// checkSource returns an error if a source follows a cache of some ranges, and the controller does not have the same
// ranges: when ranges leave the cache, their objects look deleted. For ranges by uid it returns an error if the source
// maps the objects of such a cache to their owners, most of which are in other ranges.
func (c *Controller[K]) checkSource(where string, src Source[K]) error {
	n, ok := src.(needy)
	if !ok {
		return nil
	}
	for _, r := range n.Runners() {
		part := shardsOf(r)
		switch {
		case part == nil:
		case c.sharding == nil:
			return fmt.Errorf("%sShards must be set, because %s follows the ranges of this replica only", where, nameOf(src))
		case !same(c.options.Shards, part):
			return fmt.Errorf("%sShards is %s, but %s follows %s; both must be the same value",
				where, shardsName(c.options.Shards), nameOf(src), shardsName(part))
		case c.sharding.By() == meta.ShardByUID && ownsOf(src):
			return fmt.Errorf("%sShards by uid exclude %s: a child and its owner are usually in different ranges; "+
				"use meta.ShardByNamespace, or an informer without Shards for the children", where, nameOf(src))
		}
	}
	return nil
}

// checkLookup returns an error if Shards by uid cannot tell the ranges of the keys that the sources in from name,
// because none of lookups can look up objects.
func (c *Controller[K]) checkLookup(where string, from, lookups []Source[K]) error {
	if c.sharding == nil || c.sharding.By() != meta.ShardByUID {
		return nil
	}
	names := false
	for _, src := range from {
		if _, others := src.(clustering.Expectant); others {
			return nil
		}
		names = names || !namesNone(src)
	}
	if !names {
		return nil
	}
	why := []error{fmt.Errorf("%sShards by uid need a source Watch, whose cache says which uid a key has", where)}
	for _, src := range lookups {
		p, ok := src.(primary[K])
		if !ok {
			continue
		}
		err := p.lookup(meta.ShardByUID)
		if err == nil {
			return nil
		}
		why = append(why, fmt.Errorf("%s: %w", nameOf(src), err))
	}
	return errors.Join(why...)
}

// shardsOf returns the Shards of the runner that fills a cache; nil if the cache has all objects, or the runner is not
// an informer.
func shardsOf(r runner) filler.Shards {
	if f := filler.Of(r); f != nil {
		return f.Shards()
	}
	return nil
}

// same reports whether two values are equal. Values that cannot be compared are not equal.
func same(one, other any) bool {
	return reflect.ValueOf(one).Comparable() && reflect.ValueOf(other).Comparable() && one == other
}

// shardsName names Shards for people.
func shardsName(s filler.Shards) string {
	if runners.IsNil(s) {
		return fmt.Sprintf("a nil %T", s)
	}
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T by %s", s, s.By())
}

// ownsOf reports whether a source maps objects to their owners.
func ownsOf(src any) bool {
	o, ok := src.(interface{ owns() bool })
	return ok && o.owns()
}

// namesNone reports whether a source never names a key.
func namesNone(src any) bool {
	n, ok := src.(interface{ namesNone() bool })
	return ok && n.namesNone()
}

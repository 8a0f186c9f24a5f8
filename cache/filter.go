package cache

import (
	"github.com/bowline-go/bowline/client/meta"
)

// Filtered is the view of the objects of a cache that meet a condition, for subscribers. It is a small value, made by
// [Reader.Where]. The zero Filtered has no objects.
type Filtered[T meta.Object] struct {
	r     Reader[T]
	match func(T) bool
}

// Where returns the view of the objects for which match returns true; a nil match selects all. To read them, loop over the
// Reader and call the same function.
//
// [Store.Deliver] calls match in the goroutine of each subscription, once for each state that is to be delivered to it.
// match must not change the object, and should depend on the object alone: it is called again only when the object
// changes. If it panics, the object does not match, and the panic is reported like that of a handler, with "match" as the
// operation.
func (r Reader[T]) Where(match func(T) bool) Filtered[T] { return Filtered[T]{r, match} }

// Subscribe registers h for the objects that match and their changes, as [Reader.Subscribe] does for all objects. An
// object that begins to match arrives as OnAdd, and one that ceases to match as OnDelete. The guarantees of the package
// hold for the objects that match; so the old object of an OnUpdate is the one that h received last, which matched.
//
// OnDelete receives the newest known state of the object: the final one if it was deleted, and the one that no longer
// matches if it still exists.
//
// Objects that do not match pass through the subscription too: Pending counts them until match has been called. A filtered
// subscription remembers the keys that its handler knows, at about 60 bytes each.
func (f Filtered[T]) Subscribe(h Handler[T]) *Subscription {
	if f.r.s == nil {
		return &Subscription{}
	}
	return f.r.s.subscribe(h, f.match)
}

// Runner returns what fills the store, or nil if the reader of the view does not know.
func (f Filtered[T]) Runner() Runner { return f.r.runner }

// tellFiltered makes the calls that take a handler of a filtered view from the state it knows to the present state.
func (q *subscriber[T]) tellFiltered(c *change[T], report func(*PanicError)) {
	q.unmatched = c
	matches := c.now != nil && q.matches(c, report)
	q.unmatched = nil
	if !q.isClosed() {
		q.tellMatched(c, matches, report)
	}
}

// tellMatched makes the calls once match has decided on the present state.
func (q *subscriber[T]) tellMatched(c *change[T], matches bool, report func(*PanicError)) {
	_, known := q.known.m[c.key]
	if matches {
		q.known.put(c.now.key, struct{}{}) // shares the strings of the state in the store
	} else {
		q.known.drop(c.key)
	}
	told := *c
	switch {
	case !known && !matches:
		return
	case !known:
		told.old = nil
	case !matches && c.now != nil && c.now.uid == c.old.uid:
		told.now, told.last = nil, c.now
	case !matches:
		told.now = nil
	}
	q.tellAll(&told, report)
}

func (q *subscriber[T]) matches(c *change[T], report func(*PanicError)) (matches bool) {
	returned := false
	if report != nil {
		defer func() {
			if !returned {
				matches = false
				report(panicError(recover(), c.key, "match"))
			}
		}()
	}
	matches = q.match(c.now.obj)
	returned = true
	return matches
}

package cache

import (
	"github.com/bowline-go/bowline/client/meta"
)

// Filtered is the part of a cache that a condition holds for, as its subscribers see it. It is a small value, made by
// [Reader.Where]. The zero Filtered has no objects.
type Filtered[T meta.Object] struct {
	r     Reader[T]
	match func(T) bool
}

// Where returns the view of the objects that match reports true for; a nil match is true for all. To read them, loop over
// the Reader and ask the same function.
//
// The function match is called by [Store.Deliver] in the goroutine of each subscription, once for each state that is to
// be delivered to it. It must not change the object, and should answer for the object alone: the answer is asked for again
// only when the object changes. A panic in it is reported as that of a handler is, with "match" as the operation, and
// means that the object does not match.
func (r Reader[T]) Where(match func(T) bool) Filtered[T] { return Filtered[T]{r, match} }

// Subscribe has h told of the objects that match, and of their changes, as [Reader.Subscribe] does of all: an object that
// begins to match arrives as OnAdd, and one that ceases to as OnDelete. All that the package says of subscriptions holds
// for the objects that match; so the old object of an OnUpdate is the one that h was given last, and matched.
//
// OnDelete is given the newest state that is known of the object: its final one if it has gone, and the one that does not
// match any more if it is still there.
//
// What does not match passes through the subscription too: Pending counts it until match has been asked. A filtered
// subscription remembers the keys that its handler knows, at about 60 bytes each.
func (f Filtered[T]) Subscribe(h Handler[T]) *Subscription {
	if f.r.s == nil {
		return &Subscription{}
	}
	return f.r.s.subscribe(h, f.match)
}

// Runner returns what fills the store, or nil if the reader that the view was made of does not know.
func (f Filtered[T]) Runner() Runner { return f.r.runner }

// tellFiltered makes the calls that take a handler of a filtered view from what it knows to what is there.
func (q *subscriber[T]) tellFiltered(c *change[T], report func(*PanicError)) {
	q.unmatched = c
	matches := c.now != nil && q.matches(c, report)
	q.unmatched = nil
	if !q.isClosed() {
		q.tellMatched(c, matches, report)
	}
}

// tellMatched makes the calls when it is known whether the present state matches.
func (q *subscriber[T]) tellMatched(c *change[T], matches bool, report func(*PanicError)) {
	_, known := q.known.m[c.key]
	if matches {
		q.known.put(c.now.key, struct{}{}) // whose strings are those of the state that the store keeps
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

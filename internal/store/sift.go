package store

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// sift reads what the journal has now. It leaves out objects that the handler does not know and that do not match, so
// they do not reach the backlog. It stops when ctx ends, and at the first step for the backlog if the handler takes
// every state.
func (q *subscriber[T]) sift(ctx context.Context, report func(*Panic)) {
	to := q.store.journal.end()
	for st := q.sifted(false, to); st != nil; {
		if ctx.Err() != nil {
			q.putBack()
			return
		}
		st = q.sifted(st.now != nil && q.matches(&st.delta, report), to)
	}
}

// sifted takes the result of match for the step that its previous call returned, if it returned one. It then returns
// the next step for which match must be called, or nil if there is none up to the change with the number to. It does
// not return steps of keys that are in the backlog: match is called for these at their delivery.
func (q *subscriber[T]) sifted(matches bool, to uint64) *step[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sifting {
		q.sifting = false
		if q.closed {
			close(q.signals.done)
			return nil
		}
		q.sort(&q.part.steps[q.at], matches)
	}
	for !q.closed {
		steps := q.unread()
		if q.isNextKnown() || len(steps) == 0 || steps[0].number > to {
			q.settle()
			return nil
		}
		st := &steps[0]
		c := q.find(st)
		if c == nil {
			q.sifting = true
			return st
		}
		q.merge(c, st)
		q.pass(st)
	}
	return nil
}

// putBack makes the next sift begin with the step that sifted has returned.
func (q *subscriber[T]) putBack() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sifting = false
	if q.closed {
		close(q.signals.done)
	}
}

// sort puts st into the backlog if the handler needs a call for it.
func (q *subscriber[T]) sort(st *step[T], matches bool) {
	if e := st.entry(); matches || q.known.find(e.tag, e.key) != nil {
		c := q.append(st)
		c.matched, c.matches = true, matches
	}
	q.pass(st)
}

// ahead returns how many deliveries the unread steps of the journal may add to those of the backlog, and since when
// the first of them waits. The caller holds mu.
func (q *subscriber[T]) ahead() (n int, since time.Time) {
	keys := map[meta.Key]struct{}{}
	q.store.journal.from(q, func(st *step[T]) {
		if !q.every {
			if _, counted := keys[st.key()]; counted || q.find(st) != nil {
				return
			}
			keys[st.key()] = struct{}{}
		}
		if n == 0 {
			since = st.since
		}
		n++
	})
	return n, since
}

// tellFiltered makes the calls that take a handler of a filtered view from the state it knows to the present state.
func (q *subscriber[T]) tellFiltered(c *change[T], report func(*Panic)) {
	matches := c.matches
	if !c.matched {
		q.unmatched = c
		matches = c.now != nil && q.matches(&c.delta, report)
		q.unmatched = nil
	}
	if !q.isClosed() {
		q.tellMatched(c, matches, report)
	}
}

// tellMatched makes the calls once match has decided on the present state.
func (q *subscriber[T]) tellMatched(c *change[T], matches bool, report func(*Panic)) {
	known := q.known.find(c.tag, c.key)
	switch {
	case matches && known == nil:
		q.known.add(c.now)
	case matches:
		q.known.replace(known, c.now)
	case known != nil:
		q.known.drop(known)
	}
	told := *c
	switch {
	case known == nil && !matches:
		return
	case known == nil:
		told.old = nil
	case !matches && c.now != nil && c.now.uid == c.old.uid:
		told.now, told.last = nil, c.now
	case !matches:
		told.now = nil
	}
	q.tellAll(&told, report)
}

func (q *subscriber[T]) matches(d *delta[T], report func(*Panic)) (matches bool) {
	reporting(report, d.key(), "match", func() { matches = q.match(q.store.shared(d.now)) })
	return matches
}

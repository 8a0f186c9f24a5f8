package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// subscriber reads the journal of the store for one subscription, and keeps a backlog of the changes that it has read.
// It keeps no copy of the cache. If a key is neither in the backlog nor in the unread part of the journal, the handler
// knows exactly what the store holds. At the first change of the key the backlog remembers the store's state before it,
// which is what the handler received last, and from then on follows the key's latest state. A delivery is the
// difference between the two, however many states came between.
//
// The goroutine that delivers reads all that the journal has before it takes the oldest change from the backlog. If
// the handler takes every state, it reads one step at a time.
type subscriber[T meta.Object] struct {
	store     *Store[T]
	handler   Handler[T]
	initially InitialHandler[T] // handler, if it is one
	signals   signals

	// match selects the objects for the handler; nil selects all. known are the selected objects, in the states that
	// the handler knows. Only the goroutine that delivers uses known, and only if match is set.
	match func(T) bool
	known keys[T]

	// every says that the handler takes every state, so the backlog has one change of the journal at a time.
	every bool

	// Set during a call that may end the goroutine: rest is the change whose OnAdd follows OnDelete, and unmatched the
	// change that match is deciding on. Used by the goroutine that delivers.
	rest, unmatched *change[T]

	// wake holds one token, which says: look at the journal again.
	//
	// No wake-up is lost. The goroutine sleeps on wake only after it has noted, under journal.mu, that it is asleep
	// and that there is nothing to read. The writer adds a change under journal.mu too, and then sends to all who are
	// asleep. So either the goroutine reads the change before it sleeps, or the writer sends the token after the
	// goroutine has noted that it is asleep, even if it does not sleep yet:
	//
	//	goroutine: notes that it is asleep
	//	writer:    adds a change, and sends: the token lies in the channel
	//	goroutine: receives from wake, returns at once, and reads the change
	//
	// If the channel is full when the writer sends, it holds a token that has not been received yet. The goroutine
	// that receives it looks after the change was added.
	wake chan struct{}

	// mu guards the fields below. A change is in byTag and in the list, or it is current, or it is not referenced. The
	// list is in the order of change.number, and current comes before it.
	mu         sync.Mutex
	byTag      table[uint32, *change[T]] // the first of the changes with a tag
	depth      int                       // changes in byTag
	head, tail *change[T]
	current    *change[T] // the handler is being called for it
	sifting    bool       // match is being called for the next step of the journal
	read       uint64     // the number of the last change that has been read
	armed      bool       // initial is set
	initial    uint64     // the number of the last change that synced waits for
	synced     bool
	marks      []mark // in the order of their numbers
	closed     bool
	running    bool // a goroutine of a delivery works on this subscription

	// The position in the journal: the segment, nil once closed, and the next of its steps. part changes under
	// journal.mu too. asleep is guarded by journal.mu.
	part   *segment[T]
	at     int
	asleep bool
}

// change is an undelivered change of one key: the handler knows old, and the store holds now, as far as it has been
// read. At least one is not nil.
type change[T any] struct {
	step[T]
	key        meta.Key
	tag        uint32
	matched    bool // match has been called for now, and returned matches
	matches    bool
	prev, next *change[T]
	twin       *change[T] // the next one with the same tag
}

// Handler is cache.Handler.
type Handler[T any] interface {
	OnAdd(obj T)
	OnUpdate(old, new T)
	OnDelete(obj T)
}

// InitialHandler is cache.InitialHandler.
type InitialHandler[T any] interface{ OnInitial(obj T) }

// EveryState is implemented by a handler that must receive every state of each object, as far as the store has held
// it. Other handlers receive merged changes. A handler needs every state if it only says where work is, and the work
// reads the store. The store is ahead of its handlers, so the work can act on a state that a merged change leaves out:
// if a reader finds an object that was just added, and the object is deleted before its delivery, only the call for
// the deletion says that the reader has to look again.
//
// Changes are merged for such a handler too while it is behind by more than 16,384 changes and by more changes than
// the store has objects.
type EveryState interface{ TakeEveryState() }

// Subscribe makes a subscription whose backlog is all existing objects. It holds write from before it reads the
// objects until the subscription is in the list. So no change between the two is lost, and no change is both among the
// objects and noted later.
//
// h must not be nil. If match is not nil, the subscription is one of a filtered view.
func (s *Store[T]) Subscribe(h Handler[T], match func(T) bool) Subscription {
	if s == nil {
		return Subscription{}
	}
	_, every := h.(EveryState)
	initially, _ := h.(InitialHandler[T])
	q := &subscriber[T]{
		store:     s,
		handler:   h,
		initially: initially,
		match:     match,
		every:     every,
		signals:   signals{synced: make(chan struct{}), closed: make(chan struct{}), done: make(chan struct{})},
		wake:      make(chan struct{}, 1),
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.journal.join(q)
	q.byTag.reserve(s.all.n)
	now := time.Now()
	s.each("", func(e *entry[T]) { q.append(&step[T]{delta: delta[T]{now: e}, number: q.read, since: now}) })
	if s.committed() {
		q.arm()
	}
	s.subs = append(s.subs, q)
	if s.deliver != nil {
		s.deliver(q)
	}
	return Subscription{queue: q, signals: q.signals}
}

// send puts the token into a channel that holds one, unless it is there already.
func send(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// unread returns steps that have not been read, in order. Call it until it returns none to get all of them. The caller
// holds mu.
func (q *subscriber[T]) unread() []step[T] {
	for {
		if n := int(q.part.n.Load()); q.at < n {
			return q.part.steps[q.at:n]
		}
		if !q.store.journal.advance(q) {
			return nil
		}
	}
}

// absorb reads all unread steps of the journal, or only the next one if the handler takes every state. The caller holds
// mu.
func (q *subscriber[T]) absorb() {
	for !q.isNextKnown() {
		steps := q.unread()
		if len(steps) == 0 {
			break
		}
		if q.every {
			steps = steps[:1]
		}
		q.byTag.reserve(len(steps))
		for i := range steps {
			if c := q.find(&steps[i]); c != nil {
				q.merge(c, &steps[i])
			} else {
				q.append(&steps[i])
			}
			q.pass(&steps[i])
		}
	}
	q.settle()
}

// isNextKnown reports whether the handler takes every state and the backlog has the next one, so that reading on would
// merge. The caller holds mu.
func (q *subscriber[T]) isNextKnown() bool { return q.every && q.head != nil }

// pass goes on to the step after st.
func (q *subscriber[T]) pass(st *step[T]) {
	q.at++
	q.read = st.number
}

// find returns the pending change of a step's key, or nil.
func (q *subscriber[T]) find(st *step[T]) *change[T] {
	if q.depth == 0 {
		return nil
	}
	e := st.entry()
	c := q.byTag.m[e.tag]
	for c != nil && c.key != e.key {
		c = c.twin
	}
	return c
}

// merge adds st to the pending change of its key.
func (q *subscriber[T]) merge(c *change[T], st *step[T]) {
	c.matched = false
	if c.follow(&st.delta) {
		q.remove(c)
	}
}

// append makes st a pending change.
func (q *subscriber[T]) append(st *step[T]) *change[T] {
	e := st.entry()
	c := &change[T]{step: *st, key: e.key, tag: e.tag, prev: q.tail, twin: q.byTag.m[e.tag]}
	q.byTag.put(c.tag, c)
	q.depth++
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	return c
}

func (q *subscriber[T]) remove(c *change[T]) {
	q.depth--
	switch first := q.byTag.m[c.tag]; {
	case first != c:
		for first.twin != c {
			first = first.twin
		}
		first.twin = c.twin
	case c.twin != nil:
		q.byTag.put(c.tag, c.twin)
	default:
		q.byTag.drop(c.tag)
	}
	if c.prev == nil {
		q.head = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.tail = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next, c.twin = nil, nil, nil
}

// take reads what the journal has, removes the oldest change from the backlog and makes it current. c is nil if there
// is none; open is false if the subscription is closed.
func (q *subscriber[T]) take(ctx context.Context, report func(*Panic)) (c *change[T], open bool) {
	if q.match != nil {
		q.sift(ctx, report)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, false
	}
	if q.match == nil {
		q.absorb()
	}
	if c = q.head; c != nil {
		q.remove(c)
		q.current = c
	}
	return c, true
}

// sleep reports whether the goroutine may wait for wake, because there is nothing to do. It also checks the backlog,
// because Backlog may have read the journal since the goroutine took the last change.
func (q *subscriber[T]) sleep() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed || q.head == nil && q.store.journal.sleep(q)
}

// finish records that current has been delivered.
func (q *subscriber[T]) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.current == nil {
		return
	}
	q.current = nil
	q.settle()
	if q.closed {
		close(q.signals.done)
	}
}

// arm makes synced wait for all changes that are in the journal, in the backlog or being handled now. Only the first
// call counts. The caller holds store.write.
func (q *subscriber[T]) arm() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.armed {
		return
	}
	q.armed, q.initial = true, q.store.journal.last
	q.settle()
}

// settle closes synced when all changes up to the last initial one have been handled, and the channel of each mark
// when all changes up to the mark's number have been. It looks at two changes only, because changes are handled in the
// order of their numbers: a key's change keeps its number while later states are merged into it.
func (q *subscriber[T]) settle() {
	if q.closed {
		return
	}
	for len(q.marks) > 0 && q.handled(q.marks[0].number) {
		close(q.marks[0].handled)
		q.marks = q.marks[1:]
	}
	if !q.synced && q.armed && q.handled(q.initial) {
		q.synced = true
		close(q.signals.synced)
	}
}

// isInitial reports whether synced waits for a change that is being handled.
func (q *subscriber[T]) isInitial(c *change[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.synced && (!q.armed || c.number <= q.initial)
}

// handled reports whether no change up to a number is left.
func (q *subscriber[T]) handled(number uint64) bool {
	return q.read >= number &&
		(q.current == nil || q.current.number > number) &&
		(q.head == nil || q.head.number > number)
}

// mark is a number of a change, and a channel that is closed when no change up to it is left.
type mark struct {
	number  uint64
	handled chan struct{}
}

func (q *subscriber[T]) mark() <-chan struct{} {
	q.store.write.Lock()
	defer q.store.write.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	m := mark{q.store.journal.last, make(chan struct{})}
	q.marks = append(q.marks, m)
	q.settle()
	return m.handled
}

func (q *subscriber[T]) backlog() (depth int, age time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var oldest time.Time
	switch {
	case q.closed:
	case q.sifting, q.every:
		depth, oldest = q.ahead()
	default:
		q.absorb()
	}
	depth += q.depth
	if q.head != nil {
		oldest = q.head.since
	}
	if q.current != nil {
		depth++
		oldest = q.current.since
	}
	if !oldest.IsZero() {
		age = time.Since(oldest)
	}
	return depth, age
}

// Backlog returns how many changes the handlers of all subscriptions have not handled, and how long the oldest of
// these has been waiting or being handled; see [Subscription.Backlog]. It waits for a write of the store that is in
// progress.
func (s *Store[T]) Backlog() (changes int, age time.Duration) {
	for _, q := range s.subscribers() {
		n, waiting := q.backlog()
		changes, age = changes+n, max(age, waiting)
	}
	return changes, age
}

func (s *Store[T]) subscribers() []*subscriber[T] {
	s.write.Lock()
	defer s.write.Unlock()
	return slices.Clone(s.subs)
}

// close ends the subscription first, so that its handler is no longer called even while the store is being written,
// and then removes it from the store's list.
func (q *subscriber[T]) close() {
	if !q.end() {
		return
	}
	s := q.store
	s.write.Lock()
	defer s.write.Unlock()
	s.subs = slices.DeleteFunc(s.subs, func(other *subscriber[T]) bool { return other == q })
}

func (q *subscriber[T]) end() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.closed = true
	q.byTag, q.depth, q.head, q.tail, q.marks = table[uint32, *change[T]]{}, 0, nil, nil, nil
	q.store.journal.leave(q)
	close(q.signals.closed)
	if q.current == nil && !q.sifting {
		close(q.signals.done)
	}
	return true
}

func (q *subscriber[T]) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

package cache

import (
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// subscriber is the backlog of one subscription. It keeps no copy of the cache. If a key is not in the backlog, the
// handler knows exactly what the store holds. At the first change of the key the backlog remembers the store's state
// before it, which is what the handler received last, and from then on follows the key's latest state. A delivery is the
// difference between the two, however many states came between.
type subscriber[T meta.Object] struct {
	store   *Store[T]
	handler Handler[T]
	signals signals

	// match selects the objects for the handler; nil selects all. known are the keys of the selected objects that the handler
	// knows. The goroutine that delivers uses it, and only with match.
	match func(T) bool
	known table[meta.Key, struct{}]

	// Set during a call that may end the goroutine: the change whose OnAdd follows OnDelete, and the change that match is
	// deciding on. Used by the goroutine that delivers.
	rest, unmatched *change[T]

	// wake holds one token, which says: look at the backlog again.
	//
	// No wake-up is lost. The goroutine sleeps on wake only after take has found the backlog empty, and the writer sends only
	// after it has added its change. If the change is added before take looks, take finds it, and the token causes one
	// needless look. If it is added after, the token is sent after too, asleep or not:
	//
	//	goroutine: take finds nothing
	//	writer:    adds a change, and sends: the token lies in the channel
	//	goroutine: receives from wake, returns at once, and takes the change
	//
	// If the channel is full when the writer sends, it holds a token that has not been received yet. The goroutine that
	// receives it looks after the change was added.
	wake chan struct{}

	// mu guards the rest. A change is in byKey and in the list, or it is current, or it is not referenced. The list is in the
	// order of change.number, and current comes before it.
	mu         sync.Mutex
	byKey      table[meta.Key, *change[T]]
	head, tail *change[T]
	current    *change[T] // the handler is being called for it
	number     uint64     // of the newest change
	armed      bool       // initial is set
	initial    uint64     // the number of the last change that synced waits for
	synced     bool
	closed     bool
	running    bool // a goroutine of Deliver is at work here
}

// change is an undelivered change of one key: the handler knows old, and the store holds now. At least one is not nil.
type change[T any] struct {
	key        meta.Key
	old, now   *entry[T]
	last       *entry[T] // the final state of old's object, once it is deleted
	number     uint64
	since      time.Time
	prev, next *change[T]
}

// subscribe makes a subscription whose backlog is all existing objects. It holds write from before it reads the objects
// until the subscription is in the list. So no change between the two is lost, and none is both among the objects and
// noted later.
//
// If match is not nil, the subscription is one of a filtered view.
func (s *Store[T]) subscribe(h Handler[T], match func(T) bool) *Subscription {
	if h == nil {
		h = HandlerFuncs[T]{}
	}
	q := &subscriber[T]{
		store:   s,
		handler: h,
		match:   match,
		signals: signals{synced: make(chan struct{}), closed: make(chan struct{}), done: make(chan struct{})},
		wake:    make(chan struct{}, 1),
	}
	s.write.Lock()
	defer s.write.Unlock()
	q.byKey.reserve(s.all.n)
	now := time.Now()
	s.each("", func(e *entry[T]) { q.append(&change[T]{key: e.key, now: e, since: now}) })
	if s.committed() {
		q.arm()
	}
	s.subs = append(s.subs, q)
	send(s.joined)
	return &Subscription{queue: q, signals: q.signals}
}

// send puts the token into a channel that holds one, unless it is there already.
func send(token chan<- struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// note adds changes to the backlog. The caller holds store.write, so that all subscriptions see all changes in the
// order of the writer.
func (q *subscriber[T]) note(deltas []delta[T], now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.byKey.reserve(len(deltas))
	for i := range deltas {
		q.merge(&deltas[i], now)
	}
	q.settle()
	send(q.wake)
}

// merge adds d to the pending change of its key.
//
// The handler's old object can end while later states of the key come and go. last follows that: it is set each time that
// the key passes from a state of the old object to something else. If in the end the key is not in a state of the old
// object, last is its final state; if it is again, last is not used.
func (q *subscriber[T]) merge(d *delta[T], now time.Time) {
	key := d.key()
	c := q.byKey.m[key]
	if c == nil {
		q.append(&change[T]{key: key, old: d.old, now: d.now, last: d.last, since: now})
		return
	}
	if c.old != nil && d.ends() && d.old.uid == c.old.uid {
		c.last = d.last
	}
	c.now = d.now
	if !d.anew && c.void() {
		q.remove(c)
	}
}

// void reports whether there is nothing to deliver: the object came and went, or is back in the state that the handler
// knows.
func (c *change[T]) void() bool {
	if c.old == nil || c.now == nil {
		return c.old == c.now
	}
	return c.old.same(c.now.uid, c.now.version)
}

func (q *subscriber[T]) append(c *change[T]) {
	q.number++
	c.number = q.number
	q.byKey.put(c.key, c)
	c.prev = q.tail
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
}

func (q *subscriber[T]) remove(c *change[T]) {
	q.byKey.drop(c.key)
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
	c.prev, c.next = nil, nil
}

// take removes the oldest change from the backlog and makes it current. c is nil if the backlog is empty; open is false if
// the subscription is closed.
func (q *subscriber[T]) take() (c *change[T], open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, false
	}
	if c = q.head; c != nil {
		q.remove(c)
		q.current = c
	}
	return c, true
}

// finish notes that current has been delivered.
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

// arm makes synced wait for all changes that are in the backlog or being handled now. Only the first call counts.
func (q *subscriber[T]) arm() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.armed {
		return
	}
	q.armed, q.initial = true, q.number
	q.settle()
}

// settle closes synced when no change up to the last initial one is left. It looks at two changes only, because changes
// are handled in the order of their numbers: a key's change keeps its number while later states are merged into it.
func (q *subscriber[T]) settle() {
	if q.synced || q.closed || !q.armed ||
		q.current != nil && q.current.number <= q.initial ||
		q.head != nil && q.head.number <= q.initial {
		return
	}
	q.synced = true
	close(q.signals.synced)
}

func (q *subscriber[T]) backlog() (depth int, age time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	depth = q.byKey.len()
	oldest := q.head
	if q.current != nil {
		depth++
		oldest = q.current
	}
	if oldest != nil {
		age = time.Since(oldest.since)
	}
	return depth, age
}

// Backlog returns how many changes the handlers of all subscriptions have not handled, and how long the oldest of these has
// been waiting or being handled; see [Subscription.Backlog]. It waits for a write of the store that is in progress.
func (s *Store[T]) Backlog() (changes int, age time.Duration) {
	s.write.Lock()
	subs := slices.Clone(s.subs)
	s.write.Unlock()
	for _, q := range subs {
		n, waiting := q.backlog()
		changes, age = changes+n, max(age, waiting)
	}
	return changes, age
}

// close marks the subscription first, so that its handler is no longer called even while the store is being written, and
// then removes it from the store's list.
func (q *subscriber[T]) close() {
	if !q.mark() {
		return
	}
	s := q.store
	s.write.Lock()
	defer s.write.Unlock()
	s.subs = slices.DeleteFunc(s.subs, func(other *subscriber[T]) bool { return other == q })
}

func (q *subscriber[T]) mark() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.closed = true
	q.byKey, q.head, q.tail = table[meta.Key, *change[T]]{}, nil, nil
	close(q.signals.closed)
	if q.current == nil {
		close(q.signals.done)
	}
	return true
}

func (q *subscriber[T]) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

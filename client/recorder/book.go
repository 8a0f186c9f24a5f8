package recorder

import (
	"container/heap"
	"container/list"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// maxSeries bounds the series that are remembered, and maxObjects the objects and the groups of similar records.
	maxSeries  = 4096
	maxObjects = 4096
)

// book holds what has been recorded: it decides what becomes of each record, and what is to be sent when. It does no
// I/O and reads no clock. It is not safe for use by several goroutines at once: the recorder's lock guards it.
//
// Each record is counted in exactly one of these: settled as sent, dropped by a cause, or unsent in one series.
type book struct {
	o      Options
	most   int // series
	queued int // of them, those that the server does not have
	maxAge time.Duration
	refill time.Duration
	ending bool // Run sends everything at once, because it ends
	ended  bool // Run has ended

	known   map[key]*series
	idle    list.List // the series with nothing to send, the least recently used first
	due     queue
	flying  int // series with a sender
	fresh   int // series that the server does not have
	total   int // series, also those that are not in known any more
	groups  *lru[key, group]
	buckets *lru[source, bucket]

	names   nameSource
	failing bool // the last request failed, so one at a time is sent
	resume  time.Time
	backoff *retry.Backoff
	err     error // of the last request

	recorded, sent, cut int
	dropped             map[Cause]int
	untold              map[Cause]*DropError
	untoldCut           *cutError
	told                time.Time // when somebody was last told
	changed             bool      // Run has to look again
}

// newBook returns an empty book.
func newBook(o Options) *book {
	b := &book{
		o: o.withDefaults(), most: maxSeries, queued: queued, maxAge: maxAge, refill: refill,
		dropped: make(map[Cause]int), untold: make(map[Cause]*DropError), names: newNameSource(),
	}
	b.forgetAll()
	return b
}

// forgetAll drops the state of all series, but no counts.
func (b *book) forgetAll() {
	b.known, b.due, b.flying, b.fresh, b.total = make(map[key]*series), nil, 0, 0, 0
	b.idle.Init()
	b.groups, b.buckets = newLRU[key, group](maxObjects), newLRU[source, bucket](maxObjects)
	b.failing, b.resume, b.backoff = false, time.Time{}, retry.New(retry.Policy{})
}

// add takes a record that is valid and fits.
func (b *book) add(now time.Time, r Record) {
	if b.ended {
		b.drop(DropError{Cause: Stopped, Count: 1, Record: r})
		return
	}
	k := keyOf(r)
	s := b.series(now, k)
	if s == nil && b.combines(now, k) {
		k.note, k.combined = "", true
		r.Note = cut(combinedNote+r.Note, maxNote)
		s = b.series(now, k)
	}
	if s == nil {
		if s = b.begin(now, k, r); s == nil {
			return
		}
	}
	s.again(now)
	b.schedule(now, s)
}

// series returns the series of a key, unless it has ended.
func (b *book) series(now time.Time, k key) *series {
	s := b.known[k]
	switch {
	case s == nil:
		return nil
	case s.element != nil && now.Sub(s.last) >= quiet:
		b.forget(s)
		return nil
	case k.combined && now.Sub(s.first) >= renewed:
		if s.element != nil {
			b.forget(s)
		} else {
			delete(b.known, k) // what it has is still sent
		}
		return nil
	}
	return s
}

// begin makes a series, or drops the record.
func (b *book) begin(now time.Time, k key, r Record) *series {
	if b.fresh >= b.queued || b.total >= b.most && b.idle.Len() == 0 {
		b.drop(DropError{Cause: QueueFull, Count: 1, Record: r})
		return nil
	}
	if b.o.Burst > 0 && !b.buckets.get(sourceOf(r)).take(now, b.o.Burst, b.refill) {
		b.drop(DropError{Cause: Spam, Count: 1, Record: r})
		return nil
	}
	if b.total >= b.most {
		b.forget(b.idle.Front().Value.(*series))
	}
	s := &series{key: k, record: r, first: now, index: -1}
	s.at = meta.Key{Namespace: r.Regarding.namespace(), Name: b.names.next(now, r.Regarding)}
	b.known[k] = s
	b.total++
	b.fresh++
	return s
}

// forget removes a series that is idle.
func (b *book) forget(s *series) {
	b.idle.Remove(s.element)
	delete(b.known, s.key) // nothing has s any more
	b.total--
}

// rest puts a series that has nothing to send where it can be forgotten.
func (b *book) rest(s *series) {
	if b.known[s.key] != s {
		b.total-- // another one has taken its place
		return
	}
	s.element = b.idle.PushBack(s)
}

// schedule puts a series with something to send among those that are due, unless it is there.
func (b *book) schedule(now time.Time, s *series) {
	switch {
	case s.flying:
		return // settle looks again
	case s.element != nil:
		b.idle.Remove(s.element)
		s.element = nil
	case s.index >= 0:
		return // it is there
	}
	at := s.earliest
	if b.ending || at.Before(now) {
		at = now
	}
	b.push(s, at)
}

func (b *book) push(s *series, at time.Time) {
	s.when = at
	heap.Push(&b.due, s)
	if s.index == 0 {
		b.changed = true
	}
}

// drop counts records that are dropped, until somebody is told.
func (b *book) drop(d DropError) {
	b.dropped[d.Cause] += d.Count
	told := b.untold[d.Cause]
	if told == nil {
		told = &DropError{Controller: b.o.Controller, Cause: d.Cause}
		b.untold[d.Cause] = told
	}
	told.Count += d.Count
	told.Record, told.Err = d.Record, d.Err
	if told.Count == d.Count {
		b.changed = true
	}
}

// shorten counts a record that has been cut, until somebody is told.
func (b *book) shorten(r Record, err error) {
	b.cut++
	if b.untoldCut == nil {
		b.untoldCut = new(cutError)
	}
	b.untoldCut.count++
	b.untoldCut.about, b.untoldCut.err = r.Regarding, err
	if b.untoldCut.count == 1 {
		b.changed = true
	}
}

// tellEvery is the least time between two times at which somebody is told of drops.
const tellEvery = time.Second

// tell returns what nobody has been told of, or the time until it does. A negative time means that there is nothing.
func (b *book) tell(now time.Time) (drops []*DropError, cut *cutError, wait time.Duration) {
	if len(b.untold) == 0 && b.untoldCut == nil {
		return nil, nil, -1
	}
	if wait := tellEvery - now.Sub(b.told); wait > 0 && !b.ended {
		return nil, nil, wait
	}
	b.told = now
	for _, cause := range causes() {
		if told := b.untold[cause]; told != nil {
			drops = append(drops, told)
			delete(b.untold, cause)
		}
	}
	cut, b.untoldCut = b.untoldCut, nil
	return drops, cut, -1
}

// end makes everything due, because Run ends.
func (b *book) end(now time.Time) {
	b.ending = true
	for _, s := range b.due {
		s.when, s.backoff = now, nil
	}
	heap.Init(&b.due)
	b.resume, b.backoff = now, retry.New(retry.Policy{})
}

// open begins a Run.
func (b *book) open() { b.ending, b.ended = false, false }

// close ends a Run: it drops what has not been sent. No series has a sender any more.
func (b *book) close() {
	for _, s := range b.due {
		b.drop(DropError{Cause: Stopped, Count: s.unsent(), Record: s.record, Err: b.err})
	}
	b.forgetAll()
	b.ending, b.ended = false, true
}

// isEmpty reports whether nothing is to be sent.
func (b *book) isEmpty() bool { return len(b.due) == 0 && b.flying == 0 }

// waiting returns how many occurrences have not been sent.
func (b *book) waiting() int {
	n := b.recorded - b.sent
	for _, d := range b.dropped {
		n -= d
	}
	return n
}

package recorder

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// maxSeries bounds the remembered series, and maxObjects the remembered objects and groups of similar records.
	maxSeries  = 4096
	maxObjects = 4096
)

// book is the state of all records: it decides what happens to each record, and what to send when. It does no I/O and
// reads no clock. The recorder's lock guards it.
//
// Each record is counted exactly once: as sent, as dropped with a cause, or as unsent in one series.
type book struct {
	o      Options
	most   int // maximum of total
	queued int // maximum of fresh
	maxAge time.Duration
	refill time.Duration
	ending bool // Run is ending and sends everything at once
	ended  bool // Run has ended

	digests digester
	began   time.Time          // where clock starts; set by the first record
	active  map[digest]*series // the series that have not ended and are due or flying
	idle    *lru[remembered]   // the other series that have not ended
	due     queue
	flying  int // number of series with a request under way
	fresh   int // number of series that the server does not have
	total   int // number of series: idle, due and flying
	groups  *lru[group]
	buckets *lru[bucket]

	names   nameSource
	failing bool // the last request failed, so requests are sent one at a time
	resume  time.Time
	backoff *retry.Backoff
	err     error // the error of the last request

	recorded, sent, cut int
	dropped             map[Cause]int
	untold              map[Cause]*DropError
	untoldCut           *cutError
	untoldOdd           error     // about the first reason that no condition may have
	odd                 bool      // such a reason was recorded
	told                time.Time // when drops and cuts were last reported
	changed             bool      // Run must call take and tell again
}

// newBook returns an empty book.
func newBook(o Options) *book {
	b := &book{
		o: o.withDefaults(), most: maxSeries, queued: queued, maxAge: maxAge, refill: refill,
		dropped: make(map[Cause]int), untold: make(map[Cause]*DropError), names: newNameSource(), digests: newDigester(),
	}
	b.forgetAll()
	return b
}

// forgetAll removes all series, but keeps the counts.
func (b *book) forgetAll() {
	b.active, b.due, b.flying, b.fresh, b.total = make(map[digest]*series), nil, 0, 0, 0
	b.idle, b.groups, b.buckets = newLRU[remembered](maxSeries), newLRU[group](maxObjects), newLRU[bucket](maxObjects)
	b.failing, b.resume, b.backoff = false, time.Time{}, retry.New(retry.Policy{})
}

// add adds a record that has passed validate and fit.
func (b *book) add(now time.Time, r Record) {
	if b.ended {
		b.drop(DropError{Cause: Stopped, Count: 1, Record: r})
		return
	}
	if b.began.IsZero() {
		b.began = now.Add(-1)
	}
	k, combined := keyOf(r), false
	d := b.digests.key(k)
	s := b.series(now, d, r, false)
	if s == nil && b.combines(now, k) {
		k.note, k.combined, combined = "", true, true
		r.Note = cut(combinedNote+r.Note, maxNote)
		d = b.digests.key(k)
		s = b.series(now, d, r, true)
	}
	if s == nil {
		if s = b.begin(now, d, r, combined); s == nil {
			return
		}
	}
	s.again(now)
	b.schedule(now, s)
}

// clock returns the time since began, which is positive. Idle series, groups and buckets keep times in this form.
func (b *book) clock(now time.Time) time.Duration { return now.Sub(b.began) }

// series returns the current series of a record with the digest d; nil if there is none or it has ended. An idle series
// becomes active.
func (b *book) series(now time.Time, d digest, r Record, combined bool) *series {
	if s := b.active[d]; s != nil {
		if combined && now.Sub(s.first) >= renewed {
			delete(b.active, d) // its unsent occurrences are still sent
			return nil
		}
		return s
	}
	m, ok := b.idle.take(d)
	switch {
	case !ok:
		return nil
	case b.clock(now)-m.last >= quiet, combined && now.Sub(m.first) >= renewed:
		b.total--
		return nil
	}
	s := b.recall(m, d, r, combined)
	b.active[d] = s
	return s
}

// begin makes a series, or drops the record.
func (b *book) begin(now time.Time, d digest, r Record, combined bool) *series {
	if b.fresh >= b.queued || b.total >= b.most && b.idle.size == 0 {
		b.drop(DropError{Cause: QueueFull, Count: 1, Record: r})
		return nil
	}
	if b.o.Burst > 0 && !b.buckets.get(b.digests.source(sourceOf(r))).take(b.clock(now), b.o.Burst, b.refill) {
		b.drop(DropError{Cause: Spam, Count: 1, Record: r})
		return nil
	}
	if b.total >= b.most {
		b.idle.removeOldest()
		b.total--
	}
	s := &series{digest: d, combined: combined, record: r, stamp: b.names.next(now), first: now, index: -1}
	s.at = b.at(s)
	b.active[d] = s
	b.total++
	b.fresh++
	return s
}

// at returns the key of the record of a series at the server.
func (b *book) at(s *series) meta.Key {
	return meta.Key{Namespace: s.record.Regarding.namespace(), Name: b.names.name(s.stamp, s.record.Regarding)}
}

// rest makes a series idle, because it has nothing to send. Nothing refers to s afterwards.
func (b *book) rest(s *series) {
	if b.active[s.digest] != s {
		b.total-- // a newer series has replaced it
		return
	}
	delete(b.active, s.digest)
	*b.idle.get(s.digest) = b.remember(s)
}

// schedule makes a series due, because it has something to send. It does nothing if the series is already due or has a
// request under way.
func (b *book) schedule(now time.Time, s *series) {
	switch {
	case s.flying:
		return // settle schedules it again
	case s.index >= 0:
		return // it is already due
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

// drop counts dropped records, and collects them for the next report.
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

// shorten counts a record that has been cut, and collects it for the next report.
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

// look collects a warning about the first reason that servers accept in a record and refuse in a condition. reason is
// the caller's reason, which fit may have shortened in the record.
func (b *book) look(r Record, reason string) {
	if b.odd {
		return
	}
	if err := meta.ValidReason(reason); err != nil {
		b.odd, b.changed = true, true
		b.untoldOdd = fmt.Errorf("recorded %v with a reason that no condition may have; this is reported once: %w", r.Regarding, err)
	}
}

// tellEvery is the minimum time between two reports of drops and cuts.
const tellEvery = time.Second

// news has the reports of one call of tell.
type news struct {
	drops []*DropError
	cut   *cutError
	odd   error
}

// tell returns what to report now, or the time until the next report. A negative time means that there is nothing more
// to report.
func (b *book) tell(now time.Time) (n news, wait time.Duration) {
	if len(b.untold) == 0 && b.untoldCut == nil && b.untoldOdd == nil {
		return n, -1
	}
	if wait := tellEvery - now.Sub(b.told); wait > 0 && !b.ended {
		return n, wait
	}
	b.told = now
	for _, cause := range causes() {
		if told := b.untold[cause]; told != nil {
			n.drops = append(n.drops, told)
			delete(b.untold, cause)
		}
	}
	n.cut, b.untoldCut = b.untoldCut, nil
	n.odd, b.untoldOdd = b.untoldOdd, nil
	return n, -1
}

// end makes all unsent series due now, because Run is ending.
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

// close ends a Run: it drops all unsent records. No request may be under way.
func (b *book) close() {
	for _, s := range b.due {
		b.drop(DropError{Cause: Stopped, Count: s.unsent(), Record: s.record, Err: b.err})
	}
	b.forgetAll()
	b.ending, b.ended = false, true
}

// isEmpty reports whether there is nothing to send and no request under way.
func (b *book) isEmpty() bool { return len(b.due) == 0 && b.flying == 0 }

// waiting returns how many occurrences have not been sent.
func (b *book) waiting() int {
	n := b.recorded - b.sent
	for _, d := range b.dropped {
		n -= d
	}
	return n
}

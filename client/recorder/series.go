package recorder

import (
	"container/list"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/retry"
)

// A series is a record that is made again and again: one object at the server, with a count. Every record is the start
// of one.

// The times of a series.
const (
	// quiet is how long a record is not made until the next one is a new record.
	quiet = 6 * time.Minute
	// firstInterval is the time between the first update of a count and the second. Each further one takes three times
	// as long, up to lastInterval. That is less than quiet, so the count of a series that has ended is always right.
	firstInterval = 10 * time.Second
	lastInterval  = 5 * time.Minute
	// renewed is how long records that differ in their notes are combined into the same one: its note cannot change,
	// and should not become too old.
	renewed = time.Hour
)

// place is an object without its version, so that two versions of it are one.
type place struct {
	gvk                        meta.GVK
	namespace, name, uid, path string
}

func placeOf(r Reference) place {
	return place{gvk: r.GVK, namespace: r.Identity.Namespace, name: r.Identity.Name, uid: r.Identity.UID, path: r.FieldPath}
}

// key says which records are the same. combined records are the same whatever their notes.
type key struct {
	regarding, related   place
	warning, combined    bool
	reason, action, note string
}

func keyOf(r Record) key {
	return key{
		regarding: placeOf(r.Regarding), related: placeOf(r.Related),
		warning: r.Warning, reason: r.Reason, action: r.Action, note: r.Note,
	}
}

// series is the state of one. It is in one of four places: idle, if nothing is to be sent; due, if something is; with a
// sender; or it is forgotten.
type series struct {
	key    key
	record Record // as it was first made
	at     meta.Key

	first, last time.Time // when the record was made
	since       time.Time // when the first occurrence was made that nobody has been told of
	count       int       // of occurrences
	settled     int       // of these, those that the server has, or that have been dropped
	created     bool      // the server has the record

	interval time.Duration // after the last update
	earliest time.Time     // for the next one
	when     time.Time     // the place among those that are due
	index    int           // in due, or -1
	flying   bool          // with a sender
	element  *list.Element // in idle
	attempts int           // that have failed in a row
	backoff  *retry.Backoff
	denied   time.Time // when the first attempt in a row was forbidden; zero if none was
}

// again adds an occurrence.
func (s *series) again(now time.Time) {
	if s.count == s.settled {
		s.since = now
	}
	s.count++
	s.last = now
}

// unsent returns how many occurrences nobody has been told of.
func (s *series) unsent() int { return s.count - s.settled }

// due returns since when the series could have been sent.
func (s *series) due() time.Time {
	if s.earliest.After(s.since) {
		return s.earliest
	}
	return s.since
}

// updated notes an update, after which the next one has to wait.
func (s *series) updated(now time.Time) {
	s.interval = min(max(3*s.interval, firstInterval), lastInterval)
	s.earliest = now.Add(s.interval)
}

// queue is a heap of series that are due, the earliest first. It implements heap.Interface.
type queue []*series

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].when.Before(q[j].when) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *queue) Push(x any) {
	s := x.(*series)
	s.index = len(*q)
	*q = append(*q, s)
}

func (q *queue) Pop() any {
	old := *q
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	s.index = -1
	return s
}

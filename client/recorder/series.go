package recorder

import (
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/retry"
)

// A series is a record and its repetitions: one object at the server, with a count. Every new record starts a series.

// The times of a series.
const (
	// quiet is the time without an occurrence after which a series ends.
	quiet = 6 * time.Minute
	// firstInterval is the time between the first update of a count and the second. Each further interval is three
	// times as long, up to lastInterval. That is less than quiet, so the count of a series that has ended is always
	// right.
	firstInterval = 10 * time.Second
	lastInterval  = 5 * time.Minute
	// renewed is the maximum duration of a combined series: its note cannot change, and should not become too old.
	renewed = time.Hour
)

// place identifies an object, or a part of it, without its resource version.
type place struct {
	gvk                        meta.GVK
	namespace, name, uid, path string
}

func placeOf(r Reference) place {
	return place{gvk: r.GVK, namespace: r.Identity.Namespace, name: r.Identity.Name, uid: r.Identity.UID, path: r.FieldPath}
}

// key identifies a series: records with the same key are the same. The key of a combined series has no note.
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

// series is the state of a series that has something to send (it is due) or has a request under way (it is flying). If
// a series has neither, it is idle, and the book keeps a remembered instead.
type series struct {
	digest   digest // of its key
	combined bool
	record   Record   // the first occurrence
	stamp    int64    // the stamp in the record's name
	at       meta.Key // the record's key at the server

	first, last time.Time // when the first and the last occurrence were made
	since       time.Time // when the oldest unsent occurrence was made
	count       int       // of occurrences
	settled     int       // number of occurrences that were sent or dropped
	created     bool      // the server has the record

	interval time.Duration // the wait after the last update
	earliest time.Time     // when the next update may be sent
	when     time.Time     // when the series is due; it orders the queue
	index    int           // in due, or -1
	flying   bool          // a request is under way
	attempts int           // number of failed attempts in a row
	backoff  *retry.Backoff
	denied   time.Time // when the current run of 403 answers began; zero if there is none
}

// again adds an occurrence.
func (s *series) again(now time.Time) {
	if s.count == s.settled {
		s.since = now
	}
	s.count++
	s.last = now
}

// unsent returns the number of occurrences that were neither sent nor dropped.
func (s *series) unsent() int { return s.count - s.settled }

// due returns when the series became ready to be sent.
func (s *series) due() time.Time {
	if s.earliest.After(s.since) {
		return s.earliest
	}
	return s.since
}

// updated records an update, and delays the next one.
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

package debug

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// kind is the subject of an event.
type kind string

const (
	ofWatch     kind = "watch"     // an event of a watch
	ofList      kind = "list"      // a list that has ended
	ofReconcile kind = "reconcile" // a reconcile that has ended
	ofRequest   kind = "request"   // an HTTP exchange
	ofRetry     kind = "retry"     // an attempt that failed and is followed by another
	ofWarning   kind = "warning"   // a warning of the server, a fight, a credential that could not be renewed
	ofRanges    kind = "ranges"    // this replica has got or lost ranges of a group that shares the work
	ofRun       kind = "run"       // something begins to run, or ends
)

// kinds are all kinds, in the order in which the page names them.
func kinds() []kind {
	return []kind{ofWatch, ofList, ofReconcile, ofRequest, ofRetry, ofWarning, ofRanges, ofRun}
}

// event records something that has happened. It holds only text, and so keeps no object of the program alive.
type event struct {
	Seq  uint64        `json:"seq"`
	At   time.Time     `json:"at"`
	Kind kind          `json:"kind"`
	What string        `json:"what"`             // in one or two words
	In   string        `json:"in,omitempty"`     // the resource, the controller or the lease
	Key  string        `json:"key,omitempty"`    // of the object
	Text string        `json:"text,omitempty"`   // further details
	Took time.Duration `json:"tookNs,omitempty"` // 0 if it took no time
	Bad  bool          `json:"bad,omitempty"`
}

// events keeps the latest events of each kind, so that many of one kind do not displace the few of another. Streams
// read from it at their own pace: it buffers nothing for them, and a stream that is too slow misses events and learns
// how many.
type events struct {
	size int

	mu    sync.Mutex // guards the fields below
	last  uint64     // the sequence number of the latest event
	rings map[kind]*ring
	more  chan struct{} // closed at the next event; nil while no stream waits
}

// ring has the latest events of one kind.
type ring struct {
	kept  []event // once it is full, the oldest is at next
	next  int
	total int    // how many there have been
	lost  uint64 // the sequence number of the latest event that is no longer kept
}

func newEvents(size int) *events {
	e := &events{size: size, rings: make(map[kind]*ring)}
	for _, k := range kinds() {
		e.rings[k] = &ring{}
	}
	return e
}

func (e *events) add(v event) {
	v.At = time.Now()
	v.What, v.In, v.Key, v.Text = clean(v.What), clean(v.In), clean(v.Key), clean(v.Text)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	v.Seq = e.last
	r := e.rings[v.Kind]
	r.total++
	if len(r.kept) < e.size {
		r.kept = append(r.kept, v)
	} else {
		r.lost = r.kept[r.next].Seq
		r.kept[r.next] = v
		r.next = (r.next + 1) % e.size
	}
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// at returns the i-th of the kept events, from the oldest.
func (r *ring) at(i int) event { return r.kept[(r.next+i)%len(r.kept)] }

// since returns the kept events of some kinds after a sequence number, oldest first. If there are more than most, it
// returns the latest ones.
func (e *events) since(after uint64, of []kind, most int) (found []event, last uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range of {
		r := e.rings[k]
		first := len(r.kept)
		for first > 0 && r.at(first-1).Seq > after && len(r.kept)-first < most {
			first--
		}
		for i := first; i < len(r.kept); i++ {
			found = append(found, r.at(i))
		}
	}
	slices.SortFunc(found, bySeq)
	if extra := len(found) - most; extra > 0 {
		found = found[extra:]
	}
	return found, e.last
}

func bySeq(a, b event) int { return cmp.Compare(a.Seq, b.Seq) }

// counts returns how many events of each kind there have been.
func (e *events) counts() map[kind]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := make(map[kind]int, len(e.rings))
	for k, r := range e.rings {
		n[k] = r.total
	}
	return n
}

// cursor is the place of one stream in the events.
type cursor struct {
	e     *events
	kinds []kind
	after uint64
	read  map[kind]int // how many events of each kind the cursor has passed
}

// from returns a cursor after the event with a sequence number, or after the latest event before it. later reports
// whether events after it are no longer kept.
func (e *events) from(after uint64, of []kind) (c *cursor, later bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if after > e.last { // the number is from an earlier process
		after, later = 0, true
	}
	c = &cursor{e: e, kinds: of, after: after, read: make(map[kind]int)}
	for _, k := range of {
		r := e.rings[k]
		kept := 0
		for kept < len(r.kept) && r.at(len(r.kept)-1-kept).Seq > after {
			kept++
		}
		c.read[k] = r.total - kept
		later = later || r.lost > after
	}
	return c, later
}

// next returns events that the cursor has not passed, oldest first, and no more than most. missed is how many events
// before those are no longer kept. If there are no events, more is closed when the next one arrives.
func (c *cursor) next(most int) (found []event, missed int, more <-chan struct{}) {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	for _, k := range c.kinds {
		r := c.e.rings[k]
		unread := r.total - c.read[k]
		if lost := unread - len(r.kept); lost > 0 {
			missed += lost
			c.read[k] += lost
			unread = len(r.kept)
		}
		for i := range min(unread, most) {
			found = append(found, r.at(len(r.kept)-unread+i))
		}
	}
	slices.SortFunc(found, bySeq)
	found = found[:min(len(found), most)]
	for _, v := range found {
		c.read[v.Kind]++
		c.after = v.Seq
	}
	if len(found) > 0 || missed > 0 {
		return found, missed, nil
	}
	if c.e.more == nil {
		c.e.more = make(chan struct{})
	}
	return nil, 0, c.e.more
}

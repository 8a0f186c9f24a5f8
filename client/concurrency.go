package client

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
)

// Concurrency bounds how many requests are under way at a time, and adapts the bound to the server. The bound halves when the
// server says that it has too many requests (429, or 503 with Retry-After). It shrinks a little when answers take much longer
// than they could. It grows slowly while requests wait for it.
//
// A request is under way until the headers of its answer arrive, so a caller may send another request while it reads an answer.
// Watches do not count. The requests of a [Credentials] for a new credential do not count either, because the requests that wait
// for it may take up the whole bound. Waiting requests go in the order in which they came. A Concurrency is safe for use by
// several goroutines and clients at once, and holds no goroutine.
type Concurrency struct {
	err      error // why it cannot be used
	min, max float64

	mu       sync.Mutex // guards the rest
	limit    float64
	inFlight int
	waiting  list.List // of chan struct{}, which is closed when its owner gets a slot
	lowered  time.Time // when limit was lowered last
	latency  map[latencyClass]*latency
}

// ConcurrencyOptions bound a [Concurrency]. The zero value is a usable default.
type ConcurrencyOptions struct {
	// Min and Max limit the bound; 0 means 2 and 500.
	Min, Max int
	// Start is the initial bound; 0 means 20, or the nearest number that Min and Max allow.
	Start int
}

// NewConcurrency returns a Concurrency for one or more clients of one server. If the options are invalid, New returns the error.
func NewConcurrency(o ConcurrencyOptions) *Concurrency {
	c := &Concurrency{latency: make(map[latencyClass]*latency)}
	if o.Min < 0 || o.Max < 0 || o.Start < 0 {
		c.err = fmt.Errorf("client.ConcurrencyOptions: Min, Max and Start must not be negative, got %d, %d and %d", o.Min, o.Max, o.Start)
	}
	if o.Max == 0 {
		o.Max = max(500, o.Min)
	}
	if o.Min == 0 {
		o.Min = min(2, o.Max)
	}
	switch {
	case c.err != nil:
	case o.Min > o.Max:
		c.err = fmt.Errorf("client.ConcurrencyOptions: Min must not be above Max, got %d and %d", o.Min, o.Max)
	case o.Start == 0:
		o.Start = min(max(20, o.Min), o.Max)
	case o.Start < o.Min || o.Start > o.Max:
		c.err = fmt.Errorf("client.ConcurrencyOptions: Start must be %d to %d, got %d", o.Min, o.Max, o.Start)
	}
	c.min, c.max, c.limit = float64(o.Min), float64(o.Max), float64(o.Start)
	return c
}

// usable returns the reason why c cannot be used, or nil.
func (c *Concurrency) usable() error {
	if c.err == nil && c.max == 0 {
		return errors.New("client.Config: Concurrency must be made by NewConcurrency")
	}
	return c.err
}

// Limit returns how many requests may be under way now.
func (c *Concurrency) Limit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.limit)
}

// InFlight returns how many requests are under way now.
func (c *Concurrency) InFlight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight
}

// slot is the right to have one request under way. A nil slot belongs to no Concurrency.
type slot struct {
	c     *Concurrency
	since time.Time
	full  bool // whether the bound was reached, so that a higher one would have been used
}

// acquire waits for a slot.
func (c *Concurrency) acquire(ctx context.Context) (*slot, error) {
	if c == nil || conn.CallOf(ctx).Fetch {
		return nil, nil
	}
	c.mu.Lock()
	if c.waiting.Len() == 0 && c.inFlight < int(c.limit) {
		c.inFlight++
		s := &slot{c: c, since: time.Now(), full: c.inFlight >= int(c.limit)}
		c.mu.Unlock()
		return s, nil
	}
	turn := make(chan struct{})
	place := c.waiting.PushBack(turn)
	c.mu.Unlock()
	select {
	case <-turn:
		return &slot{c: c, since: time.Now(), full: true}, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-turn: // the slot came at the same moment
		c.inFlight--
	default:
		c.waiting.Remove(place)
	}
	c.admit()
	return nil, conn.ContextError(ctx)
}

// admit gives free slots to waiting requests. c.mu is held.
func (c *Concurrency) admit() {
	for c.inFlight < int(c.limit) && c.waiting.Len() > 0 {
		c.inFlight++
		close(c.waiting.Remove(c.waiting.Front()).(chan struct{}))
	}
}

// release gives the slot back, and adapts the bound to the request's answer, nil if there was none, and to its duration.
func (s *slot) release(r RequestInfo, resp *http.Response) {
	if s == nil {
		return
	}
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	switch {
	case resp == nil: // no answer says nothing about the server's load
	case isBusy(resp) && r.Subresource != "eviction": // there, 429 is about a disruption budget
		c.lower(s, 0.5)
	case hasLatency(r) && c.latencyOf(latencyClass{r.Verb, r.Resource}).rises(r.Duration):
		c.lower(s, 0.95)
	case s.full:
		c.limit = min(c.limit+1/c.limit, c.max)
	}
	c.admit()
}

// lower multiplies the bound by a factor, unless it has been lowered since the request was sent: requests that were under way
// together report the same overload.
func (c *Concurrency) lower(s *slot, by float64) {
	if s.since.Before(c.lowered) {
		return
	}
	c.limit = max(c.limit*by, c.min)
	c.lowered = time.Now()
}

// latencyClass is a class of requests that take about the same time.
type latencyClass struct {
	verb     string
	resource meta.GVR
}

// hasLatency reports whether the time of r can be compared with that of others: r is a call about one object. The time of a list
// depends on its length.
func hasLatency(r RequestInfo) bool {
	return r.Resource != (meta.GVR{}) && r.Verb != "list" && r.Verb != "deletecollection" && r.Subresource == ""
}

// maxLatencies bounds the number of classes in memory.
const maxLatencies = 256

func (c *Concurrency) latencyOf(class latencyClass) *latency {
	l := c.latency[class]
	if l == nil {
		if len(c.latency) >= maxLatencies {
			clear(c.latency)
		}
		l = &latency{}
		c.latency[class] = l
	}
	return l
}

// latency detects whether answers take much longer than the best of the last 10 to 20 minutes.
type latency struct {
	mean       time.Duration // moving average: each answer counts one eighth
	best, past time.Duration // in this period and in the one before; 0 = none
	began      time.Time     // this period
}

const (
	latencyPeriod = 10 * time.Minute
	// A mean is a rise if it is more than latencyRise times the best, and more than latencySlack above it.
	latencyRise  = 3
	latencySlack = 20 * time.Millisecond
)

// rises counts an answer, and reports whether answers take much longer now.
func (l *latency) rises(d time.Duration) bool {
	now := time.Now()
	switch age := now.Sub(l.began); {
	case age >= 2*latencyPeriod:
		*l = latency{began: now}
	case age >= latencyPeriod:
		l.past, l.best, l.began = l.best, 0, now
	}
	if l.best == 0 || d < l.best {
		l.best = max(d, 1)
	}
	if l.mean == 0 {
		l.mean = d
	}
	l.mean += (d - l.mean) / 8
	best := l.best
	if l.past != 0 {
		best = min(best, l.past)
	}
	return l.mean > latencyRise*best && l.mean > best+latencySlack
}

// isBusy reports whether an answer says that the server has too many requests.
func isBusy(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return resp.Header.Get("Retry-After") != ""
	}
	return false
}

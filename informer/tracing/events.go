package tracing

import (
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client/meta"
)

const (
	maxEvents = 10_000 // remembered events
	maxKeys   = 10_000 // keys that have been named and not been reconciled since
	maxLinks  = 8      // links of a reconcile
)

// state is a state of an object. Resource versions are unique among the objects of a server.
type state struct {
	object  meta.Key
	version string
}

// event is the span of an event.
type event struct {
	state
	uid  string
	span trace.SpanContext
	// before is the number of the previous event of the same object; 0 if there is none.
	before int
}

// events remembers the spans of the last events, and finds them by the states of their objects. Its mutex guards its
// fields.
type events struct {
	mu      sync.Mutex
	all     []event        // a ring: event n is at n % maxEvents
	last    int            // the number of the last event; the first one is 1
	byState map[state]int  // the numbers of events
	byUID   map[string]int // the numbers of the last events of objects
}

func newEvents() *events {
	return &events{byState: make(map[state]int), byUID: make(map[string]int)}
}

// put adds an event. If there are too many, it forgets the oldest.
func (e *events) put(id meta.Identity, span trace.SpanContext) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	one := event{state: state{id.Key(), id.ResourceVersion}, uid: id.UID, span: span}
	if e.all == nil {
		e.all = make([]event, 1) // there is no event 0
	}
	if len(e.all) < maxEvents {
		e.all = append(e.all, event{})
	}
	at := &e.all[e.last%maxEvents]
	if n := e.last - maxEvents; n > 0 && e.byState[at.state] == n {
		delete(e.byState, at.state)
	}
	if n := e.last - maxEvents; n > 0 && e.byUID[at.uid] == n {
		delete(e.byUID, at.uid)
	}
	if id.UID != "" {
		one.before, e.byUID[id.UID] = e.byUID[id.UID], e.last
	}
	*at, e.byState[one.state] = one, e.last
}

// between returns the events that led to a state of an object from a previous version, latest first. Without a previous
// version it returns only the event of that state.
func (e *events) between(previous string, now state) (links []trace.Link) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := e.byState[now]; n > max(0, e.last-maxEvents) && len(links) < maxLinks; {
		one := e.all[n%maxEvents]
		if order, ok := meta.CompareVersions(one.version, previous); previous != "" && (!ok || order <= 0) {
			break
		}
		links = append(links, trace.Link{SpanContext: one.span})
		if n = one.before; previous == "" {
			break
		}
	}
	return links
}

// key is a key of a controller.
type key struct {
	controller string
	key        any
}

// causes remembers the events that named keys which have not been reconciled since. Its mutex guards its fields.
type causes struct {
	mu    sync.Mutex
	links map[key][]trace.Link
}

func newCauses() *causes { return &causes{links: make(map[key][]trace.Link)} }

// put adds the events that have named a key, latest first. If there are too many, it forgets the oldest of the key, or
// the events of any other key.
func (c *causes) put(k key, links []trace.Link) {
	if len(links) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.links[k]
	if !known && len(c.links) >= maxKeys {
		for other := range c.links {
			delete(c.links, other)
			break
		}
	}
	c.links[k] = append(links, before[:min(len(before), maxLinks-len(links))]...)
}

// take returns the events that have named a key, and forgets them.
func (c *causes) take(k key) []trace.Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	links := c.links[k]
	delete(c.links, k)
	return links
}

package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// list makes the span of a list that has ended.
func (t *tracer) list(ctx context.Context, l informer.ListInfo) {
	name := "relist "
	if l.Cause == informer.Initial {
		name = "initial list "
	}
	attributes := append(about(l.Resource, l.Namespace, ""), attribute.String("cause", string(l.Cause)),
		attribute.String("mode", l.Mode.String()), attribute.Int("objects", l.Objects))
	_, span := t.Start(ctx, name+l.Resource.Resource, trace.WithTimestamp(l.Began), trace.WithAttributes(attributes...))
	end(span, l.Err, trace.WithTimestamp(l.Began.Add(l.Duration)))
}

// event makes the span of an event, and remembers it for the reconciles that the event causes.
func (t *tracer) event(ctx context.Context, e informer.EventInfo) {
	if e.Type == client.Bookmark {
		return
	}
	attributes := append(about(e.Resource, e.Identity.Namespace, e.Identity.Name),
		attribute.String("type", string(e.Type)), attribute.String("k8s.object.uid", e.Identity.UID),
		attribute.String("k8s.object.resource_version", e.Identity.ResourceVersion))
	// A span of its own trace: the one of ctx is the whole program's.
	_, span := t.Start(ctx, "event "+e.Resource.Resource, trace.WithNewRoot(), trace.WithAttributes(attributes...))
	t.events.put(state{e.Identity.Key(), e.Identity.ResourceVersion}, span.SpanContext())
	end(span, e.Err)
}

// state is one state of an object. Versions are those of the whole server, so the resource is not needed.
type state struct {
	object  meta.Key
	version string
}

// maxEvents bounds how many spans of events are remembered.
const maxEvents = 10_000

// events remembers the spans of the latest events. Its mutex guards its fields.
type events struct {
	mu    sync.Mutex
	spans map[state]trace.SpanContext
	order []state // a ring, the oldest at next when it is full
	next  int
}

func newEvents() *events { return &events{spans: make(map[state]trace.SpanContext)} }

func (e *events) put(s state, span trace.SpanContext) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.spans[s]; known { // two informers of one resource
		e.spans[s] = span
		return
	}
	if len(e.order) < maxEvents {
		e.order = append(e.order, s)
	} else {
		delete(e.spans, e.order[e.next])
		e.order[e.next] = s
		e.next = (e.next + 1) % maxEvents
	}
	e.spans[s] = span
}

func (e *events) get(s state) (trace.SpanContext, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	span, found := e.spans[s]
	return span, found
}

package tracing

import (
	"context"
	"slices"
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
	t.events.put(e.Identity.Key(), span.SpanContext())
	end(span, e.Err)
}

// maxKeys bounds for how many keys events are remembered, and maxEvents how many for each.
const (
	maxKeys   = 10_000
	maxEvents = 8
)

// events remembers the spans of the events that no reconcile has followed yet, by the key of their object. Its mutex guards its
// fields.
type events struct {
	mu    sync.Mutex
	spans map[meta.Key][]trace.Link
}

func newEvents() *events { return &events{spans: make(map[meta.Key][]trace.Link)} }

// put adds an event of an object. If there are too many, it forgets the oldest of the object, or those of any other.
func (e *events) put(key meta.Key, span trace.SpanContext) {
	e.mu.Lock()
	defer e.mu.Unlock()
	links, known := e.spans[key]
	if !known && len(e.spans) >= maxKeys {
		for other := range e.spans {
			delete(e.spans, other)
			break
		}
	}
	if len(links) == maxEvents {
		links = slices.Delete(links, 0, 1)
	}
	e.spans[key] = append(links, trace.Link{SpanContext: span})
}

// take returns the events of an object, and forgets them.
func (e *events) take(key meta.Key) []trace.Link {
	e.mu.Lock()
	defer e.mu.Unlock()
	links := e.spans[key]
	delete(e.spans, key)
	return links
}

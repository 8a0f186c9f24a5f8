package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
)

// list makes the span of a list that has ended.
func (t *tracer) list(ctx context.Context, l informer.ListInfo) {
	name := "relist "
	if l.Cause == informer.Initial {
		name = "initial list "
	}
	now := time.Now()
	attributes := append(about(l.Resource, l.Namespace, ""), attribute.String("cause", string(l.Cause)),
		attribute.String("mode", l.Mode.String()), attribute.Int("objects", l.Objects))
	_, span := t.Start(ctx, name+l.Resource.Resource, trace.WithTimestamp(now.Add(-l.Duration)), trace.WithAttributes(attributes...))
	end(span, l.Err, trace.WithTimestamp(now))
}

// event makes the span of an event, and remembers it for the reconciles of keys that its object names.
func (t *tracer) event(ctx context.Context, e informer.EventInfo) {
	if e.Type == client.Bookmark {
		return
	}
	attributes := append(about(e.Resource, e.Identity.Namespace, e.Identity.Name),
		attribute.String("type", string(e.Type)), attribute.String("k8s.object.uid", e.Identity.UID),
		attribute.String("k8s.object.resource_version", e.Identity.ResourceVersion))
	// The span begins its own trace, because the trace of ctx is that of the whole program.
	_, span := t.Start(ctx, "event "+e.Resource.Resource, trace.WithNewRoot(), trace.WithAttributes(attributes...))
	t.events.put(e.Identity, span.SpanContext())
	end(span, e.Err)
}

package tracing

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/informer/controller"
)

// named remembers the events that caused a key to be named, for the key's next reconcile.
func (t *tracer) named(_ context.Context, n controller.NamedInfo) {
	t.causes.put(key{n.Controller, n.Key}, t.events.between(n.Previous, state{n.Object, n.ResourceVersion}))
}

// reconcile begins the span of a reconcile. The span begins its own trace, because the trace of ctx is that of the
// whole program.
func (t *tracer) reconcile(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
	links := t.causes.take(key{r.Controller, r.Key})
	ctx, span := t.Start(ctx, "reconcile "+r.Controller, trace.WithNewRoot(), trace.WithLinks(links...), trace.WithAttributes(
		attribute.String("controller", r.Controller), attribute.String("key", fmt.Sprint(r.Key)), attribute.Int("attempt", r.Attempt)))
	return ctx, func(e controller.ReconcileEnd) {
		span.SetAttributes(attribute.String("outcome", e.Outcome.String()))
		if after, again := e.Result.Delay(time.Now()); again {
			span.SetAttributes(attribute.String("requeue_after", max(0, after).Round(time.Millisecond).String()))
		}
		end(span, e.Err)
	}
}

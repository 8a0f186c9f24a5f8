package tracing

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// scope is the name of the instrumentation.
const scope = "github.com/bowline-go/bowline/informer/tracing"

// Context returns a context. Everything of Bowline that runs with it, or with a context derived from it, is traced by a
// tracer of p.
func Context(ctx context.Context, p trace.TracerProvider) context.Context {
	t := &tracer{Tracer: p.Tracer(scope), events: newEvents(), causes: newCauses()}
	ctx = client.WithHooks(ctx, client.Hooks{Call: t.call, Request: t.attempt, Retry: t.retry})
	ctx = informer.WithHooks(ctx, informer.Hooks{List: t.list, Event: t.event})
	return controller.WithHooks(ctx, controller.Hooks{Reconcile: t.reconcile, Named: t.named})
}

// tracer makes spans.
type tracer struct {
	trace.Tracer
	events *events
	causes *causes
}

// end ends the span of work that has returned err.
func end(s trace.Span, err error, options ...trace.SpanEndOption) {
	if err != nil {
		s.RecordError(err)
		s.SetStatus(codes.Error, err.Error())
	}
	s.End(options...)
}

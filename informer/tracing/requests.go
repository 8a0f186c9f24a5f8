package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// about are the attributes of an object, or of a collection.
func about(r meta.GVR, namespace, name string) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("k8s.resource", r.String())}
	if namespace != "" {
		all = append(all, attribute.String("k8s.namespace.name", namespace))
	}
	if name != "" {
		all = append(all, attribute.String("k8s.object.name", name))
	}
	return all
}

// call begins the span of a call.
func (t *tracer) call(ctx context.Context, r client.RequestInfo) (context.Context, func(error)) {
	name := strings.TrimSpace(r.Verb + " " + r.Resource.Resource)
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	attributes := append(about(r.Resource, r.Key.Namespace, r.Key.Name),
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.Host))
	ctx, span := t.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, func(err error) { end(span, err) }
}

// attempt adds an attempt to the span of its call.
func (t *tracer) attempt(ctx context.Context, r client.RequestInfo) {
	attributes := []attribute.KeyValue{
		attribute.Int("attempt", r.Attempt), attribute.Float64("duration", r.Duration.Seconds()), attribute.Float64("waited", r.Waited.Seconds()),
	}
	if r.Err != nil {
		attributes = append(attributes, attribute.String("error", r.Err.Error()))
	} else {
		attributes = append(attributes, attribute.Int("http.response.status_code", r.Code))
	}
	trace.SpanFromContext(ctx).AddEvent("attempt", trace.WithAttributes(attributes...))
}

// retry adds the wait for another attempt to the span of its call.
func (t *tracer) retry(ctx context.Context, r client.RequestInfo) {
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(
		attribute.String("error", r.Err.Error()), attribute.Float64("wait", r.Wait.Seconds())))
}

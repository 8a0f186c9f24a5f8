package tracing

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client/meta"
)

func TestEventsAreBounded(t *testing.T) {
	e := newEvents()
	busy := meta.Key{Name: "busy"}
	for i := range byte(3 * maxEvents) {
		e.put(busy, trace.NewSpanContext(trace.SpanContextConfig{SpanID: trace.SpanID{i + 1}}))
	}
	links := e.take(busy)
	if len(links) != maxEvents || links[maxEvents-1].SpanContext.SpanID() != (trace.SpanID{3 * maxEvents}) {
		t.Errorf("%d events are remembered, the last is %v", len(links), links[len(links)-1])
	}
	if again := e.take(busy); again != nil {
		t.Errorf("%d events are there twice", len(again))
	}
	for i := range 2 * maxKeys {
		e.put(meta.Key{Name: fmt.Sprint(i)}, trace.SpanContext{})
	}
	if len(e.spans) != maxKeys {
		t.Errorf("events of %d keys are remembered", len(e.spans))
	}
}

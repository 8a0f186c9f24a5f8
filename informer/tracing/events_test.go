package tracing

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/bowline-go/bowline/client/meta"
)

// span returns the context of span n.
func span(n int) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{SpanID: trace.SpanID{byte(n >> 16), byte(n >> 8), byte(n)}})
}

// numbers returns the spans of links.
func numbers(links []trace.Link) (all []int) {
	for _, l := range links {
		id := l.SpanContext.SpanID()
		all = append(all, int(id[0])<<16|int(id[1])<<8|int(id[2]))
	}
	return all
}

func TestTheEventsBetweenTwoStates(t *testing.T) {
	e := newEvents()
	put := func(object string, version int) {
		e.put(meta.Identity{Name: object, UID: "uid of " + object, ResourceVersion: fmt.Sprint(version)}, span(version))
	}
	for v := 1; v <= 30; v += 3 {
		put("a", v)
		put("b", v+1)
	}
	e.put(meta.Identity{Name: "c", ResourceVersion: "97"}, span(97))
	e.put(meta.Identity{Name: "d", ResourceVersion: "98"}, span(98)) // no uid either
	for _, tc := range []struct {
		object, previous, version string
		want                      []int
	}{
		{"a", "4", "13", []int{13, 10, 7}},
		{"a", "", "13", []int{13}},
		{"a", "13", "13", nil},
		{"b", "1", "2", []int{2}},
		{"b", "1", "3", nil}, // no event led there
		{"b", "1", "29", []int{29, 26, 23, 20, 17, 14, 11, 8}},
		{"d", "1", "98", []int{98}},
	} {
		got := numbers(e.between(tc.previous, state{meta.Key{Name: tc.object}, tc.version}))
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s from %q to %q: %v, want %v", tc.object, tc.previous, tc.version, got, tc.want)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	e := newEvents()
	for i := 1; i <= 3*maxEvents; i++ {
		e.put(meta.Identity{Name: "a", UID: fmt.Sprint("u", i/3), ResourceVersion: fmt.Sprint(i)}, span(i))
	}
	if len(e.all) != maxEvents || len(e.byState) != maxEvents || len(e.byUID) > maxEvents/3+2 {
		t.Errorf("%d events, %d states and %d objects are remembered", len(e.all), len(e.byState), len(e.byUID))
	}
	at := func(i int) []int { return numbers(e.between("1", state{meta.Key{Name: "a"}, fmt.Sprint(i)})) }
	if got := at(3 * maxEvents); fmt.Sprint(got) != fmt.Sprint([]int{3 * maxEvents}) {
		t.Errorf("the last event is %v", got)
	}
	if got := at(2*maxEvents + 1); fmt.Sprint(got) != fmt.Sprint([]int{2*maxEvents + 1}) { // those before are gone
		t.Errorf("the oldest event is %v", got)
	}
	if got := at(2 * maxEvents); got != nil {
		t.Errorf("a forgotten event is %v", got)
	}
}

func TestCausesAreBounded(t *testing.T) {
	c := newCauses()
	busy := key{"c", "busy"}
	for i := range 3 * maxLinks {
		c.put(busy, []trace.Link{{SpanContext: span(2*i + 1)}, {SpanContext: span(2 * i)}})
	}
	if got := numbers(c.take(busy)); len(got) != maxLinks || got[0] != 6*maxLinks-1 || got[maxLinks-1] != 5*maxLinks {
		t.Errorf("the causes are %v", got)
	}
	if again := c.take(busy); again != nil {
		t.Errorf("%d causes are there twice", len(again))
	}
	for i := range 2 * maxKeys {
		c.put(key{"c", i}, []trace.Link{{}})
	}
	c.put(key{"c", "none"}, nil)
	if len(c.links) != maxKeys {
		t.Errorf("causes of %d keys are remembered", len(c.links))
	}
}

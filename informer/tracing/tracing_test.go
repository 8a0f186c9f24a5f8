package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/tracing"
	"github.com/bowline-go/bowline/patch"
)

type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var configMaps = client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// world is a server, a client of it, and the spans that have ended.
type world struct {
	*testing.T
	server *clienttest.Server
	maps   client.Resource[*configMap]
	spans  *tracetest.InMemoryExporter
	tracer *sdk.TracerProvider
	ctx    context.Context
}

func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		spans := tracetest.NewInMemoryExporter()
		p := sdk.NewTracerProvider(sdk.WithSyncer(spans))
		f(&world{T: t, server: server, maps: client.For(c, configMaps), spans: spans, tracer: p, ctx: tracing.Context(t.Context(), p)})
	})
}

// named returns the spans of a name that have ended.
func (w *world) named(name string) (all []tracetest.SpanStub) {
	for _, s := range w.spans.GetSpans() {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

// describe lists a span's attributes and events.
func describe(s tracetest.SpanStub) string {
	var parts []string
	for _, a := range s.Attributes {
		parts = append(parts, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	for _, e := range s.Events {
		parts = append(parts, e.Name)
	}
	return strings.Join(parts, " ")
}

func TestACallIsASpanWithItsAttempts(t *testing.T) {
	bubble(t, func(w *world) {
		fails := 1
		w.server.Intercept(func(*http.Request) http.HandlerFunc {
			if fails--; fails == 0 {
				return clienttest.TooManyRequests(time.Second)
			}
			return nil
		})
		ctx, parent := w.tracer.Tracer("test").Start(w.ctx, "parent")
		_, err := w.maps.Get(ctx, meta.Key{Namespace: "default", Name: "a"})
		parent.End()
		spans := w.named("get configmaps")
		if err == nil || len(spans) != 1 {
			w.Fatalf("%v, and %d spans", err, len(spans))
		}
		s := spans[0]
		if got := describe(s); !strings.HasPrefix(got, "k8s.resource=configmaps.v1 k8s.namespace.name=default k8s.object.name=a http.request.method=GET server.address=") ||
			!strings.HasSuffix(got, " attempt retry attempt exception") {
			w.Errorf("the span is %s", got)
		}
		if s.Parent.SpanID() != parent.SpanContext().SpanID() || s.Status.Description != err.Error() || s.EndTime.Sub(s.StartTime) < time.Second {
			w.Errorf("the span is %+v", s)
		}
	})
}

func TestListsAndEventsAreSpans(t *testing.T) {
	bubble(t, func(w *world) {
		ctx, stop := context.WithCancel(w.ctx)
		inf := informer.New(w.maps, informer.Options{Namespace: "default"})
		ended := make(chan error)
		go func() { ended <- inf.Run(ctx) }()
		synctest.Wait()
		made, err := w.maps.Create(w.Context(), &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}})
		if err != nil {
			w.Fatal(err)
		}
		<-time.After(time.Hour) // bookmarks are not traced
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		if spans := w.named("initial list configmaps"); len(spans) != 1 || !strings.Contains(describe(spans[0]), "cause=Initial mode=Streaming objects=0") {
			w.Errorf("the lists are %v", spans)
		}
		events := w.named("event configmaps")
		if len(events) != 1 || events[0].Parent.IsValid() {
			w.Fatalf("the events are %v", events)
		}
		if got := describe(events[0]); !strings.Contains(got, "k8s.object.name=a type=ADDED k8s.object.uid="+made.UID+" k8s.object.resource_version="+made.ResourceVersion) {
			w.Errorf("the event is %s", got)
		}
		if !slices.ContainsFunc(w.spans.GetSpans(), func(s tracetest.SpanStub) bool { return s.Name == "watch configmaps" }) {
			w.Error("no request of the informer is a span")
		}
	})
}

// From a reconcile one gets to its writes.
func TestTheWritesOfAReconcileAreItsChildren(t *testing.T) {
	bubble(t, func(w *world) {
		failed := false
		ctl := controller.New("c", controller.Options{OnError: func(error) {}}, func(ctx context.Context, key string) (controller.Result, error) {
			_, err := w.maps.Create(ctx, &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: key}})
			if err == nil && !failed {
				failed = true
				err = errors.New("after the write")
			}
			return controller.Result{RequeueAfter: time.Hour}, apierrors.Ignore(err, apierrors.AlreadyExists)
		}, controller.Every(24*time.Hour, "a"))
		ctx, stop := context.WithTimeout(w.ctx, time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			w.Fatal(err)
		}
		reconciles, writes := w.named("reconcile c"), w.named("create configmaps")
		if len(reconciles) != 2 || len(writes) != 2 {
			w.Fatalf("%d reconciles and %d writes", len(reconciles), len(writes))
		}
		for i, want := range []string{
			"controller=c key=a attempt=1 outcome=failed exception",
			"controller=c key=a attempt=2 outcome=requeued requeue_after=1h0m0s",
		} {
			if got := describe(reconciles[i]); got != want || reconciles[i].Parent.IsValid() {
				w.Errorf("reconcile %d is %s, want %s", i, got, want)
			}
			if writes[i].Parent.SpanID() != reconciles[i].SpanContext.SpanID() {
				w.Errorf("write %d is no child of its reconcile", i)
			}
		}
	})
}

// From a reconcile one gets to the events before it, each once.
func TestAReconcileIsLinkedToTheEventsBeforeIt(t *testing.T) {
	bubble(t, func(w *world) {
		inf := informer.New(w.maps, informer.Options{Namespace: "default"})
		ctl := controller.New("c", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Watch(inf))
		ctx, stop := context.WithCancel(w.ctx)
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx, ctl) }()
		synctest.Wait()
		for range 2 {
			if _, err := w.maps.Create(w.Context(), &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", GenerateName: "a-"}}); err != nil {
				w.Fatal(err)
			}
			synctest.Wait()
		}
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		reconciles, events := w.named("reconcile c"), w.named("event configmaps")
		if len(reconciles) != 2 || len(events) != 2 {
			w.Fatalf("%d reconciles and %d events", len(reconciles), len(events))
		}
		for i, r := range reconciles {
			if len(r.Links) != 1 || r.Links[0].SpanContext.SpanID() != events[i].SpanContext.SpanID() {
				w.Errorf("reconcile %d has the links %v", i, r.Links)
			}
		}
	})
}

// Keys that an object is mapped to are linked to its events too: to all that were delivered as one, and in each controller.
func TestAReconcileIsLinkedToTheEventsOfOtherObjects(t *testing.T) {
	bubble(t, func(w *world) {
		inf := informer.New(w.maps, informer.Options{Namespace: "default"})
		block, release := make(chan struct{}), make(chan struct{})
		by := func(obj *configMap) []string {
			if obj.Data["n"] == "0" {
				block <- struct{}{}
				<-release
			}
			return []string{"owner of " + obj.Name}
		}
		fn := func(context.Context, string) (controller.Result, error) { return controller.Result{}, nil }
		slow := controller.New("slow", controller.Options{}, fn, controller.Map(inf, by))
		other := controller.New("other", controller.Options{}, fn, controller.Map(inf, func(*configMap) []string { return []string{"x"} }))
		ctx, stop := context.WithCancel(w.ctx)
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx, slow, other) }()
		synctest.Wait()
		put := func(n int) {
			w.Helper()
			change := patch.Merge(map[string]any{"data": map[string]any{"n": fmt.Sprint(n)}})
			if _, err := w.maps.Patch(w.Context(), meta.Key{Namespace: "default", Name: "a"}, change); err != nil {
				w.Fatal(err)
			}
			synctest.Wait()
		}
		if _, err := w.maps.Create(w.Context(), &configMap{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"n": "0"},
		}); err != nil {
			w.Fatal(err)
		}
		<-block
		synctest.Wait()    // for the other controller
		for n := range 3 { // delivered to slow as one
			put(n + 1)
		}
		release <- struct{}{}
		synctest.Wait() // for the reconcile
		<-block         // the old state
		release <- struct{}{}
		synctest.Wait()
		if err := w.maps.Delete(w.Context(), meta.Key{Namespace: "default", Name: "a"}, client.DeleteOptions{}); err != nil {
			w.Fatal(err)
		}
		synctest.Wait()
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		events := w.named("event configmaps")
		if len(events) != 5 {
			w.Fatalf("%d events", len(events))
		}
		links := func(controller string) (all [][]int) {
			for _, r := range w.named("reconcile " + controller) {
				var of []int
				for _, l := range r.Links {
					of = append(of, slices.IndexFunc(events, func(e tracetest.SpanStub) bool {
						return e.SpanContext.SpanID() == l.SpanContext.SpanID()
					}))
				}
				all = append(all, of)
			}
			return all
		}
		if got, want := fmt.Sprint(links("slow")), "[[0] [3 2 1] [4]]"; got != want {
			w.Errorf("slow: events %v, want %v", got, want)
		}
		if got, want := fmt.Sprint(links("other")), "[[0] [1] [2] [3] [4]]"; got != want {
			w.Errorf("other: events %v, want %v", got, want)
		}
	})
}

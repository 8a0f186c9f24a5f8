package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// A page is made while the operator runs. Its metrics and spans say so, the ConfigMap that is written included.
func TestMetricsAndSpansShowAReconcile(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{CRDs: []string{"../operator/pages.yaml"}, Token: "administrator"})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewInMemoryExporter()
	registry := prometheus.NewRegistry()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ctx, err = observe(ctx, registry, sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- run(ctx, server.Config(), "default", l, registry) }()

	get := func(path string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer administrator")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Status + "\n" + string(body)
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			select {
			case <-ctx.Done():
				t.Fatalf("%s: not within a minute", what)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	until("it leads", func() bool {
		return strings.Contains(get("/metrics"), `leader_election_master_status{name="page-operator"} 1`)
	})
	page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
	page.Spec.Text = "hello"
	if _, err := client.For(c, Pages).Create(ctx, page); err != nil {
		t.Fatal(err)
	}
	until("the record is there", func() bool {
		return strings.Contains(get("/metrics"), `bowline_recorder_sent_total{controller="example.com/pages",result="created"} 1`)
	})
	if got := get("/readyz"); !strings.HasPrefix(got, "200 ") {
		t.Errorf("/readyz answers %s", got)
	}
	metrics := get("/metrics")
	for _, want := range []string{
		`rest_client_requests_total{code="201",host="[^"]*",method="POST"} [3-9]`,
		`controller_runtime_reconcile_total{controller="pages",result="success"} [1-9]`,
		`controller_runtime_max_concurrent_reconciles{controller="pages"} 4`,
		`workqueue_adds_total{controller="pages",name="pages"} [1-9]`,
		`workqueue_depth{controller="pages",name="pages",priority="0"} 0`,
		`bowline_informer_objects{informer="",resource="pages.example.com/v1"} 1`,
		`go_goroutines [0-9]`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(metrics) {
			t.Errorf("no metric is like %s", want)
		}
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	named := func(name string) (all []tracetest.SpanStub) {
		for _, s := range spans.GetSpans() {
			if s.Name == name {
				all = append(all, s)
			}
		}
		return all
	}
	events, reconciles, writes := named("event pages"), named("reconcile pages"), named("create configmaps")
	if len(events) == 0 || len(reconciles) == 0 || len(writes) != 1 {
		t.Fatalf("%d events, %d reconciles and %d writes", len(events), len(reconciles), len(writes))
	}
	if r := reconciles[0]; len(r.Links) != 1 || r.Links[0].SpanContext.SpanID() != events[0].SpanContext.SpanID() ||
		writes[0].Parent.SpanID() != r.SpanContext.SpanID() {
		t.Errorf("the event, its reconcile and the write are not linked: %+v, %+v, %+v", events[0], r, writes[0])
	}
}

// Without a cluster the program says so, and does not wait for traces that nobody takes.
func TestTheProgramDoesNotStartWithoutACluster(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	t.Setenv("HOME", t.TempDir())
	if err := start(t.Context(), "default", "127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("without a cluster the error is %v", err)
	}
}

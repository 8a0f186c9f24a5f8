// Operator-metrics is a controller that Prometheus and OpenTelemetry observe. The calls are in start, observe and run;
// examples/operator has the rest of what an operator does. It is a module of its own, so that a program without
// Prometheus and OpenTelemetry does not depend on them.
//
// Environment variables of OpenTelemetry say where traces go: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, and so
// on.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/metrics"
	"github.com/bowline-go/bowline/informer/tracing"
)

// Page is a custom resource.
type Page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text string `json:"text"`
	} `json:"spec"`
}

// ConfigMap has the fields of a ConfigMap that this program uses.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// The resources on the server.
var (
	Pages      = client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
)

// observe returns a context with which Bowline measures and traces everything that runs.
func observe(ctx context.Context, registry *prometheus.Registry, traces *sdktrace.TracerProvider) (context.Context, error) {
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return metrics.Context(tracing.Context(ctx, traces), registry)
}

// run runs the operator until ctx ends. It serves /livez and /readyz at l, and /metrics to those who may get that path.
func run(ctx context.Context, cfg client.Config, namespace string, l net.Listener, registry *prometheus.Registry) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	records := recorder.New(c, recorder.Options{Controller: "example.com/pages"})
	about := recorder.For(records, Pages)
	configMaps := client.For(c, ConfigMaps)
	pageCache := informer.New(client.For(c, Pages), informer.Options{})
	mapCache := informer.New(configMaps, informer.Options{})

	reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
		page, ok := pageCache.Reader().Get(key)
		if !ok { // the server's garbage collector deletes the ConfigMap
			return controller.Result{}, nil
		}
		want := &ConfigMap{ObjectMeta: key.ObjectMeta(), Data: map[string]string{"text": page.Spec.Text}}
		if err := client.SetController(want, client.OwnerOf(Pages, page)); err != nil {
			return controller.Result{}, err
		}
		known, _ := mapCache.Reader().Get(key)
		_, did, err := configMaps.Ensure(ctx, want, client.EnsureOptions{Known: known})
		if err == nil && did.Outcome != client.Unchanged {
			about.Normalf(page, "Published", "ConfigMap %s has the text of generation %d", want.Name, page.Generation)
		}
		return controller.Result{}, err
	}
	ctl := controller.New("pages", controller.Options{Workers: 4, Timeout: time.Minute, Grace: 5 * time.Second}, reconcile,
		controller.Watch(pageCache), controller.Owns(mapCache, Pages), controller.Fresh[meta.Key](pageCache, mapCache))

	group := &informer.Group{
		Leader:      leader.New(c, leader.Options{Namespace: namespace, Name: "page-operator"}),
		Runners:     []informer.Runner{ctl},
		StopTimeout: 20 * time.Second,
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", allowed(cfg, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})))
	mux.Handle("/", group.Handler())
	group.Services = []informer.Runner{records, serve(l, mux)}
	return group.Run(ctx)
}

// serve answers HTTP requests until its context ends.
func serve(l net.Listener, h http.Handler) informer.RunnerFunc {
	return func(ctx context.Context) error {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = s.Close() })()
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}

// start connects the parts, and runs them until ctx ends.
func start(ctx context.Context, namespace, address string) error {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	defer func() { // sends the traces that are not sent yet
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		if err := traces.Shutdown(ctx); err != nil {
			log.Printf("traces are lost: %v", err)
		}
	}()
	registry := prometheus.NewRegistry()
	if ctx, err = observe(ctx, registry, traces); err != nil {
		return err
	}
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return run(ctx, loaded.Config, namespace, l, registry)
}

func main() {
	namespace := flag.String("namespace", "default", "the namespace of the lease")
	address := flag.String("address", ":8080", "the address for /livez, /readyz and /metrics")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := start(ctx, *namespace, *address); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

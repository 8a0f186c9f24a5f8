package tracing_test

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/tracing"
)

type namespace struct {
	meta.ObjectMeta `json:"metadata"`
}

var namespaces = client.Type[*namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}

// Whatever runs with the context is traced. A program gives the provider that exports its spans.
func ExampleContext() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	ctx, stop := context.WithCancel(tracing.Context(context.Background(), provider))
	defer stop()

	read := informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		_, err := client.For(c, namespaces).Get(ctx, meta.Key{Name: "default"})
		return err
	})
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), read); err != nil {
		fmt.Println(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output: get namespaces
}

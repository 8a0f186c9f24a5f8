package metrics_test

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/metrics"
)

type namespace struct {
	meta.ObjectMeta `json:"metadata"`
}

var namespaces = client.Type[*namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}

// Whatever runs with the context is measured. A program serves the registry with promhttp.
func ExampleContext() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	registry := prometheus.NewRegistry()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ctx, err = metrics.Context(ctx, registry)
	if err != nil {
		fmt.Println(err)
		return
	}

	inf := informer.New(client.For(c, namespaces), informer.Options{})
	reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
		if key.Name == "default" {
			stop()
		}
		return controller.Result{}, nil
	}
	ctl := controller.New("namespaces", controller.Options{}, reconcile, controller.Watch(inf))
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), ctl); err != nil {
		fmt.Println(err)
	}

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range families {
		if f.GetName() == "controller_runtime_reconcile_total" {
			fmt.Println(f.GetName(), "of", f.GetMetric()[0].GetLabel()[0].GetValue())
		}
	}
	// Output: controller_runtime_reconcile_total of namespaces
}

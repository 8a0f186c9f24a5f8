// Metrics is an operator with metrics, on a server in the process.
package main

import (
	"context"
	"fmt"
	"log"

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

func main() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	ctx, stop := context.WithCancel(context.Background())
	ctx, err = metrics.Context(ctx, registry)
	if err != nil {
		log.Fatal(err)
	}
	cached := informer.New(client.For(c, namespaces), informer.Options{})
	ctl := controller.New("namespaces", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
		stop()
		return controller.Result{}, nil
	}, controller.Watch(cached))
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), ctl); err != nil {
		log.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		switch f.GetName() {
		case "bowline_build_info":
			fmt.Println("version", f.GetMetric()[0].GetLabel()[0].GetValue())
		case "controller_runtime_reconcile_total":
			fmt.Println("ok")
		}
	}
}

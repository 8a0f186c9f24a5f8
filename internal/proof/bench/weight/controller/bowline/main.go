// Command bowline is the side of Bowline in the comparison of package weight: the cluster's pods in a cache, a queue
// with workers, and a reconcile that reads the pod from the cache and counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

type pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

var pods = client.Type[*pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func main() {
	path := flag.String("kubeconfig", "", "the kubeconfig `file`")
	workers := flag.Int("workers", 4, "how many pods are reconciled at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *path, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, workers int) error {
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	inf := informer.New(client.For(c, pods), informer.Options{})
	var running atomic.Int64
	reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
		if p, found := inf.Reader().Get(key); found && p.Status.Phase == "Running" {
			running.Add(1)
		}
		return controller.Result{}, nil
	}
	ctl := controller.New("pods", controller.Options{Workers: workers}, reconcile, controller.Watch(inf))
	err = informer.Run(ctx, inf, ctl)
	fmt.Println("saw running pods:", running.Load())
	return err
}

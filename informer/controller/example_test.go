package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Service is an object with the fields that this program reads, and no others.
type Service struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Ports []Port `json:"ports"`
	} `json:"spec"`
}

// Port is a port of a service.
type Port struct {
	Port int `json:"port"`
}

// services returns an informer of the services of a server, and the server with services of these names and ports.
func services(with map[string][]int) (*informer.Informer[*Service], informer.Runner) {
	server := clienttest.New(clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: "v1", Kind: "Service", Resource: "services"},
	}})
	c, err := client.New(server.Config())
	if err != nil {
		panic(err)
	}
	all := client.For(c, client.Type[*Service]{Group: "example.com", Version: "v1", Kind: "Service", Resource: "services"})
	fill := informer.RunnerFunc(func(ctx context.Context) error {
		for name, ports := range with {
			s := &Service{Identity: meta.Identity{Namespace: "default", Name: name}}
			for _, p := range ports {
				s.Spec.Ports = append(s.Spec.Ports, Port{p})
			}
			if _, err := all.Create(ctx, s); err != nil && ctx.Err() == nil {
				return err
			}
		}
		<-ctx.Done()
		return nil
	})
	return informer.New(all, informer.Options{}), informer.RunnerFunc(func(ctx context.Context) error {
		defer c.Close()
		return informer.Run(ctx, informer.RunnerFunc(server.Run), fill)
	})
}

// A controller on a cache. Run runs the informer too, because the controller watches it.
func Example() {
	inf, server := services(map[string][]int{"front": {80, 443}, "none": nil})
	ctx, cancel := context.WithCancel(context.Background())
	left := 2
	reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
		if left--; left == 0 {
			defer cancel()
		}
		service, ok := inf.Reader().Get(key)
		if !ok {
			fmt.Println(key, "is gone")
			return controller.Result{}, nil
		}
		if len(service.Spec.Ports) == 0 { // a retry is useless until it changes
			return controller.Result{}, controller.Terminal(errors.New("no ports"))
		}
		fmt.Println(key, "has ports", service.Spec.Ports)
		return controller.Result{}, nil
	}
	ctl := controller.New("ports", controller.Options{
		OnError: func(err error) { fmt.Println(err) },
	}, reconcile, controller.Watch(inf))

	fmt.Println(informer.Run(ctx, server, ctl))
	status := ctl.Status()
	fmt.Println(status.State, status.Reconciles, status.Errors)
	// Unordered output:
	// default/front has ports [{80} {443}]
	// reconcile "default/none" in controller "ports": will not be retried: no ports
	// <nil>
	// stopped 2 1
}

// Map makes keys of any property of an object: here, one reconcile for each port that a service has or had.
func ExampleMap() {
	inf, server := services(map[string][]int{"front": {80, 443}})
	ctx, cancel := context.WithCancel(context.Background())
	left := 2
	ctl := controller.New("ports", controller.Options{},
		func(_ context.Context, p Port) (controller.Result, error) {
			fmt.Println("port", p.Port)
			if left--; left == 0 {
				cancel()
			}
			return controller.Result{}, nil
		},
		controller.Map(inf, func(s *Service) []Port { return s.Spec.Ports }))

	fmt.Println(informer.Run(ctx, server, ctl))
	// Output:
	// port 80
	// port 443
	// <nil>
}

// A source comes while the controller runs, as when a CustomResourceDefinition appears, and goes again.
func ExampleController_AddSource() {
	inf, server := services(map[string][]int{"front": {80}})
	ctx, cancel := context.WithCancel(context.Background())
	reconciled := make(chan meta.Key)
	ctl := controller.New("services", controller.Options{},
		func(_ context.Context, key meta.Key) (controller.Result, error) {
			reconciled <- key
			return controller.Result{}, nil
		},
		controller.Chan(make(chan meta.Key)))
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx, server, inf, ctl) }()

	added, err := ctl.AddSource(controller.Watch(inf))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-reconciled, added.WaitSynced(ctx))
	added.Remove() // the keys that it has named stay in the queue

	cancel()
	fmt.Println(<-ended)
	// Output:
	// default/front <nil>
	// <nil>
}

// The keys of one namespace do not keep those of another waiting.
func ExampleController_GroupBy() {
	keys := []meta.Key{
		{Namespace: "big", Name: "a"}, {Namespace: "big", Name: "b"}, {Namespace: "big", Name: "c"}, {Namespace: "small", Name: "d"},
	}
	ctx, cancel := context.WithCancel(context.Background())
	left := len(keys)
	ctl := controller.New("fair", controller.Options{},
		func(_ context.Context, key meta.Key) (controller.Result, error) {
			fmt.Println(key)
			if left--; left == 0 {
				cancel()
			}
			return controller.Result{}, nil
		}, controller.Every(time.Hour, keys...))
	if err := ctl.GroupBy(func(k meta.Key) string { return k.Namespace }, nil); err != nil {
		fmt.Println(err)
	}
	fmt.Println(ctl.Run(ctx))
	// Output:
	// big/a
	// small/d
	// big/b
	// big/c
	// <nil>
}

// A controller reconciles nothing while somebody repairs the cluster, and then goes on.
func ExampleController_Pause() {
	ctx, cancel := context.WithCancel(context.Background())
	ctl := controller.New("services", controller.Options{Logger: logr.FromSlogHandler(slog.DiscardHandler)},
		func(_ context.Context, key meta.Key) (controller.Result, error) {
			fmt.Println("reconcile", key)
			cancel()
			return controller.Result{}, nil
		}, controller.Every(time.Hour, meta.Key{Namespace: "web", Name: "front"}))
	ctl.Pause()
	ended := make(chan error)
	go func() { ended <- ctl.Run(ctx) }()
	fmt.Println("paused:", ctl.Status().Paused)
	ctl.Resume()
	fmt.Println(<-ended)
	// Output:
	// paused: true
	// reconcile web/front
	// <nil>
}

// The number of workers can follow a configuration while the controller runs.
func ExampleController_SetWorkers() {
	ctl := controller.New("services", controller.Options{Workers: 2},
		func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil },
		controller.Every[meta.Key](time.Hour))
	fmt.Println(ctl.SetWorkers(8), ctl.Status().Workers)
	fmt.Println(ctl.SetWorkers(0))
	// Output:
	// <nil> 8
	// controller.SetWorkers: n must be 1 or more, got 0; Pause stops all workers
}

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// Service is an object with the fields that this program reads, and no others.
type Service struct {
	meta.Identity `json:"metadata"`
	Ports         []int `json:"ports"`
}

// A controller on a cache. In a program, an informer fills the cache and delivers; pass the informer to Watch instead of
// the reader.
func Example() {
	services := cache.NewStore[*Service]()
	list := services.Relist()
	for _, s := range []*Service{
		{Identity: meta.Identity{Namespace: "web", Name: "front", UID: "1"}, Ports: []int{80, 443}},
		{Identity: meta.Identity{Namespace: "web", Name: "none", UID: "2"}},
	} {
		list.Set(s.Identity, s)
	}
	list.Commit("10")

	ctx, cancel := context.WithCancel(context.Background())
	reader, left := services.Reader(), 2
	reconcile := func(_ context.Context, key meta.Key) (controller.Result, error) {
		if left--; left == 0 {
			defer cancel()
		}
		service, ok := reader.Get(key)
		if !ok {
			fmt.Println(key, "is gone")
			return controller.Result{}, nil
		}
		if len(service.Ports) == 0 { // a retry is useless until it changes
			return controller.Result{}, controller.Terminal(errors.New("no ports"))
		}
		fmt.Println(key, "has ports", service.Ports)
		return controller.Result{}, nil
	}
	ctl := controller.New("ports", controller.Options{
		OnError: func(err error) { fmt.Println(err) },
	}, reconcile, controller.Watch(reader))

	delivered := make(chan error)
	go func() { delivered <- services.Deliver(ctx, nil) }()
	fmt.Println(ctl.Run(ctx), <-delivered)
	status := ctl.Status()
	fmt.Println(status.State, status.Reconciles, status.Errors)
	// Unordered output:
	// web/front has ports [80 443]
	// reconcile "web/none" in controller "ports": will not be retried: no ports
	// <nil> <nil>
	// stopped 2 1
}

// Map makes keys of any property of an object: here, one reconcile for each port that a service has or had.
func ExampleMap() {
	services := cache.NewStore[*Service]()
	id := meta.Identity{Namespace: "web", Name: "front", UID: "1"}
	list := services.Relist()
	list.Set(id, &Service{Identity: id, Ports: []int{80, 443}})
	list.Commit("10")

	ctx, cancel := context.WithCancel(context.Background())
	left := 2
	ctl := controller.New("ports", controller.Options{},
		func(_ context.Context, port int) (controller.Result, error) {
			fmt.Println("port", port)
			if left--; left == 0 {
				cancel()
			}
			return controller.Result{}, nil
		},
		controller.Map(services.Reader(), func(s *Service) []int { return s.Ports }))

	delivered := make(chan error)
	go func() { delivered <- services.Deliver(ctx, nil) }()
	fmt.Println(ctl.Run(ctx), <-delivered)
	// Output:
	// port 80
	// port 443
	// <nil> <nil>
}

// A source comes while the controller runs, as when a CustomResourceDefinition appears, and goes again.
func ExampleController_AddSource() {
	services := cache.NewStore[*Service]()
	id := meta.Identity{Namespace: "web", Name: "front", UID: "1"}
	list := services.Relist()
	list.Set(id, &Service{Identity: id, Ports: []int{80}})
	list.Commit("10")

	ctx, cancel := context.WithCancel(context.Background())
	reconciled := make(chan meta.Key)
	ctl := controller.New("services", controller.Options{},
		func(_ context.Context, key meta.Key) (controller.Result, error) {
			reconciled <- key
			return controller.Result{}, nil
		},
		controller.Chan(make(chan meta.Key)))
	ended, delivered := make(chan error), make(chan error)
	go func() { ended <- ctl.Run(ctx) }()
	go func() { delivered <- services.Deliver(ctx, nil) }()

	added, err := ctl.AddSource(controller.Watch(services.Reader()))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-reconciled, added.WaitSynced(ctx))
	added.Remove() // the keys that it has named stay in the queue

	cancel()
	fmt.Println(<-ended, <-delivered)
	// Output:
	// web/front <nil>
	// <nil> <nil>
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

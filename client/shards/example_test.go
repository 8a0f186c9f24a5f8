package shards_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// A replica that is alone has all objects. When it leaves, another one takes them over, without a gap.
func Example() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	defer stop()
	go func() { _ = server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for _, name := range []string{"a", "b", "c"} {
		if _, err := client.For(c, ConfigMaps).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
			fmt.Println(err)
		}
	}

	// replica is one process of the program, until ctx ends.
	replica := func(ctx context.Context, identity string, reconciled chan<- string) error {
		group := shards.New(c, shards.Options{Namespace: "default", Name: "maps", Identity: identity}) // a program leaves Identity empty
		cached := informer.New(client.For(c, ConfigMaps), informer.Options{Shards: group})
		reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
			select {
			case reconciled <- key.Name:
			case <-ctx.Done(): // the object has passed to another replica
			}
			return controller.Result{}, ctx.Err()
		}
		ctl := controller.New("maps", controller.Options{Shards: group}, reconcile, controller.Watch(cached))
		return group.Run(ctx, func(ctx context.Context) error { return informer.Run(ctx, ctl) })
	}
	first, second := make(chan string), make(chan string)
	three := func(names <-chan string) []string { // an object may be reconciled more than once
		seen := make(map[string]bool)
		for len(seen) < 3 {
			seen[<-names] = true
		}
		return slices.Sorted(maps.Keys(seen))
	}

	leaving, leave := context.WithCancel(ctx)
	left := make(chan error)
	go func() { left <- replica(leaving, "first", first) }()
	fmt.Println("first:", three(first))
	go func() { _ = replica(ctx, "second", second) }()
	leave()
	fmt.Println("second:", three(second))
	fmt.Println("first has left:", <-left)
	// Output:
	// first: [a b c]
	// second: [a b c]
	// first has left: <nil>
}

package clusters_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

// Namespace has the fields that this program reads.
type Namespace struct {
	meta.ObjectMeta `json:"metadata"`
}

// Site is what this program keeps for a cluster.
type Site struct {
	Namespaces *informer.Informer[*Namespace]
}

// connect returns a cluster. In a program, its configuration comes from a kubeconfig, or from a Secret of a hub.
func connect(name string, cfg client.Config) (*Site, error) {
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	namespaces := client.For(c, client.Type[*Namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	return &Site{Namespaces: informer.New(namespaces, informer.Options{Name: name, FieldSelector: "metadata.name=default"})}, nil
}

// One controller over two clusters, of which the second one comes while it runs.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	servers := map[string]*clienttest.Server{"eu": clienttest.New(clienttest.Options{}), "us": clienttest.New(clienttest.Options{})}
	var reconciled sync.WaitGroup
	ctl := clusters.New("namespaces", controller.Options{Workers: 4},
		func(ctx context.Context, site *Site, key clusters.Key) (controller.Result, error) {
			_, found := site.Namespaces.Reader().Get(key.Key)
			fmt.Printf("%v exists: %v\n", key, found)
			reconciled.Done()
			return controller.Result{}, nil
		})
	add := func(name string) {
		site, err := connect(name, servers[name].Config())
		if err == nil {
			reconciled.Add(1)
			err = ctl.Add(name, site, controller.Watch(site.Namespaces))
		}
		if err != nil {
			fmt.Println(err)
		}
	}

	add("eu")
	group := &informer.Group{Services: []informer.Runner{servers["eu"], servers["us"]}, Runners: []informer.Runner{ctl}}
	ended := make(chan error)
	go func() { ended <- group.Run(ctx) }()
	reconciled.Wait()
	add("us")
	reconciled.Wait()
	fmt.Println(ctl.Names())
	fmt.Println(ctl.Remove(ctx, "eu"), ctl.Names())
	stop()
	fmt.Println(<-ended)
	// Output:
	// eu:default exists: true
	// us:default exists: true
	// [eu us]
	// <nil> [us]
	// <nil>
}

// A cluster that matters more gets more of the workers while others wait.
func ExampleController_weights() {
	ctl := clusters.New("namespaces", controller.Options{Workers: 8},
		func(context.Context, *Site, clusters.Key) (controller.Result, error) { return controller.Result{}, nil })
	err := ctl.GroupBy(func(k clusters.Key) string { return k.Cluster }, func(cluster string) int {
		if cluster == "production" {
			return 3
		}
		return 1
	})
	fmt.Println(err)
	// Output: <nil>
}

// In makes a source for a controller whose keys name clusters, without clusters that come and go.
func ExampleIn() {
	from := clusters.In("eu", controller.Every(1, meta.Key{Namespace: "web", Name: "front"}))
	ctx, stop := context.WithCancel(context.Background())
	err := from.Run(ctx, func(k clusters.Key) {
		if ctx.Err() == nil {
			fmt.Println(k)
		}
		stop()
	}, func() {})
	fmt.Println(err)
	// Output:
	// eu:web/front
	// <nil>
}

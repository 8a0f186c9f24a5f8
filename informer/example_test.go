package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Pod has the fields of a pod that this program needs, and those without which a server refuses a new pod. No others are
// decoded or kept.
type Pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName   string      `json:"nodeName"`
		Containers []Container `json:"containers"`
	} `json:"spec"`
}

// Container is a container of a pod.
type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// Pods describes the resource.
var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func pod(name, node string) *Pod {
	p := &Pod{Identity: meta.Identity{Namespace: "default", Name: name}}
	p.Spec.NodeName = node
	p.Spec.Containers = []Container{{Name: "main", Image: "example.com/main"}}
	return p
}

// A cache of pods, an index of it by node, and the server, all run together until the work is done.
func Example() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, Pods)
	inf := informer.New(pods, informer.Options{Namespace: "default"})
	byNode := cache.NewIndex(inf.Reader(), func(p *Pod) []string { return []string{p.Spec.NodeName} })

	errDone := errors.New("done")
	work := func(ctx context.Context) error {
		for name, node := range map[string]string{"a": "one", "b": "two", "c": "one"} {
			if _, err := pods.Create(ctx, pod(name, node)); err != nil {
				return err
			}
		}
		if err := inf.WaitSynced(ctx); err != nil { // the error says why not
			return err
		}
		// The cache follows the server with a short delay: subscribe to learn of changes.
		all := make(chan string, 3)
		inf.Subscribe(cache.HandlerFuncs[*Pod]{Add: func(p *Pod) { all <- p.Name }})
		names := []string{<-all, <-all, <-all}
		slices.Sort(names)
		fmt.Println("pods:", names)
		fmt.Println("on node one:", byNode.Len("one"))
		return errDone
	}
	if err := informer.Run(context.Background(), informer.RunnerFunc(server.Run), inf, informer.RunnerFunc(work)); err != errDone {
		fmt.Println(err)
	}
	// Output:
	// pods: [a b c]
	// on node one: 2
}

// ExampleInformer_WaitFor writes to the server, and then reads the written object from the cache.
func ExampleInformer_WaitFor() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, Pods)
	inf := informer.New(pods, informer.Options{})
	errDone := errors.New("done")
	work := func(ctx context.Context) error {
		if err := inf.WaitSynced(ctx); err != nil {
			return err
		}
		written, err := pods.Create(ctx, pod("a", "one"))
		if err != nil {
			return err
		}
		if err := inf.WaitFor(ctx, meta.KeyOf(written), written.ResourceVersion); err != nil {
			return err
		}
		read, found := inf.Reader().Get(meta.KeyOf(written))
		fmt.Println("found", read.Name, found)
		return errDone
	}
	if err := informer.Run(context.Background(), informer.RunnerFunc(server.Run), inf, informer.RunnerFunc(work)); err != errDone {
		fmt.Println(err)
	}
	// Output: found a true
}

// Two parts of a program that need the same pods share one informer, and neither has to know of the other.
func ExampleShare() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, Pods)
	factory := &informer.Factory{Grace: time.Minute}
	one := informer.Share(factory, pods, informer.Options{})
	two := informer.Share(factory, pods, informer.Options{})

	errDone := errors.New("done")
	work := func(ctx context.Context) error {
		for _, u := range []*informer.Informer[*Pod]{one, two} {
			if err := u.WaitSynced(ctx); err != nil {
				return err
			}
		}
		fmt.Println("watches:", server.Watches())
		return errDone
	}
	err = informer.Run(context.Background(), informer.RunnerFunc(server.Run), factory, one, two, informer.RunnerFunc(work))
	if err != errDone {
		fmt.Println(err)
	}
	// Output:
	// watches: 1
}

// A controller names the informers that it watches and reads. Run runs them, and stops them after the controller.
func ExampleRun() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := informer.New(client.For(c, Pods), informer.Options{})
	namespaces := informer.New(client.For(c, client.Type[*meta.Partial]{
		Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster,
	}), informer.Options{})

	errDone, reconciled := errors.New("done"), make(chan struct{})
	ctl := controller.New("pods", controller.Options{},
		func(_ context.Context, key meta.Key) (controller.Result, error) {
			_, found := namespaces.Reader().Get(meta.Key{Name: key.Namespace}) // complete: the controller reads it
			fmt.Println(key, "is in a namespace that exists:", found)
			close(reconciled)
			return controller.Result{}, nil
		},
		controller.Watch(pods), controller.Reads[meta.Key](namespaces))
	work := func(ctx context.Context) error {
		if _, err := client.For(c, Pods).Create(ctx, pod("a", "one")); err != nil {
			return err
		}
		<-reconciled
		return errDone
	}
	if err := informer.Run(context.Background(), informer.RunnerFunc(server.Run), ctl, informer.RunnerFunc(work)); err != errDone {
		fmt.Println(err)
	}
	// Output:
	// default/a is in a namespace that exists: true
}

// A cache shares its objects with every reader and handler. Clone one before you change it.
func ExampleInformer_Reader() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	pods := client.For(c, Pods)
	inf, key := informer.New(pods, informer.Options{}), meta.Key{Namespace: "default", Name: "a"}
	errDone := errors.New("done")
	err = informer.Run(context.Background(), informer.RunnerFunc(server.Run), inf, informer.RunnerFunc(func(ctx context.Context) error {
		made, err := pods.Create(ctx, pod("a", "one"))
		if err != nil {
			return err
		}
		if err := inf.WaitFor(ctx, key, made.ResourceVersion); err != nil {
			return err
		}
		site, found := inf.Reader().Get(key)
		site = meta.Clone(site)
		site.Spec.NodeName = "two"
		shared, _ := inf.Reader().Get(key)
		fmt.Println(found, site.Spec.NodeName, shared.Spec.NodeName)
		return errDone
	}))
	if !errors.Is(err, errDone) {
		fmt.Println(err)
	}
	// Output: true two one
}

package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

type Pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		NodeName   string      `json:"nodeName,omitempty"`
		Containers []Container `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase,omitempty"`
	} `json:"status"`
}

type Container struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func pod(name, node string) *Pod {
	p := &Pod{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": name}}}
	p.Spec.NodeName = node
	p.Spec.Containers = []Container{{Name: "main", Image: "example.com/" + name}}
	return p
}

// run does work while an informer fills a cache with the pods of a server.
func run(work func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error, exist ...*Pod) {
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
	user := func(ctx context.Context) error {
		for _, p := range exist {
			created, err := pods.Create(ctx, p)
			if err != nil {
				return err
			}
			if err := inf.WaitFor(ctx, meta.KeyOf(created), created.ResourceVersion); err != nil {
				return err
			}
		}
		if err := work(ctx, pods, inf); err != nil {
			return err
		}
		return errDone
	}
	if err := informer.Run(context.Background(), informer.RunnerFunc(server.Run), inf, informer.RunnerFunc(user)); err != errDone {
		fmt.Println(err)
	}
}

// A handler hears of the objects that exist, and of their changes.
func Example() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		updated := make(chan struct{})
		sub := inf.Reader().Subscribe(cache.HandlerFuncs[*Pod]{
			Add: func(p *Pod) { fmt.Println("added", p.Name) },
			Update: func(old, p *Pod) {
				fmt.Printf("updated %s: %s, then %s\n", p.Name, old.Status.Phase, p.Status.Phase)
				close(updated)
			},
		})
		if err := sub.WaitSynced(ctx); err != nil {
			return err
		}
		key := meta.Key{Namespace: "default", Name: "web"}
		if _, err := pods.Status().Modify(ctx, key, func(p *Pod) error { p.Status.Phase = "Running"; return nil }); err != nil {
			return err
		}
		<-updated
		if p, found := inf.Reader().Get(key); found {
			fmt.Println("cached:", p.Name, p.Status.Phase)
		}
		return nil
	}, pod("web", ""))
	// Output:
	// added web
	// updated web: Pending, then Running
	// cached: web Running
}

func ExampleNewIndex() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		byNode := cache.NewIndex(inf.Reader(), func(p *Pod) []string {
			if p.Spec.NodeName == "" {
				return nil
			}
			return []string{p.Spec.NodeName}
		})
		for p := range byNode.Get("node-a") {
			fmt.Println(p.Name)
		}
		fmt.Println(slices.Sorted(byNode.Keys()), byNode.Len("node-b"))
		return nil
	}, pod("web", "node-a"), pod("db", "node-b"), pod("queue", "node-a"), pod("waits", ""))
	// Unordered output:
	// web
	// queue
	// [node-a node-b] 1
}

func ExampleNewValueIndex() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		byNode := cache.NewValueIndex(inf.Reader(), func(p *Pod) string { return p.Spec.NodeName })
		fmt.Println(byNode.Len("node-a"), "on node-a")
		for p := range byNode.Get("") {
			fmt.Println(p.Name, "waits for a node")
		}
		return nil
	}, pod("web", "node-a"), pod("db", ""), pod("queue", "node-a"))
	// Output:
	// 2 on node-a
	// db waits for a node
}

func ExampleReader_WaitFor() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		p, err := pods.Create(ctx, pod("web", "node-a"))
		if err != nil {
			return err
		}
		if _, err := inf.Reader().WaitFor(ctx, meta.KeyOf(p), p.ResourceVersion); err != nil {
			return err
		}
		_, found := inf.Reader().Get(meta.KeyOf(p))
		fmt.Println(found)
		return nil
	})
	// Output: true
}

func ExampleReader_Where() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		pending := inf.Reader().Where(func(p *Pod) bool { return p.Status.Phase == "Pending" })
		gone := make(chan struct{})
		sub := pending.Subscribe(cache.HandlerFuncs[*Pod]{
			Add:    func(p *Pod) { fmt.Println("pending:", p.Name) },
			Delete: func(p *Pod) { fmt.Println("not pending any more:", p.Name); close(gone) },
		})
		if err := sub.WaitSynced(ctx); err != nil {
			return err
		}
		key := meta.Key{Namespace: "default", Name: "web"}
		if _, err := pods.Status().Modify(ctx, key, func(p *Pod) error { p.Status.Phase = "Running"; return nil }); err != nil {
			return err
		}
		<-gone
		return nil
	}, pod("web", "node-a"))
	// Output:
	// pending: web
	// not pending any more: web
}

func ExampleSelect() {
	run(func(ctx context.Context, pods client.Resource[*Pod], inf *informer.Informer[*Pod]) error {
		cache.NewLabelIndex(inf.Reader(), "app") // makes it fast
		web, err := meta.ParseSelector("app in (web, queue)")
		if err != nil {
			return err
		}
		for p := range cache.Select(inf.Reader(), web) {
			fmt.Println(p.Name)
		}
		return nil
	}, pod("web", ""), pod("db", ""), pod("queue", ""))
	// Unordered output:
	// web
	// queue
}

package cache_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

type Pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func pod(name, version, node string) *Pod {
	p := &Pod{Identity: meta.Identity{Namespace: "shop", Name: name, UID: "uid-of-" + name, ResourceVersion: version}}
	p.Spec.NodeName = node
	return p
}

// An informer writes to a store as this does; its users have the reader.
func Example() {
	store := cache.NewStore[*Pod]()
	pods := store.Reader()
	updated := make(chan struct{})
	sub := pods.Subscribe(cache.HandlerFuncs[*Pod]{
		Add: func(p *Pod) { fmt.Println("added", p.Name) },
		Update: func(old, p *Pod) {
			fmt.Println("updated", p.Name, "from", old.ResourceVersion, "to", p.ResourceVersion)
			close(updated)
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	delivered := make(chan error)
	go func() { delivered <- store.Deliver(ctx, nil) }()

	list := store.Relist()
	list.Set(pod("web", "1", "node-a").Identity, pod("web", "1", "node-a"))
	list.Commit("5")
	if err := sub.WaitSynced(ctx); err != nil {
		fmt.Println(err)
	}
	store.Set(pod("web", "6", "node-a").Identity, pod("web", "6", "node-a"))
	<-updated
	if p, found := pods.Get(meta.Key{Namespace: "shop", Name: "web"}); found {
		fmt.Println("cached:", p.Name, p.ResourceVersion)
	}

	stop()
	fmt.Println(<-delivered)
	// Output:
	// added web
	// updated web from 1 to 6
	// cached: web 6
	// <nil>
}

func ExampleNewIndex() {
	store := cache.NewStore[*Pod]()
	for _, p := range []*Pod{pod("web", "1", "node-a"), pod("db", "2", "node-b"), pod("queue", "3", "node-a")} {
		store.Set(p.Identity, p)
	}
	byNode := cache.NewIndex(store.Reader(), func(p *Pod) []string { return []string{p.Spec.NodeName} })

	for p := range byNode.Get("node-a") {
		fmt.Println(p.Name)
	}
	moved := pod("db", "4", "node-c")
	store.Set(moved.Identity, moved)
	fmt.Println(slices.Sorted(byNode.Keys()), byNode.Len("node-b"))
	// Unordered output:
	// web
	// queue
	// [node-a node-c] 0
}

// A relist decodes only what it has to, and counts what it changed.
func ExampleRelist() {
	store := cache.NewStore[*Pod]()
	for _, p := range []*Pod{pod("web", "1", ""), pod("db", "2", ""), pod("queue", "3", "")} {
		store.Set(p.Identity, p)
	}
	list := store.Relist()
	for _, item := range []*Pod{pod("web", "1", ""), pod("db", "7", ""), pod("mail", "8", "")} {
		if _, kept := list.Keep(item.Identity); kept {
			continue
		}
		fmt.Println("decode", item.Name)
		list.Set(item.Identity, item)
	}
	fmt.Printf("%+v\n", list.Commit("9"))
	// Output:
	// decode db
	// decode mail
	// {Added:1 Updated:1 Deleted:1 Unchanged:1}
}

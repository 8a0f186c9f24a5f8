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

// An informer writes to a store in this way; its users have the reader.
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

func ExampleNewValueIndex() {
	store := cache.NewStore[*Pod]()
	for _, p := range []*Pod{pod("web", "1", "node-a"), pod("db", "2", ""), pod("queue", "3", "node-a")} {
		store.Set(p.Identity, p)
	}
	byNode := cache.NewValueIndex(store.Reader(), func(p *Pod) string { return p.Spec.NodeName })

	fmt.Println(byNode.Len("node-a"), "on node-a")
	for p := range byNode.Get("") {
		fmt.Println(p.Name, "waits for a node")
	}
	// Output:
	// 2 on node-a
	// db waits for a node
}

// A relist decodes only changed objects, and counts its changes.
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

// Two namespaces with a writer each, in one cache.
func ExampleStore_Writer() {
	store := cache.NewStore[*Pod]()
	shop, bank := store.Writer("shop"), store.Writer("bank")
	list := shop.Relist()
	list.Set(pod("web", "1", "").Identity, pod("web", "1", ""))
	list.Commit("5")
	bank.Relist().Commit("7")
	fmt.Println(store.Reader().Len(), store.Reader().ResourceVersion())
	shop.Drop()
	fmt.Println(store.Reader().Len(), store.Reader().ResourceVersion())
	// Output:
	// 1 5
	// 0 7
}

func ExampleReader_WaitFor() {
	store := cache.NewStore[*Pod]()
	pods := store.Reader()
	go func() { // an informer
		store.Set(pod("web", "12", "node-a").Identity, pod("web", "12", "node-a"))
	}()
	// The answer to a write said that the object is now at version 12.
	key := meta.Key{Namespace: "shop", Name: "web"}
	if _, err := pods.WaitFor(context.Background(), key, "12"); err != nil {
		fmt.Println(err)
	}
	p, _ := pods.Get(key)
	fmt.Println(p.ResourceVersion)
	// Output: 12
}

func ExampleReader_Where() {
	store := cache.NewStore[*Pod]()
	pending := store.Reader().Where(func(p *Pod) bool { return p.Spec.NodeName == "" })
	seen, gone := make(chan struct{}), make(chan struct{})
	pending.Subscribe(cache.HandlerFuncs[*Pod]{
		Add:    func(p *Pod) { fmt.Println("pending:", p.Name); close(seen) },
		Delete: func(p *Pod) { fmt.Println("not pending any more, on", p.Spec.NodeName); close(gone) },
	})
	store.Set(pod("web", "1", "").Identity, pod("web", "1", ""))
	ctx, stop := context.WithCancel(context.Background())
	delivered := make(chan error)
	go func() { delivered <- store.Deliver(ctx, nil) }()
	<-seen
	store.Set(pod("web", "2", "node-a").Identity, pod("web", "2", "node-a"))
	<-gone
	stop()
	fmt.Println(<-delivered)
	// Output:
	// pending: web
	// not pending any more, on node-a
	// <nil>
}

func ExampleSelect() {
	store := cache.NewStore[*meta.Unstructured]()
	cache.NewLabelIndex(store.Reader(), "app") // makes it fast
	for i, app := range []string{"web", "db", "web"} {
		o := &meta.Unstructured{}
		o.SetLabels(map[string]string{"app": app})
		id := meta.Identity{Namespace: "shop", Name: fmt.Sprint("pod-", i), UID: fmt.Sprint(i), ResourceVersion: "1"}
		o.SetName(id.Name)
		store.Set(id, o)
	}
	web, err := meta.ParseSelector("app=web")
	if err != nil {
		fmt.Println(err)
	}
	for o := range cache.Select(store.Reader(), web) {
		fmt.Println(o.GetName())
	}
	// Unordered output:
	// pod-0
	// pod-2
}

func ExampleStore_CheckMutations() {
	store := cache.NewStore[*Pod]()
	store.CheckMutations(1, func(err *cache.MutationError) { fmt.Println(err) })
	store.Set(pod("web", "1", "node-a").Identity, pod("web", "1", "node-a"))

	p, _ := store.Reader().Get(meta.Key{Namespace: "shop", Name: "web"})
	p.Spec.NodeName = "node-b" // instead of changing meta.Clone(p)
	store.Sweep()
	// Output: check "shop/web" at version 1: the cached object was changed at spec.nodeName; clone an object before changing it
}

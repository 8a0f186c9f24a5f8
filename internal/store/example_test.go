package store_test

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
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

// A relist decodes only changed objects, and counts its changes.
func ExampleRelist() {
	pods := store.New[*Pod]()
	for _, p := range []*Pod{pod("web", "1", ""), pod("db", "2", ""), pod("queue", "3", "")} {
		pods.Writer("").Set(p.Identity, p)
	}
	list := pods.Writer("").Relist()
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
	pods := store.New[*Pod]()
	shop, bank := pods.Writer("shop"), pods.Writer("bank")
	list := shop.Relist()
	list.Set(pod("web", "1", "").Identity, pod("web", "1", ""))
	list.Commit("5")
	bank.Relist().Commit("7")
	fmt.Println(pods.Len(), pods.ResourceVersion())
	shop.Drop()
	fmt.Println(pods.Len(), pods.ResourceVersion())
	// Output:
	// 1 5
	// 0 7
}

func ExampleStore_CheckMutations() {
	pods := store.New[*Pod]()
	pods.CheckMutations(1, 100, func(m *store.Mutation) { fmt.Printf("%s at version %s: %s\n", m.Key, m.ResourceVersion, m.Field) })
	pods.Writer("").Set(pod("web", "1", "node-a").Identity, pod("web", "1", "node-a"))

	p, _ := pods.Get(meta.Key{Namespace: "shop", Name: "web"})
	p.Spec.NodeName = "node-b" // instead of changing meta.Clone(p)
	pods.Sweep()
	// Output: shop/web at version 1: spec.nodeName
}

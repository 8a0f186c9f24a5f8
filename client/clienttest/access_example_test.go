package clienttest_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// On this server only the owner of a namespace may write to it.
func ExampleAccess() {
	server := clienttest.New(clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
		return a.Verb == "get" || a.User.Name == a.Key.Namespace, "it is not yours"
	}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	maps := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	fmt.Println(maps.Delete(ctx, meta.Key{Namespace: "default", Name: "a"}, client.DeleteOptions{}))
	c.Close()
	stop()
	<-done
	// Output:
	// delete configmaps "default/a": server said Forbidden (403): configmaps "a" is forbidden: User "admin" cannot delete resource "configmaps" in API group "" in the namespace "default": it is not yours
}

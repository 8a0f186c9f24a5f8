package controllers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
)

// In a test, Start runs the controllers until the test ends.
func ExampleRun() {
	ctx, stop := context.WithCancel(context.Background())
	server := clienttest.New(clienttest.Options{})
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx) }()
	go func() { ended <- controllers.Run(ctx, server.Config(), controllers.GarbageCollector()) }()

	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	type object = *meta.Unstructured
	configMaps := client.For(c, client.Type[object]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	create := func(name string, owners ...meta.OwnerReference) object {
		o := &meta.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetNamespace("default")
		o.SetName(name)
		o.SetOwnerReferences(owners)
		made, err := configMaps.Create(ctx, o)
		if err != nil {
			log.Fatal(err)
		}
		return made
	}

	owner := create("owner")
	child := create("child", meta.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.GetUID()})
	if err := configMaps.Delete(ctx, meta.KeyOf(owner), client.DeleteOptions{}); err != nil {
		log.Fatal(err)
	}
	if _, err := client.WaitFor(ctx, configMaps, meta.KeyOf(child), client.UntilDeleted(child.GetUID())); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the child has gone")
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
	}
	// Output: the child has gone
}

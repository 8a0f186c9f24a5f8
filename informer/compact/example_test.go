package compact_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/compact"
)

// The cache of a program that reads whole config maps, and changes what it has read.
func ExampleNew() {
	server := clienttest.New(clienttest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go server.Run(ctx)
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	configMaps := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	inf := informer.New(configMaps, informer.Options{Compact: compact.New()})
	go inf.Run(ctx)
	if err := inf.WaitSynced(ctx); err != nil {
		fmt.Println(err)
		return
	}
	created, err := configMaps.Create(ctx, &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "settings"},
		"data":     map[string]any{"color": "blue"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	key := meta.KeyOf(created)
	if err := inf.WaitFor(ctx, key, created.GetResourceVersion()); err != nil {
		fmt.Println(err)
		return
	}

	mine, _ := inf.Reader().Get(key)
	mine.Object["data"].(map[string]any)["color"] = "red" // no clone is needed
	again, _ := inf.Reader().Get(key)
	fmt.Println(again.Object["data"])
	// Output: map[color:blue]
}

package protobuf_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
)

// A program imports the tables of the groups that it reads. Its types stay as they are.
func ExampleNew() {
	server := clienttest.New(clienttest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go server.Run(ctx)

	cfg := server.Config()
	cfg.Protobuf = protobuf.New(core.V1())
	c, err := client.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	type Namespace struct {
		meta.ObjectMeta `json:"metadata"`
		Status          struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}
	namespaces := client.For(c, client.Type[*Namespace]{
		Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster,
	})
	list, err := namespaces.List(ctx, client.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ns := range list.Items {
		fmt.Println(ns.Name, ns.Status.Phase)
	}
	// Output: default Active
}

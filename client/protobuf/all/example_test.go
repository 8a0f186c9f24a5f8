package all_test

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
)

// A program that counts the objects of any built-in kind needs all tables.
func ExampleTables() {
	server := clienttest.New(clienttest.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go server.Run(ctx)

	cfg := server.Config()
	cfg.Protobuf = protobuf.New(all.Tables()...)
	c, err := client.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	type Object struct {
		meta.ObjectMeta `json:"metadata"`
	}
	for _, t := range []client.Type[*Object]{
		{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster},
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"},
	} {
		list, err := client.For(c, t).List(ctx, client.ListOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(t.Resource, len(list.Items))
	}
	// Output:
	// namespaces 4
	// deployments 0
}

// Root makes an object on a server in the process.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var configMaps = client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

func main() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	err = informer.Run(ctx, informer.RunnerFunc(server.Run), informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		want := &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
		_, _, err := client.For(c, configMaps).Ensure(ctx, want, client.EnsureOptions{})
		return err
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}

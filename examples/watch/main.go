// Watch prints what happens to the ConfigMaps of a namespace, from now on.
//
//	go run ./examples/watch                      # with nothing but Go: the API server is in the process
//	go run ./examples/watch -kubeconfig FILE     # a real cluster, until it is interrupted; nothing is written to it
//
// A list returns the present objects and a resource version; a watch from that version misses nothing. A watch is one
// HTTP request, which the server ends after half an hour or so. An informer then opens the next one, and survives every
// other fault of a connection: see examples/controller.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// ConfigMap has the fields that this program reads.
type ConfigMap struct {
	meta.Identity `json:"metadata"`
	Data          map[string]string `json:"data,omitempty"`
}

// ConfigMaps is the resource on the server.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// follow prints how many objects there are and then the events, until the server ends the watch, or until limit events
// if limit is not 0. It calls listed in between.
func follow(ctx context.Context, c *client.Client, namespace string, limit int, listed func(), out io.Writer) error {
	maps := client.For(c, ConfigMaps)
	list, err := maps.List(ctx, client.ListOptions{Namespace: namespace})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d there at the start\n", len(list.Items))
	listed() // changes from now on are events, even if the watch is not open yet
	events := 0
	for event, err := range maps.Watch(ctx, client.WatchOptions{Namespace: namespace, ResourceVersion: list.ResourceVersion}) {
		if bad, ok := errors.AsType[*client.DecodeError](err); ok {
			fmt.Fprintln(out, event.Type, bad) // the other objects follow
		} else if err != nil {
			return err
		} else {
			fmt.Fprintln(out, event.Type, event.Identity.Key(), event.Object.Data)
		}
		if events++; events == limit {
			return nil // this ends the request
		}
	}
	fmt.Fprintln(out, "the server has ended the watch")
	return nil
}

// act creates, changes and deletes a ConfigMap.
func act(ctx context.Context, c *client.Client) error {
	maps, key := client.For(c, ConfigMaps), meta.Key{Namespace: "default", Name: "lights"}
	if _, err := maps.Create(ctx, &ConfigMap{
		Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"color": "red"},
	}); err != nil {
		return err
	}
	if _, err := maps.Modify(ctx, key, func(m *ConfigMap) error {
		m.Data["color"] = "green"
		return nil
	}); err != nil {
		return err
	}
	return maps.Delete(ctx, key, client.DeleteOptions{})
}

// demo follows the events that it causes itself.
func demo(ctx context.Context, c *client.Client, out io.Writer) error {
	acted := make(chan error, 1)
	listed := func() { go func() { acted <- act(ctx, c) }() }
	if err := follow(ctx, c, "default", 3, listed, out); err != nil {
		return err
	}
	return <-acted
}

func main() {
	namespace := flag.String("namespace", "", "the namespace to watch in a real cluster; empty means all")
	cluster.Example{
		Work: func(ctx context.Context, c *client.Client) error {
			return follow(ctx, c, *namespace, 0, func() {}, os.Stdout)
		},
		Demo: func(ctx context.Context, c *client.Client) error { return demo(ctx, c, os.Stdout) },
	}.Main()
}

// List counts the objects of a large collection by namespace, in memory for one of them, and says how far it is.
//
//	go run ./examples/list                       # with nothing but Go: the API server is in the process
//	go run ./examples/list -kubeconfig FILE      # a real cluster; nothing is written to it
//
// What is worth a look: the struct has one field, so that of each object nothing else is decoded; All hands on an object as soon
// as it is there, and asks for the next page meanwhile; OnPage and RemainingItemCount make the line of progress.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
)

// ConfigMap has what this program reads.
type ConfigMap struct {
	meta.Identity `json:"metadata"`
}

// ConfigMaps says where the server has them.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// count prints how many there are in each namespace, and its progress while it reads.
func count(ctx context.Context, c *client.Client, pageSize int, out, progress io.Writer) error {
	total, perNamespace := 0, make(map[string]int)
	o := client.ListOptions{PageSize: pageSize, OnPage: func(m meta.ListMeta) {
		switch {
		case m.RemainingItemCount != nil: // how many there are after this page; a server need not know
			fmt.Fprintf(progress, "\r%d read, %d after the page that comes   ", total, *m.RemainingItemCount)
		case m.Continue == "":
			fmt.Fprintf(progress, "\r%d read, and the last page comes           ", total)
		}
	}}
	for obj, err := range client.For(c, ConfigMaps).All(ctx, o) {
		if bad := (*client.DecodeError)(nil); errors.As(err, &bad) {
			fmt.Fprintln(out, "skipped:", bad) // one object that does not fit costs no other
			continue
		}
		if err != nil {
			return err
		}
		perNamespace[obj.Namespace]++
		total++
	}
	fmt.Fprintln(progress)
	for _, namespace := range slices.Sorted(maps.Keys(perNamespace)) {
		fmt.Fprintf(out, "%6d %s\n", perNamespace[namespace], namespace)
	}
	fmt.Fprintf(out, "%6d in all\n", total)
	return nil
}

// fill makes something to count.
func fill(ctx context.Context, c *client.Client) error {
	configMaps := client.For(c, ConfigMaps)
	for i := range 1000 {
		id := meta.Identity{Namespace: []string{"default", "default", "kube-system"}[i%3], Name: fmt.Sprint("map-", i)}
		if _, err := configMaps.Create(ctx, &ConfigMap{id}); err != nil {
			return err
		}
	}
	return nil
}

// play gives work a client of the cluster of a kubeconfig, if one is named, and of a server in this process otherwise, which
// it fills first.
func play(ctx context.Context, file, name string, work func(context.Context, *client.Client) error) error {
	if file != "" || name != "" {
		loaded, err := kubeconfig.Load(kubeconfig.Options{Path: file, Context: name})
		if err != nil {
			return err
		}
		c, err := client.New(loaded.Config)
		if err != nil {
			return err
		}
		defer c.Close()
		return work(ctx, c)
	}
	ctx, stop := context.WithCancel(ctx)
	server := clienttest.New(clienttest.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err == nil {
		if err = fill(ctx, c); err == nil {
			err = work(ctx, c)
		}
		c.Close()
	}
	stop()
	return errors.Join(err, <-served)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	file := flag.String("kubeconfig", "", "use the cluster of this `file` instead of a server in the process")
	name := flag.String("context", "", "the kubeconfig's context; empty is its current one")
	pageSize := flag.Int("page", 100, "how many objects to ask for at a time")
	flag.Parse()
	if err := play(ctx, *file, *name, func(ctx context.Context, c *client.Client) error {
		return count(ctx, c, *pageSize, os.Stdout, os.Stderr)
	}); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "list:", err)
		os.Exit(1)
	}
}

// List counts the objects of a large collection by namespace, in the memory of one object, and reports its progress.
//
//	go run ./examples/list                       # with nothing but Go: the API server is in the process
//	go run ./examples/list -kubeconfig FILE      # a real cluster; nothing is written to it
//
// Note three things. The struct has one field, so nothing else of an object is decoded. All yields each object as soon
// as it arrives, and requests the next page at the same time. OnPage and RemainingItemCount make the line of progress.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// ConfigMap has the fields that this program reads.
type ConfigMap struct {
	meta.Identity `json:"metadata"`
}

// ConfigMaps is the resource on the server.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// count prints the number of objects in each namespace, and its progress while it reads.
func count(ctx context.Context, c *client.Client, pageSize int, out, progress io.Writer) error {
	total, perNamespace := 0, make(map[string]int)
	o := client.ListOptions{PageSize: pageSize, OnPage: func(m meta.ListMeta) {
		switch {
		case m.RemainingItemCount != nil: // how many objects follow this page; a server may not know
			fmt.Fprintf(progress, "\r%d read, %d after the page that comes   ", total, *m.RemainingItemCount)
		case m.Continue == "":
			fmt.Fprintf(progress, "\r%d read, and the last page comes           ", total)
		}
	}}
	for obj, err := range client.For(c, ConfigMaps).All(ctx, o) {
		if bad, ok := errors.AsType[*client.DecodeError](err); ok {
			fmt.Fprintln(out, "skipped:", bad) // the other objects follow
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

func main() {
	pageSize := flag.Int("page", 100, "how many objects to ask for at a time")
	cluster.Example{Fill: fill, Work: func(ctx context.Context, c *client.Client) error {
		return count(ctx, c, *pageSize, os.Stdout, os.Stderr)
	}}.Main()
}

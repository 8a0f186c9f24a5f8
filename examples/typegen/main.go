// Typegen counts the pods of each node by their phase, with types that client/typegen has written: pods.go.
//
//	go run ./examples/typegen                       # with nothing but Go: the API server is in the process
//	go run ./examples/typegen -kubeconfig FILE      # a real cluster; nothing is written to it
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

//go:generate go run github.com/bowline-go/bowline/client/typegen -o pods.go -kinds pods -fields spec.nodeName,status.phase

// place is a node and the phase of pods on it.
type place struct {
	node  string
	phase PodStatusPhase
}

// count prints how many pods there are at each place.
func count(ctx context.Context, c *client.Client, out io.Writer) error {
	pods := make(map[place]int)
	for pod, err := range client.For(c, Pods).All(ctx, client.ListOptions{}) {
		if err != nil {
			return err
		}
		pods[place{cmp.Or(pod.Spec.NodeName, "no node"), cmp.Or(pod.Status.Phase, PodStatusPhaseUnknown)}]++
	}
	for _, p := range slices.SortedFunc(maps.Keys(pods), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.phase, b.phase))
	}) {
		fmt.Fprintf(out, "%4d %-9s %s\n", pods[p], p.phase, p.node)
	}
	return nil
}

// fill makes three pods, one of which runs.
func fill(ctx context.Context, c *client.Client) error {
	raw := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"})
	for i := range 3 {
		pod := &meta.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "default", "name": fmt.Sprint("web-", i)},
			"spec": map[string]any{
				"nodeName": fmt.Sprint("node-", i%2), "containers": []any{map[string]any{"name": "web", "image": "web"}},
			},
		}}
		if _, err := raw.Create(ctx, pod); err != nil {
			return err
		}
	}
	_, err := client.For(c, Pods).Status().Modify(ctx, meta.Key{Namespace: "default", Name: "web-1"}, func(p *Pod) error {
		p.Status.Phase = PodStatusPhaseRunning
		return nil
	})
	return err
}

func main() {
	cluster.Example{Fill: fill, Work: func(ctx context.Context, c *client.Client) error { return count(ctx, c, os.Stdout) }}.Main()
}

// Command bowlineapi is the side of Bowline with k8s.io/api's type.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

var pods = client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func main() {
	heap.Main(func(server string) (func(func(heap.Pod)), error) {
		c, err := client.New(client.Config{Server: server})
		if err != nil {
			return nil, err
		}
		ctx := context.Background() // until the process ends
		inf := informer.New(client.For(c, pods), informer.Options{})
		go inf.Run(ctx)
		each := func(yield func(heap.Pod)) {
			for p := range inf.Reader().All() {
				yield(heap.Pod{Node: p.Spec.NodeName, Phase: string(p.Status.Phase)})
			}
		}
		return each, inf.WaitSynced(ctx)
	})
}

// Command bowline is the side of Bowline with a struct of the fields that the program reads.
package main

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

// pod has six fields: four of the identity, the node and the phase.
type pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

var pods = client.Type[*pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

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
				yield(heap.Pod{Node: p.Spec.NodeName, Phase: p.Status.Phase})
			}
		}
		return each, inf.WaitSynced(ctx)
	})
}

// Command projection is the side of Bowline with a struct of the fields that the program reads. It is a program of its own
// because it links nothing of Kubernetes.
package main

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/bench/sample"
	"github.com/bowline-go/bowline/internal/bench/sides/control"
	"github.com/bowline-go/bowline/internal/bench/sides/setting"
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
	sample.Main(map[string]sample.Job{
		"project":    project,
		"controller": control.Job(pods, "a struct of six fields"),
	})
}

func project(ctx context.Context, p sample.Params) (sample.Report, error) {
	o, told, err := setting.Options(p.Setting)
	if err != nil {
		return sample.Report{}, err
	}
	return sample.Sync(sample.Informer{
		Settings: "a struct of six fields, " + told,
		Start: func(ctx context.Context, server string, _ func(string)) (sample.Cache, error) {
			c, err := client.New(client.Config{Server: server})
			if err != nil {
				return sample.Cache{}, err
			}
			inf := informer.New(client.For(c, pods), o)
			go inf.Run(ctx) // until the process ends
			return sample.Cache{
				Each: func(yield func(node, phase string)) {
					for p := range inf.Reader().All() {
						yield(p.Spec.NodeName, p.Status.Phase)
					}
				},
			}, inf.WaitSynced(ctx)
		},
	})(ctx, p)
}

// Command projection is the side of Bowline with a struct of the fields that the program reads. It is a separate
// program because it links nothing of Kubernetes.
package main

import (
	"context"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/internal/proof/bench/sides/control"
	"github.com/bowline-go/bowline/internal/proof/bench/sides/setting"
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
		"project":          project(sample.Sync, nil),
		"project-protobuf": project(sample.Sync, protobuf.New(core.V1())),
		"watch-projection": project(sample.Watch, protobuf.New(core.V1())),

		"controller": control.Job(pods, "a struct of six fields"),
	})
}

// project returns a job on an informer with the requested setting. The informer uses protobuf unless form is nil.
func project(job func(sample.Informer) sample.Job, form client.Protobuf) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		o, name, err := setting.Options(p.Setting)
		if err != nil {
			return sample.Report{}, err
		}
		if form != nil {
			name += ", protobuf"
		}
		return job(sample.Informer{
			Settings: "a struct of six fields, " + name,
			Start: func(ctx context.Context, server string, told func(string)) (sample.Cache, error) {
				return start(ctx, client.Config{Server: server, Protobuf: form}, told, o)
			},
		})(ctx, p)
	}
}

func start(ctx context.Context, cfg client.Config, told func(string), o informer.Options) (sample.Cache, error) {
	c, err := client.New(cfg)
	if err != nil {
		return sample.Cache{}, err
	}
	inf := informer.New(client.For(c, pods), o)
	if told != nil {
		inf.Subscribe(cache.HandlerFuncs[*pod]{
			Add:    func(p *pod) { told(p.ResourceVersion) },
			Update: func(_, p *pod) { told(p.ResourceVersion) },
		})
	}
	go inf.Run(ctx) // until the process ends
	return sample.Cache{
		Each: func(yield func(node, phase string)) {
			for p := range inf.Reader().All() {
				yield(p.Spec.NodeName, p.Status.Phase)
			}
		},
		Version: inf.Reader().ResourceVersion,
		Applied: func() int { return inf.Status().Events },
	}, inf.WaitSynced(ctx)
}

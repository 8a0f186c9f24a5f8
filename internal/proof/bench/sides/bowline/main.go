// Command bowline is the side of Bowline with k8s.io/api's type.
package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"

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

var pods = client.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func main() {
	sample.Main(map[string]sample.Job{
		"sync":   with(sample.Sync, nil),
		"relist": with(sample.Relist, nil),
		"watch":  with(sample.Watch, nil),

		"share": share,

		"sync-deployments": synced(deployments),
		"sync-secrets":     synced(secrets),
		"sync-custom":      synced(certificates),

		"sync-compact":          with(sample.Sync, nil),
		"sync-compact-protobuf": with(sample.Sync, protobuf.New(core.V1())),

		"sync-protobuf":  with(sample.Sync, protobuf.New(core.V1())),
		"watch-protobuf": with(sample.Watch, protobuf.New(core.V1())),

		"slow":       sample.Slow(feed),
		"micro":      sample.Micro("cache.Reader and cache.Index, which an informer's store.Writer fills", benches),
		"get":        sample.Micro("cache.Reader.Get", gets),
		"contention": sample.Contention(contended),
		"patch":      sample.Patch(patches),
		"work":       sample.Work(queues),
		"priorities": sample.Priorities(queues),
		"groups":     sample.Groups(grouped),

		"controller-typed": control.Job(pods, "*corev1.Pod"),
		"failover":         sample.Failover(election),
		"own-write":        sample.OwnWrites(writer),

		"waiting":   sample.Waiting(fleet),
		"exec":      sample.Exec(executor),
		"exec-idle": sample.Idle(executor),
	})
}

// with returns a job on an informer with the requested setting. The informer uses protobuf unless form is nil.
func with(job func(sample.Informer) sample.Job, form client.Protobuf) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		o, name, err := setting.Options(p.Setting)
		if err != nil {
			return sample.Report{}, err
		}
		if form != nil {
			name += ", protobuf"
		}
		return job(sample.Informer{
			Settings: name,
			Start: func(ctx context.Context, server string, told func(string)) (sample.Cache, error) {
				return start(ctx, client.Config{Server: server, Protobuf: form}, told, o)
			},
		})(ctx, p)
	}
}

// share is the job of a replica with a part of the pods, or with all of them.
func share(ctx context.Context, p sample.Params) (sample.Report, error) {
	o, name, err := setting.Options("pages")
	if err != nil {
		return sample.Report{}, err
	}
	if p.Ranges > 0 {
		var ranges meta.Ranges
		for n := range p.Ranges {
			ranges = ranges.With(n)
		}
		o.Shards = informer.FixedShards(meta.ShardByUID, ranges)
		name += ", Shards of some ranges"
	}
	var inf *informer.Informer[*corev1.Pod]
	return sample.Share(sample.Informer{
		Settings: name,
		Start: func(ctx context.Context, server string, told func(string)) (cached sample.Cache, err error) {
			cached, inf, err = startOne(ctx, client.Config{Server: server}, told, o)
			return cached, err
		},
	}, func() string { return string(inf.Status().Sharded) })(ctx, p)
}

func start(ctx context.Context, cfg client.Config, told func(string), o informer.Options) (sample.Cache, error) {
	cached, _, err := startOne(ctx, cfg, told, o)
	return cached, err
}

func startOne(ctx context.Context, cfg client.Config, told func(string), o informer.Options) (sample.Cache, *informer.Informer[*corev1.Pod], error) {
	c, err := client.New(cfg)
	if err != nil {
		return sample.Cache{}, nil, err
	}
	inf := informer.New(client.For(c, pods), o)
	if told != nil {
		inf.Subscribe(cache.HandlerFuncs[*corev1.Pod]{
			Add:    func(p *corev1.Pod) { told(p.ResourceVersion) },
			Update: func(_, p *corev1.Pod) { told(p.ResourceVersion) },
		})
	}
	go inf.Run(ctx) // until the process ends
	return sample.Cache{
		Each: func(yield func(node, phase string)) {
			for p := range inf.Reader().All() {
				yield(p.Spec.NodeName, string(p.Status.Phase))
			}
		},
		Version: inf.Reader().ResourceVersion,
		Applied: func() int { return inf.Status().Events },
	}, inf, inf.WaitSynced(ctx)
}

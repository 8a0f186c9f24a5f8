package metrics

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/version"
)

// Context registers the metrics with r and returns a context. Everything of Bowline that runs with that context, or
// with one derived from it, is measured. It returns an error if r has such metrics already: call Context once for each
// registry.
func Context(ctx context.Context, r prometheus.Registerer) (context.Context, error) {
	requests, informers, controllers, leaders, recorders := newRequests(), newInformers(), newControllers(), newLeaders(), newRecorders()
	groups := newGroups()
	for _, c := range []prometheus.Collector{requests, informers, controllers, leaders, groups, recorders, newBuild()} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	ctx = client.WithHooks(ctx, requests.hooks())
	ctx = informer.WithHooks(ctx, informers.hooks())
	ctx = controller.WithHooks(ctx, controllers.hooks())
	ctx = leader.WithHooks(ctx, leaders.hooks())
	ctx = shards.WithHooks(ctx, groups.hooks())
	return recorder.WithHooks(ctx, recorders.hooks()), nil
}

// newBuild returns the metric of the program's version of Bowline.
func newBuild() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "bowline_build_info", Help: "The version of Bowline that the program was built with. The value is 1.",
		ConstLabels: prometheus.Labels{"version": version.Bowline()},
	})
	g.Set(1)
	return g
}

// group is several collectors as one.
type group []prometheus.Collector

func (g group) Describe(to chan<- *prometheus.Desc) {
	for _, c := range g {
		c.Describe(to)
	}
}

func (g group) Collect(to chan<- prometheus.Metric) {
	for _, c := range g {
		c.Collect(to)
	}
}

package metrics

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/informer/controller"
)

// controllers has the metrics of controllers.
type controllers struct {
	group
	total                              *prometheus.CounterVec // by controller and result
	failed, terminal, panics, timeouts *prometheus.CounterVec
	conflicts                          *prometheus.CounterVec
	stale, fights                      *prometheus.CounterVec
	duration, fresh                    *prometheus.HistogramVec
	queues                             *queues
	running                            runs[controller.RunInfo]
}

// reconcileBuckets are the buckets of controller-runtime.
var reconcileBuckets = []float64{
	0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
	1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
}

var (
	workersDesc = prometheus.NewDesc("controller_runtime_max_concurrent_reconciles",
		"Workers of a controller.", []string{"controller"}, nil)
	activeDesc = prometheus.NewDesc("controller_runtime_active_workers",
		"Workers of a controller that run a reconcile.", []string{"controller"}, nil)
	oldestDesc = prometheus.NewDesc("bowline_controller_oldest_key_seconds",
		"How long the first ready key has waited for a worker.", []string{"controller"}, nil)
	delayedDesc = prometheus.NewDesc("bowline_controller_delayed_keys",
		"Keys that wait for their time.", []string{"controller"}, nil)
	fightingDesc = prometheus.NewDesc("bowline_controller_fighting",
		"Objects over which a controller fights with other writers.", []string{"controller"}, nil)
	pausedDesc = prometheus.NewDesc("bowline_controller_paused",
		"1 while a controller is paused, else 0.", []string{"controller"}, nil)
	heldDesc = prometheus.NewDesc("bowline_controller_held_keys",
		"Keys that wait aside, as for caches that have not seen the last write.", []string{"controller"}, nil)
)

func newControllers() *controllers {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"controller"}, labels...))
	}
	c := &controllers{
		total:     counter("controller_runtime_reconcile_total", "Reconciles, by controller and result.", "result"),
		failed:    counter("controller_runtime_reconcile_errors_total", "Reconciles that failed, by an error or a panic."),
		terminal:  counter("controller_runtime_terminal_reconcile_errors_total", "Reconciles that failed and are not retried."),
		panics:    counter("controller_runtime_reconcile_panics_total", "Reconciles that panicked."),
		timeouts:  counter("controller_runtime_reconcile_timeouts_total", "Reconciles that Options.Timeout ended."),
		conflicts: counter("bowline_controller_conflicts_total", "Reconciles that are retried quietly after a Conflict."),
		duration:  histogram("controller_runtime_reconcile_time_seconds", "Duration of reconciles, in seconds.", reconcileBuckets, "controller"),
		stale:     counter("bowline_controller_stale_reconciles_total", "Reconciles that went ahead before caches had seen the last write."),
		fights:    counter("bowline_controller_fights_total", "Fights with other writers of the same fields that were noticed."),
		fresh: histogram("bowline_controller_fresh_wait_seconds", "How long keys waited for caches to see the last write, in seconds.",
			[]float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60}, "controller"),
		queues: newQueues(),
	}
	c.group = group{c.total, c.failed, c.terminal, c.panics, c.timeouts, c.conflicts, c.stale, c.fights, c.duration, c.fresh}
	return c
}

func (c *controllers) hooks() controller.Hooks {
	return controller.Hooks{
		Run: func(_ context.Context, r controller.RunInfo) func() {
			c.begin(r.Name)
			return c.running.add(r)
		},
		Queue: c.queues.hooks,
		Fight: func(_ context.Context, f *controller.FightError) {
			if !f.Over {
				c.fights.WithLabelValues(f.Controller).Inc()
			}
		},
		Waited: func(_ context.Context, w controller.WaitInfo) {
			c.fresh.WithLabelValues(w.Controller).Observe(w.Waited.Seconds())
			if w.Err != nil {
				c.stale.WithLabelValues(w.Controller).Inc()
			}
		},
		Reconcile: func(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			return ctx, func(e controller.ReconcileEnd) { c.end(r.Controller, e) }
		},
	}
}

// begin makes the series of a controller, so that a rate over the first failure is not empty.
func (c *controllers) begin(name string) {
	for _, result := range []string{"success", "requeue_after", "error"} {
		c.total.WithLabelValues(name, result)
	}
	for _, v := range []*prometheus.CounterVec{c.failed, c.terminal, c.panics, c.timeouts, c.conflicts, c.stale, c.fights} {
		v.WithLabelValues(name)
	}
}

// end counts a reconcile.
func (c *controllers) end(name string, e controller.ReconcileEnd) {
	c.duration.WithLabelValues(name).Observe(e.Duration.Seconds())
	c.queues.work.WithLabelValues(name, name).Observe(e.Duration.Seconds())
	if e.TimedOut {
		c.timeouts.WithLabelValues(name).Inc()
	}
	result := "error"
	switch e.Outcome {
	case controller.Succeeded:
		result = "success"
	case controller.Requeued:
		result = "requeue_after"
	case controller.Conflicted:
		result = "conflict"
		c.conflicts.WithLabelValues(name).Inc()
	case controller.Interrupted:
		result = "interrupted"
	case controller.FailedForGood:
		c.terminal.WithLabelValues(name).Inc()
		c.failed.WithLabelValues(name).Inc()
	case controller.Failed:
		c.failed.WithLabelValues(name).Inc()
	}
	if errors.As(e.Err, new(*cache.PanicError)) {
		c.panics.WithLabelValues(name).Inc()
	}
	c.total.WithLabelValues(name, result).Inc()
}

// Describe implements prometheus.Collector.
func (c *controllers) Describe(to chan<- *prometheus.Desc) {
	c.group.Describe(to)
	c.queues.Describe(to)
	for _, d := range []*prometheus.Desc{workersDesc, activeDesc, pausedDesc, oldestDesc, delayedDesc, heldDesc, fightingDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Controllers of one name, which a Group refuses, share a series.
func (c *controllers) Collect(to chan<- prometheus.Metric) {
	c.group.Collect(to)
	c.queues.Collect(to)
	type gauges struct {
		workers, active, paused, oldest, delayed, held, fighting, unfinished, longest float64

		ready map[int]int // by priority
	}
	all := make(map[string]*gauges)
	c.running.each(func(r controller.RunInfo) {
		g := all[r.Name]
		if g == nil {
			g = &gauges{ready: make(map[int]int)}
			all[r.Name] = g
		}
		status := r.Status()
		s := status.Queue
		g.fighting += float64(status.Fighting)
		g.workers += float64(status.Workers)
		g.active += float64(s.InProgress)
		if status.Paused {
			g.paused = 1
		}
		g.oldest = max(g.oldest, s.Oldest.Seconds())
		g.delayed += float64(s.Delayed)
		g.held += float64(s.Held)
		g.unfinished += s.Unfinished.Seconds()
		g.longest = max(g.longest, s.Longest.Seconds())
		for priority, n := range r.ReadyByPriority() {
			g.ready[priority] += n
		}
	})
	for name, g := range all {
		for _, m := range []struct {
			desc  *prometheus.Desc
			value float64
		}{
			{workersDesc, g.workers},
			{activeDesc, g.active},
			{pausedDesc, g.paused},
			{oldestDesc, g.oldest},
			{delayedDesc, g.delayed},
			{heldDesc, g.held},
			{fightingDesc, g.fighting},
		} {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value, name)
		}
		c.queues.collect(to, name, g.ready, g.unfinished, g.longest)
	}
}

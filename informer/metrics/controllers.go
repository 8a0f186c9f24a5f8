package metrics

import (
	"context"
	"errors"
	"sync"

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
	retries                            *prometheus.CounterVec // by name and controller
	duration, work                     *prometheus.HistogramVec

	mu      sync.Mutex // guards the rest
	next    int
	running map[int]controller.RunInfo
}

// reconcileBuckets are those of controller-runtime.
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
	depthDesc      = queueDesc("depth", "Keys that are ready.")
	unfinishedDesc = queueDesc("unfinished_work_seconds", "How long the reconciles in progress have run, in seconds, in sum.")
	longestDesc    = queueDesc("longest_running_processor_seconds", "How long the longest reconcile in progress has run, in seconds.")
)

// queueDesc describes a metric of a queue. Both labels have the name of the controller, as with controller-runtime.
func queueDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("workqueue_"+name, help, []string{"name", "controller"}, nil)
}

// workBuckets are those of client-go and controller-runtime.
var workBuckets = prometheus.ExponentialBuckets(10e-9, 10, 12)

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
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "workqueue_retries_total", Help: "Retries of keys.",
		}, []string{"name", "controller"}),
		work:    histogram("workqueue_work_duration_seconds", "Duration of reconciles, in seconds.", workBuckets, "name", "controller"),
		running: make(map[int]controller.RunInfo),
	}
	c.group = group{c.total, c.failed, c.terminal, c.panics, c.timeouts, c.conflicts, c.duration, c.retries, c.work}
	return c
}

func (c *controllers) hooks() controller.Hooks {
	return controller.Hooks{
		Run: func(_ context.Context, r controller.RunInfo) func() {
			c.begin(r.Name)
			c.mu.Lock()
			defer c.mu.Unlock()
			id := c.next
			c.next++
			c.running[id] = r
			return func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.running, id)
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
	for _, v := range []*prometheus.CounterVec{c.failed, c.terminal, c.panics, c.timeouts, c.conflicts} {
		v.WithLabelValues(name)
	}
	c.retries.WithLabelValues(name, name)
}

// end counts a reconcile.
func (c *controllers) end(name string, e controller.ReconcileEnd) {
	c.duration.WithLabelValues(name).Observe(e.Duration.Seconds())
	c.work.WithLabelValues(name, name).Observe(e.Duration.Seconds())
	if e.Outcome == controller.Failed || e.Outcome == controller.Conflicted {
		c.retries.WithLabelValues(name, name).Inc()
	}
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
	if panicked := (*cache.PanicError)(nil); errors.As(e.Err, &panicked) {
		c.panics.WithLabelValues(name).Inc()
	}
	c.total.WithLabelValues(name, result).Inc()
}

// Describe implements prometheus.Collector.
func (c *controllers) Describe(to chan<- *prometheus.Desc) {
	c.group.Describe(to)
	for _, d := range []*prometheus.Desc{workersDesc, activeDesc, oldestDesc, delayedDesc, depthDesc, unfinishedDesc, longestDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Controllers of one name, which a Group refuses, share a series.
func (c *controllers) Collect(to chan<- prometheus.Metric) {
	c.group.Collect(to)
	type gauges struct{ workers, active, oldest, delayed, depth, unfinished, longest float64 }
	all := make(map[string]*gauges)
	c.mu.Lock()
	for _, r := range c.running {
		g := all[r.Name]
		if g == nil {
			g = new(gauges)
			all[r.Name] = g
		}
		s := r.Status().Queue
		g.workers += float64(r.Workers)
		g.active += float64(s.InProgress)
		g.oldest = max(g.oldest, s.Oldest.Seconds())
		g.delayed += float64(s.Delayed)
		g.depth += float64(s.Ready)
		g.unfinished += s.Unfinished.Seconds()
		g.longest = max(g.longest, s.Longest.Seconds())
	}
	c.mu.Unlock()
	for name, g := range all {
		for _, m := range []struct {
			desc  *prometheus.Desc
			value float64
		}{{workersDesc, g.workers}, {activeDesc, g.active}, {oldestDesc, g.oldest}, {delayedDesc, g.delayed}} {
			to <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value, name)
		}
		to <- prometheus.MustNewConstMetric(depthDesc, prometheus.GaugeValue, g.depth, name, name)
		to <- prometheus.MustNewConstMetric(unfinishedDesc, prometheus.GaugeValue, g.unfinished, name, name)
		to <- prometheus.MustNewConstMetric(longestDesc, prometheus.GaugeValue, g.longest, name, name)
	}
}

package metrics

import (
	"context"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

// queues has the metrics of the queues of controllers. Both labels of a series have the name of the controller, as with
// controller-runtime.
type queues struct {
	group
	adds, retries *prometheus.CounterVec
	wait, work    *prometheus.HistogramVec

	mu sync.Mutex // guards priorities
	// priorities are the priorities that keys of a controller have had. While no such key is ready, their series are 0
	// instead of missing.
	priorities map[string]map[int]bool
}

// maxPriorities is how many priorities of a controller have a series of their own. It is controller-runtime's limit.
const maxPriorities = 25

// otherPriorities is the label of all other priorities, as with controller-runtime.
const otherPriorities = "exceeded_cardinality_limit"

var (
	depthDesc      = queueDesc("depth", "Keys that are ready, by priority.", "priority")
	unfinishedDesc = queueDesc("unfinished_work_seconds", "How long the reconciles in progress have run, in seconds, in sum.")
	longestDesc    = queueDesc("longest_running_processor_seconds", "How long the longest reconcile in progress has run, in seconds.")
)

func queueDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("workqueue_"+name, help, append([]string{"name", "controller"}, labels...), nil)
}

// workBuckets are the buckets of controller-runtime.
var workBuckets = prometheus.ExponentialBuckets(10e-9, 10, 12)

func newQueues() *queues {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "workqueue_" + name, Help: help}, []string{"name", "controller"})
	}
	q := &queues{
		adds:       counter("adds_total", "Keys that became ready."),
		retries:    counter("retries_total", "Retries of keys."),
		wait:       histogram("workqueue_queue_duration_seconds", "How long ready keys waited for a worker, in seconds.", workBuckets, "name", "controller"),
		work:       histogram("workqueue_work_duration_seconds", "Duration of reconciles, in seconds.", workBuckets, "name", "controller"),
		priorities: make(map[string]map[int]bool),
	}
	q.group = group{q.adds, q.retries, q.wait, q.work}
	return q
}

// hooks returns the hooks of the queue of a controller. The series begin at 0, so that a rate over the first event is
// not empty.
func (q *queues) hooks(_ context.Context, r controller.RunInfo) workqueue.Hooks[any] {
	adds, retries := q.adds.WithLabelValues(r.Name, r.Name), q.retries.WithLabelValues(r.Name, r.Name)
	wait := q.wait.WithLabelValues(r.Name, r.Name)
	q.work.WithLabelValues(r.Name, r.Name)
	return workqueue.Hooks[any]{
		Add:   func(workqueue.HookInfo[any]) { adds.Inc() },
		Start: func(i workqueue.HookInfo[any]) { wait.Observe(i.Duration.Seconds()) },
		Retry: func(workqueue.HookInfo[any]) { retries.Inc() },
	}
}

// depths returns the number of ready keys of a controller by the label of their priority.
func (q *queues) depths(name string, ready map[int]int) map[string]int {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := q.priorities[name]
	if known == nil {
		known = map[int]bool{0: true}
		q.priorities[name] = known
	}
	depths := make(map[string]int)
	for p, n := range ready {
		switch {
		case known[p]:
		case len(known) < maxPriorities:
			known[p] = true
		default:
			depths[otherPriorities] += n
		}
	}
	if len(known) == maxPriorities {
		depths[otherPriorities] += 0
	}
	for p := range known {
		depths[strconv.Itoa(p)] = ready[p]
	}
	return depths
}

// Describe implements prometheus.Collector.
func (q *queues) Describe(to chan<- *prometheus.Desc) {
	q.group.Describe(to)
	for _, d := range []*prometheus.Desc{depthDesc, unfinishedDesc, longestDesc} {
		to <- d
	}
}

// collect sends the present values of the queues of the controllers of one name.
func (q *queues) collect(to chan<- prometheus.Metric, name string, ready map[int]int, unfinished, longest float64) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{name, name}, labels...)...)
	}
	for priority, n := range q.depths(name, ready) {
		gauge(depthDesc, float64(n), priority)
	}
	gauge(unfinishedDesc, unfinished)
	gauge(longestDesc, longest)
}

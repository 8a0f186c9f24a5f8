package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client/recorder"
)

// recorders has the metrics of recorders, by Options.Controller.
type recorders struct {
	group
	sent, dropped *prometheus.CounterVec
	wait          *prometheus.HistogramVec
	running       runs[recorder.RunInfo]
}

var waitingDesc = prometheus.NewDesc("bowline_recorder_waiting", "Records that wait to be sent.", []string{"controller"}, nil)

func newRecorders() *recorders {
	r := &recorders{
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bowline_recorder_sent_total", Help: "Requests by which the server has taken a record, by whether they created it.",
		}, []string{"controller", "result"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bowline_recorder_dropped_total", Help: "Records that have been dropped, by cause.",
		}, []string{"controller", "cause"}),
		wait: histogram("bowline_recorder_wait_seconds", "How long the server did not know of a record, in seconds.",
			[]float64{0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600}, "controller"),
	}
	r.group = group{r.sent, r.dropped, r.wait}
	return r
}

func (r *recorders) hooks() recorder.Hooks {
	return recorder.Hooks{
		Run: func(_ context.Context, i recorder.RunInfo) func() {
			r.begin(i.Controller)
			return r.running.add(i)
		},
		Sent: func(_ context.Context, i recorder.SentInfo) {
			result := "updated"
			if i.New {
				result = "created"
			}
			r.sent.WithLabelValues(i.Controller, result).Inc()
			r.wait.WithLabelValues(i.Controller).Observe(i.Waited.Seconds())
		},
		Dropped: func(_ context.Context, i *recorder.DropError) {
			r.dropped.WithLabelValues(i.Controller, string(i.Cause)).Add(float64(i.Count))
		},
	}
}

// begin makes the series of a recorder, so that a rate over the first record is not empty.
func (r *recorders) begin(name string) {
	r.sent.WithLabelValues(name, "created")
	r.sent.WithLabelValues(name, "updated")
	for _, cause := range []recorder.Cause{
		recorder.Invalid, recorder.QueueFull, recorder.Refused, recorder.Spam, recorder.Stopped, recorder.TooOld,
	} {
		r.dropped.WithLabelValues(name, string(cause))
	}
}

// Describe implements prometheus.Collector.
func (r *recorders) Describe(to chan<- *prometheus.Desc) {
	r.group.Describe(to)
	to <- waitingDesc
}

// Collect implements prometheus.Collector. Recorders of one controller share a series.
func (r *recorders) Collect(to chan<- prometheus.Metric) {
	r.group.Collect(to)
	waiting := make(map[string]int)
	r.running.each(func(i recorder.RunInfo) { waiting[i.Controller] += i.Status().Waiting })
	for name, n := range waiting {
		to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(n), name)
	}
}

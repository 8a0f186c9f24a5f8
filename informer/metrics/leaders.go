package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client/leader"
)

// leaders has the metrics of leader elections. Their name is that of the lease, as with controller-runtime.
type leaders struct {
	group
	master         *prometheus.GaugeVec
	slowpath, lost *prometheus.CounterVec
	renewal        *prometheus.HistogramVec
}

func newLeaders() *leaders {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"name"})
	}
	l := &leaders{
		master: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "leader_election_master_status", Help: "1 while this process leads, else 0.",
		}, []string{"name"}),
		slowpath: counter("leader_election_slowpath_total", "Renewals that had to read the lease."),
		lost:     counter("bowline_leader_lost_total", "How often this process has lost the lease."),
		renewal: histogram("bowline_leader_renewal_duration_seconds", "Duration of renewals, all attempts included, in seconds.",
			[]float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10}, "name"),
	}
	l.group = group{l.master, l.slowpath, l.lost, l.renewal}
	return l
}

func (l *leaders) hooks() leader.Hooks {
	return leader.Hooks{
		Leader: func(_ context.Context, i leader.LeaderInfo) {
			for _, v := range []*prometheus.CounterVec{l.slowpath, l.lost} {
				v.WithLabelValues(i.Lease.Name) // so that a rate over the first increment is not empty
			}
			leads := 0.0
			if i.Self {
				leads = 1
			}
			l.master.WithLabelValues(i.Lease.Name).Set(leads)
		},
		Renewed: func(_ context.Context, i leader.RenewalInfo) {
			l.renewal.WithLabelValues(i.Lease.Name).Observe(i.Duration.Seconds())
			if i.Reread {
				l.slowpath.WithLabelValues(i.Lease.Name).Inc()
			}
		},
		Lost: func(_ context.Context, err *leader.LostError) {
			l.lost.WithLabelValues(err.Lease.Name).Inc()
			l.master.WithLabelValues(err.Lease.Name).Set(0)
		},
		Released: func(_ context.Context, i leader.ReleaseInfo) { l.master.WithLabelValues(i.Lease.Name).Set(0) },
	}
}

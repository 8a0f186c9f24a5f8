package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client/shards"
)

// groups has the metrics of groups of replicas. Their name is that of the group.
type groups struct {
	group
	gained, gaveUp, lost *prometheus.CounterVec
	running              runs[shards.RunInfo]
}

func describeShards(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("bowline_shards_"+name, help, []string{"name"}, nil)
}

var (
	rangesDesc  = describeShards("ranges", "Ranges that this replica works on, of 256.")
	dueDesc     = describeShards("due_ranges", "Ranges that the weights of the live replicas give to this one, if all are divided evenly.")
	waitsDesc   = describeShards("waiting_ranges", "Ranges that this replica is ready for, and that others have not given up.")
	unreadyDesc = describeShards("unready_ranges", "Ranges that some informers and controllers of this replica are not ready for.")
	unownedDesc = describeShards("unowned_ranges", "Ranges that, as far as this replica knows, no replica works on or waits for.")
	membersDesc = describeShards("members", "Replicas of the group whose leases have not run out, this one included.")
	silentDesc  = describeShards("silent_members", "Replicas of the group whose leases have run out, or were deleted or edited by somebody.")
	weightDesc  = describeShards("weight", "The weight of this replica.")
)

func newGroups() *groups {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"name"})
	}
	g := &groups{
		gained: counter("bowline_shards_gained_ranges_total", "Ranges that this replica has got."),
		gaveUp: counter("bowline_shards_lost_ranges_total", "Ranges that this replica has given up or lost."),
		lost:   counter("bowline_shards_lost_total", "How often this replica has lost all its ranges at once, with its lease."),
	}
	g.group = group{g.gained, g.gaveUp, g.lost}
	return g
}

func (g *groups) hooks() shards.Hooks {
	return shards.Hooks{
		Run: func(_ context.Context, r shards.RunInfo) func() {
			for _, v := range []*prometheus.CounterVec{g.gained, g.gaveUp, g.lost} {
				v.WithLabelValues(r.Group.Name) // so that a rate over the first increment is not empty
			}
			return g.running.add(r)
		},
		Changed: func(_ context.Context, i shards.ChangedInfo) {
			g.gained.WithLabelValues(i.Group.Name).Add(float64(i.Gained.Len()))
			g.gaveUp.WithLabelValues(i.Group.Name).Add(float64(i.Lost.Len()))
			if i.Err != nil {
				g.lost.WithLabelValues(i.Group.Name).Inc()
			}
		},
	}
}

// Describe implements prometheus.Collector.
func (g *groups) Describe(to chan<- *prometheus.Desc) {
	g.group.Describe(to)
	for _, d := range []*prometheus.Desc{rangesDesc, dueDesc, waitsDesc, unreadyDesc, unownedDesc, membersDesc, silentDesc, weightDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Groups of one name in different namespaces share a series.
func (g *groups) Collect(to chan<- prometheus.Metric) {
	g.group.Collect(to)
	all := make(map[string]map[*prometheus.Desc]float64)
	g.running.each(func(r shards.RunInfo) {
		sum := all[r.Group.Name]
		if sum == nil {
			sum = make(map[*prometheus.Desc]float64)
			all[r.Group.Name] = sum
		}
		s := r.Status()
		sum[rangesDesc] += float64(s.Ranges.Len())
		sum[waitsDesc] += float64(s.Waits.Len())
		sum[unreadyDesc] += float64(s.Prepares.Len())
		sum[unownedDesc] += float64(s.Unowned.Len())
		addMembers(sum, s.Members)
	})
	for name, sum := range all {
		for d, v := range sum {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
	}
}

// addMembers adds what the leases of the members say: how many replicas are live and silent, and the weight and the due
// ranges of this replica.
func addMembers(sum map[*prometheus.Desc]float64, members []shards.Member) {
	live, silent := 0, 0
	var self shards.Member // zero without a lease
	for _, m := range members {
		if m.Self {
			self = m
		}
		if m.Lost {
			silent++
		} else {
			live++
		}
	}
	sum[membersDesc] += float64(live)
	sum[silentDesc] += float64(silent)
	sum[weightDesc] += float64(self.Weight)
	sum[dueDesc] += self.Due
}

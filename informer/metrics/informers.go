package metrics

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/informer"
)

// informers has the metrics of informers. Most values are read from their Status at each collection.
type informers struct {
	group
	lists    *prometheus.CounterVec
	duration *prometheus.HistogramVec

	mu      sync.Mutex // guards the fields below
	next    int
	running map[int]informer.RunInfo
	// ended has the counts of ended runs, because a counter must not decrease.
	ended map[series]*counts
}

// series are the labels that informers with common metrics share. name is Status.Name.
type series struct{ resource, name string }

func seriesOf(r informer.RunInfo, s informer.Status) series {
	return series{r.Resource.String(), s.Name}
}

// counts are the counters of one series.
type counts struct {
	events  int
	relists map[informer.Cause]int
}

func (c *counts) add(s informer.Status, sign int) {
	c.events += sign * s.Events
	for cause, n := range s.Relists {
		c.relists[cause] += sign * n
	}
}

var (
	objectsDesc     = describe("objects", "Objects in the caches.", "resource", "informer")
	syncedDesc      = describe("synced", "1 if each cache holds a complete list, else 0.", "resource", "informer")
	staleDesc       = describe("stale", "Caches that have not been renewed for informer.Options.StaleAfter.", "resource", "informer")
	pollingDesc     = describe("polling", "Caches that are listed again and again, because the server serves no watch.", "resource", "informer")
	eventsDesc      = describe("events_total", "Events that have been applied to the caches.", "resource", "informer")
	relistsDesc     = describe("relists_total", "Complete lists after the first one, by cause.", "resource", "informer", "cause")
	eventAgeDesc    = describe("event_age_seconds", "Time since something last came from the server.", "resource", "informer")
	rangesInDesc    = describe("ranges", "Ranges of 256 that the caches hold completely, of informers with Options.Shards.", "resource", "informer", "selected")
	undecodableDesc = describe("undecodable_objects", "Objects that do not decode at present.", "resource", "informer")
	backlogDesc     = describe("backlog", "Changes that handlers have not handled.", "resource", "informer")
	backlogAgeDesc  = describe("backlog_age_seconds", "Age of the oldest change that a handler has not handled.", "resource", "informer")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bowline_informer_"+name, help, labels, nil)
}

func newInformers() *informers {
	i := &informers{
		lists: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bowline_informer_lists_total",
			Help: "Lists, by resource, informer, cause and result.",
		}, []string{"resource", "informer", "cause", "result"}),
		duration: histogram("bowline_informer_list_duration_seconds", "Duration of complete lists, in seconds.",
			[]float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}, "resource", "informer"),
		running: make(map[int]informer.RunInfo),
		ended:   make(map[series]*counts),
	}
	i.group = group{i.lists, i.duration}
	return i
}

func (i *informers) hooks() informer.Hooks {
	return informer.Hooks{
		Run: func(_ context.Context, r informer.RunInfo) func() {
			before := r.Status() // the counts of earlier runs
			i.mu.Lock()
			defer i.mu.Unlock()
			id := i.next
			i.next++
			i.running[id] = r
			i.past(r, before).add(before, -1)
			return func() {
				after := r.Status()
				i.mu.Lock()
				defer i.mu.Unlock()
				delete(i.running, id)
				i.past(r, after).add(after, 1)
			}
		},
		List: func(_ context.Context, l informer.ListInfo) {
			result := "success"
			if l.Err != nil {
				result = "error"
			}
			i.lists.WithLabelValues(l.Resource.String(), l.Informer, string(l.Cause), result).Inc()
			if l.Err == nil {
				i.duration.WithLabelValues(l.Resource.String(), l.Informer).Observe(l.Duration.Seconds())
			}
		},
	}
}

// past returns the counts of ended runs for the informer's series. The caller holds mu.
func (i *informers) past(r informer.RunInfo, s informer.Status) *counts {
	name := seriesOf(r, s)
	if i.ended[name] == nil {
		i.ended[name] = &counts{relists: make(map[informer.Cause]int)}
	}
	return i.ended[name]
}

// Describe implements prometheus.Collector.
func (i *informers) Describe(to chan<- *prometheus.Desc) {
	i.group.Describe(to)
	for _, d := range []*prometheus.Desc{
		objectsDesc, syncedDesc, staleDesc, pollingDesc, eventsDesc, relistsDesc, eventAgeDesc, rangesInDesc, undecodableDesc, backlogDesc, backlogAgeDesc,
	} {
		to <- d
	}
}

// gauges are the present values of one series.
type gauges struct {
	objects, undecodable, backlog int
	unsynced, events              bool
	stale, polling                int
	eventAge, backlogAge          time.Duration
	ranges                        map[informer.Sharding]int // by where they are selected
}

// Collect implements prometheus.Collector.
func (i *informers) Collect(to chan<- prometheus.Metric) {
	i.group.Collect(to)
	i.mu.Lock()
	defer i.mu.Unlock()
	now := make(map[series]*gauges)
	totals := make(map[series]*counts)
	for name, past := range i.ended {
		totals[name] = &counts{relists: make(map[informer.Cause]int)}
		totals[name].add(informer.Status{Events: past.events, Relists: past.relists}, 1)
	}
	for _, r := range i.running {
		s := r.Status()
		name := seriesOf(r, s)
		if now[name] == nil {
			now[name] = new(gauges)
		}
		now[name].add(s)
		changes, age := r.Backlog()
		now[name].backlog += changes
		now[name].backlogAge = max(now[name].backlogAge, age)
		totals[name].add(s, 1)
	}
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, of series, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, v, append([]string{of.resource, of.name}, labels...)...)
	}
	for name, g := range now {
		synced := 1.0
		if g.unsynced {
			synced = 0
		}
		send(objectsDesc, prometheus.GaugeValue, float64(g.objects), name)
		send(syncedDesc, prometheus.GaugeValue, synced, name)
		send(staleDesc, prometheus.GaugeValue, float64(g.stale), name)
		send(pollingDesc, prometheus.GaugeValue, float64(g.polling), name)
		send(undecodableDesc, prometheus.GaugeValue, float64(g.undecodable), name)
		send(backlogDesc, prometheus.GaugeValue, float64(g.backlog), name)
		send(backlogAgeDesc, prometheus.GaugeValue, g.backlogAge.Seconds(), name)
		for where, n := range g.ranges {
			send(rangesInDesc, prometheus.GaugeValue, float64(n), name, strings.ToLower(string(where)))
		}
		if g.events {
			send(eventAgeDesc, prometheus.GaugeValue, g.eventAge.Seconds(), name)
		}
	}
	for name, c := range totals {
		send(eventsDesc, prometheus.CounterValue, float64(c.events), name)
		for cause, n := range c.relists {
			send(relistsDesc, prometheus.CounterValue, float64(n), name, string(cause))
		}
	}
}

func (g *gauges) add(s informer.Status) {
	g.objects += s.Objects
	g.undecodable += len(s.Undecodable)
	g.unsynced = g.unsynced || !s.Synced
	if s.Stale {
		g.stale++
	}
	if s.Polling != nil {
		g.polling++
	}
	if s.Sharded != "" {
		if g.ranges == nil {
			g.ranges = make(map[informer.Sharding]int)
		}
		g.ranges[s.Sharded] += s.Ranges.Len()
	}
	if !s.LastEvent.IsZero() {
		g.events, g.eventAge = true, max(g.eventAge, time.Since(s.LastEvent))
	}
}

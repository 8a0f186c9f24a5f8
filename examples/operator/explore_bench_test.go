package main

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/explore"
)

// How many runs through the life of the operator a minute has, with one or two disturbances each: crashes before and after
// each request, lost answers and so on. "leader" has one page and a replica that waits, "shared" has three pages and two
// replicas that work.
func BenchmarkExplore(b *testing.B) {
	for name, plan := range map[string]explore.Plan{"leader": leaderPlan(), "shared": sharingPlan()} {
		b.Run(name, func(b *testing.B) {
			var runs atomic.Int64
			history := plan.History
			plan.History = func(h *explore.History) { runs.Add(1); history(h) }
			plan.Budget = 10 * time.Second
			var took time.Duration
			for b.Loop() {
				begin := time.Now()
				everything := func(string, string) (bool, error) { return true, nil }
				// The explorer needs a test, for its bubbles.
				if !testing.RunTests(everything, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) { explore.Run(t, plan) }}}) {
					b.Fatal("the operator breaks")
				}
				took += time.Since(begin)
			}
			b.ReportMetric(float64(runs.Load())/took.Minutes(), "runs/min")
		})
	}
}

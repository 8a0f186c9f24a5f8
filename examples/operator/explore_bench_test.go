package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
)

// How many runs through the life of the operator a minute has, with one or two disturbances each: crashes before and
// after each request, lost answers and so on. "leader" has one page and a replica that waits, "shared" has three pages and
// two replicas that work.
func BenchmarkExplore(b *testing.B) {
	b.Run("leader", func(b *testing.B) { explores(b, leaderPlan()) })
	b.Run("shared", func(b *testing.B) { explores(b, sharingPlan()) })
}

func explores(b *testing.B, plan explore.Plan) {
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
}

// leaderPlan is for two replicas of which one leads.
func leaderPlan() explore.Plan {
	plan := sharingPlan()
	plan.Program = func(ctx context.Context, cfg client.Config) error {
		return run(ctx, cfg, "default", false, nil, nil, func(*Page) error { return nil })
	}
	plan.History = func(h *explore.History) {
		page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
		page.Spec.Text = "a"
		explore.Create(h, Pages, page)
		h.Rest()
		explore.Delete(h, ConfigMaps, page.Key())
		h.Rest()
		explore.Delete(h, Pages, page.Key())
	}
	return plan
}

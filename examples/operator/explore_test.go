package main

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheOperatorSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server:   clienttest.Options{CRDs: []string{"pages.yaml"}},
		Replicas: 2,
		Program: func(ctx context.Context, cfg client.Config) error {
			return run(ctx, cfg, "default", false, nil, func(*Page) error { return nil })
		},
		History: func(h *explore.History) {
			page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
			page.Spec.Text = "a"
			explore.Create(h, Pages, page)
			h.Rest()
			explore.Modify(h, Pages, page.Key(), func(p *Page) error { p.Spec.Text = "b"; return nil })
			explore.Delete(h, ConfigMaps, page.Key())
			h.Rest()
			explore.Delete(h, Pages, page.Key())
		},
		Budget: 3 * time.Second,
	})
}

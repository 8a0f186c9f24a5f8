package main

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestTheOperatorSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server:   clienttest.Options{CRDs: []string{"pages.yaml"}},
		Replicas: 2,
		Program: func(ctx context.Context, cfg client.Config) error {
			return run(ctx, cfg, "default", false, nil, nil, func(*Page) error { return nil })
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

// Both replicas work, each for some namespaces. The cleanup of a page leaves a trace, so that a page without a cleanup is a
// difference.
func TestOperatorsThatShareTheWorkSurviveDisturbances(t *testing.T) {
	plan := sharingPlan()
	plan.Budget = 3 * time.Second
	explore.Run(t, plan)
}

func sharingPlan() explore.Plan {
	return explore.Plan{
		Server:   clienttest.Options{CRDs: []string{"pages.yaml"}},
		Replicas: 2,
		Program:  runAndTrace,
		History: func(h *explore.History) {
			var pages []*Page
			for _, namespace := range []string{"default", "kube-public", "kube-system"} { // which the server has
				page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: "home"}}
				page.Spec.Text = "a"
				explore.Create(h, Pages, page)
				pages = append(pages, page)
			}
			h.Rest()
			explore.Modify(h, Pages, pages[0].Key(), func(p *Page) error { p.Spec.Text = "b"; return nil })
			explore.Delete(h, ConfigMaps, pages[1].Key())
			h.Rest()
			explore.Delete(h, Pages, pages[0].Key())
			explore.Delete(h, Pages, pages[2].Key())
		},
	}
}

// runAndTrace runs an operator whose cleanup of a page makes the ConfigMap "removed".
func runAndTrace(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	return run(ctx, cfg, "default", true, nil, nil, func(p *Page) error {
		trace := &ConfigMap{ObjectMeta: meta.Key{Namespace: p.Namespace, Name: "removed"}.ObjectMeta()}
		_, err := client.For(c, ConfigMaps).Create(ctx, trace)
		return apierrors.Ignore(err, apierrors.AlreadyExists)
	})
}

package sample_test

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

func TestTheControllerSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server: clienttest.Options{CRDs: []string{"foos.json"}},
		Program: func(ctx context.Context, cfg client.Config) error {
			c, err := client.New(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			return informer.Run(ctx, sample.New(c, "", controller.Options{}))
		},
		History: func(h *explore.History) {
			foo := newFoo("a", 1)
			explore.Create(h, sample.Foos, foo)
			h.Rest()
			explore.Modify(h, sample.Foos, key, func(f *sample.Foo) error { f.Spec.Replicas = 2; return nil })
			explore.Modify(h, sample.Deployments, appKey, func(d *sample.Deployment) error { d.Spec.Replicas = 7; return nil })
			h.Rest()
			explore.Delete(h, sample.Deployments, appKey)
		},
		Budget: 2 * time.Second,
	})
}

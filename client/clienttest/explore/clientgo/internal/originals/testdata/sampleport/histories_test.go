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

func exploreFoos(t *testing.T, history func(h *explore.History)) {
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
		History: history, Budget: time.Minute,
	})
}

func TestScaling(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		explore.Create(h, sample.Foos, newFoo("a", 1))
		h.Rest()
		explore.Modify(h, sample.Foos, key, func(f *sample.Foo) error { f.Spec.Replicas = 2; return nil })
		h.Rest()
		explore.Delete(h, sample.Deployments, appKey)
		h.Rest()
	})
}

func TestAFooIsDeletedAndMadeAgain(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		explore.Create(h, sample.Foos, newFoo("a", 1))
		h.Rest()
		explore.Delete(h, sample.Foos, key)
		explore.Create(h, sample.Foos, newFoo("a", 1))
		h.Rest()
	})
}

func TestAnotherDeployment(t *testing.T) {
	exploreFoos(t, func(h *explore.History) {
		explore.Create(h, sample.Foos, newFoo("a", 1))
		h.Rest()
		explore.Modify(h, sample.Foos, key, func(f *sample.Foo) error { f.Spec.DeploymentName = "b-app"; return nil })
		h.Rest()
	})
}

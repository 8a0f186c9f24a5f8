package clientgo_test

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/client/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

var (
	ConfigMaps = configMaps()
	object     = &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"text": "one"}}
)

func run(ctx context.Context, cfg *rest.Config, options manager.Options) error {
	return copier{}.serve(ctx, cfg, options)
}

// MIGRATING.md shows it.
func TestTheOperatorSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Program: clientgo.Program(func(ctx context.Context, cfg *rest.Config) error {
			options, err := clientgo.ManagerOptions(ctx, manager.Options{})
			if err != nil {
				return err
			}
			return run(ctx, cfg, options) // as in main
		}),
		History: func(h *explore.History) {
			explore.Create(h, ConfigMaps, object)
			h.Rest()
			explore.Delete(h, ConfigMaps, object.Key())
		},
		Budget: 2 * time.Second,
	})
}

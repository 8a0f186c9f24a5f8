package cronjob_test

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
)

// A job is due once, a minute after the beginning of virtual time. It is deleted by a person, and does not come again.
func TestTheControllerSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server: clienttest.Options{CRDs: []string{"cronjobs.json"}},
		Program: func(ctx context.Context, cfg client.Config) error {
			c, err := client.New(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			return informer.Run(ctx, cronjob.New(c, "", controller.Options{}))
		},
		History: func(h *explore.History) {
			cron := newCronJob("tick", "1 0 1 1 *")
			explore.Create(h, cronjob.CronJobs, cron)
			h.Rest()
			explore.Modify(h, cronjob.CronJobs, meta.KeyOf(cron), func(c *cronjob.CronJob) error {
				c.Spec.ConcurrencyPolicy = cronjob.Forbid
				return nil
			})
			h.Rest()
			h.Rest()
			explore.Delete(h, cronjob.Jobs, meta.Key{Namespace: "default", Name: "tick-946684860"})
		},
		Budget: 2 * time.Second,
	})
}

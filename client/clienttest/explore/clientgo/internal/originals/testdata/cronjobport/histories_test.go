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

// until lets time pass until some minutes after the beginning of the run. The jobs are many minutes apart, because a
// rest lasts for some minutes longer when something goes wrong.
func until(h *explore.History, minutes int) {
	h.Wait(time.Until(time.Date(2000, 1, 1, 0, minutes, 0, 0, time.UTC)))
	h.Rest()
}

func exploreCronJobs(t *testing.T, history func(h *explore.History)) {
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
		History: history, Budget: time.Minute,
	})
}

func TestOneJob(t *testing.T) {
	exploreCronJobs(t, func(h *explore.History) {
		explore.Create(h, cronjob.CronJobs, newCronJob("a", "40 0 1 1 *"))
		until(h, 50)
	})
}

func TestTwoJobs(t *testing.T) {
	exploreCronJobs(t, func(h *explore.History) {
		cron := newCronJob("a", "40 0,2 1 1 *")
		suspend := func(yes bool) {
			explore.Modify(h, cronjob.CronJobs, meta.KeyOf(cron), func(c *cronjob.CronJob) error { c.Spec.Suspend = &yes; return nil })
		}
		explore.Create(h, cronjob.CronJobs, cron)
		until(h, 50)
		suspend(true)
		until(h, 110)
		suspend(false)
		until(h, 170)
	})
}

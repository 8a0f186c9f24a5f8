package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/util/workqueue"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// queueing returns a job with the queue that the setting names: "plain", which only holds keys, or "rate limiting",
// which is what a controller needs for delays and retries.
func queueing(job func(sample.Queues) sample.Job) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		s, found := map[string]sample.Queues{"plain": plain, "rate limiting": rateLimiting}[p.Setting]
		if !found {
			return sample.Report{}, fmt.Errorf("no setting is called %q", p.Setting)
		}
		return job(s)(ctx, p)
	}
}

var plain = sample.Queues{
	Settings: "workqueue.NewTyped, which has neither delays nor retries; Get and Done",
	New: func() sample.Queue {
		q := workqueue.NewTyped[sample.QueueKey]()
		return sample.Queue{Add: q.Add, Len: q.Len, Stop: q.ShutDown, Work: func(fn func(k sample.QueueKey)) {
			for {
				k, shutdown := q.Get()
				if shutdown {
					return
				}
				fn(k)
				q.Done(k)
			}
		}}
	},
}

var rateLimiting = sample.Queues{
	Settings: "workqueue.NewTypedRateLimitingQueue with the default limiter; Get, Forget and Done",
	New: func() sample.Queue {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[sample.QueueKey]())
		return sample.Queue{Add: q.Add, Len: q.Len, Stop: q.ShutDown, Work: func(fn func(k sample.QueueKey)) {
			for {
				k, shutdown := q.Get()
				if shutdown {
					return
				}
				fn(k)
				q.Forget(k)
				q.Done(k)
			}
		}}
	},
}

package main

import (
	"context"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/workqueue"
)

var (
	queues  = queuesWith("workqueue.New with the zero Options; Work", workqueue.Options[sample.QueueKey]{})
	grouped = queuesWith("workqueue.New with namespaces as groups; Work", workqueue.Options[sample.QueueKey]{
		Group: func(k sample.QueueKey) string { return k.Namespace },
	})
)

func queuesWith(settings string, o workqueue.Options[sample.QueueKey]) sample.Queues {
	return sample.Queues{
		Settings: settings,
		New: func() sample.Queue {
			q := workqueue.New(o)
			ctx, cancel := context.WithCancel(context.Background())
			return sample.Queue{
				Add: q.Add,
				Len: q.Len,
				AddPriority: func(k sample.QueueKey, priority int) {
					q.AddWith(k, workqueue.AddOptions{Priority: priority})
				},
				Work: func(fn func(k sample.QueueKey)) {
					_ = q.Work(ctx, func(_ context.Context, k sample.QueueKey) error { // until Stop
						fn(k)
						return nil
					})
				},
				Stop: cancel,
			}
		},
	}
}

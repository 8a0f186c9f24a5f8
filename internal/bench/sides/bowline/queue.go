package main

import (
	"context"

	"github.com/bowline-go/bowline/internal/bench/sample"
	"github.com/bowline-go/bowline/workqueue"
)

var queues = sample.Queues{
	Settings: "workqueue.New with the zero Options; Work",
	New: func() sample.Queue {
		q := workqueue.New(workqueue.Options[sample.QueueKey]{})
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

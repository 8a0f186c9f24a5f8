// Command controllerruntime is the side of controller-runtime: its manager, and the queue of its controllers.
package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/bowline-go/bowline/internal/proof/bench/managed"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

func main() {
	sample.Main(managed.With(map[string]sample.Job{
		"controller":       controlled,
		"controller-typed": controlled,
		"own-write":        sample.OwnWrites(writer),
		"priorities":       sample.Priorities(queues),
	}, managed.Jobs(managed.Side{
		Settings: "a manager with controller-runtime's cache, its defaults", NewCache: cache.New,
		FewerSettings: "a manager with controller-runtime's cache, with a transform that keeps the metadata, node name and phase", Fewer: fewer,
	})))
}

// fewer is cache.New with a transform that keeps the fields that the projection of the other side keeps.
func fewer(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	o.DefaultTransform = func(obj any) (any, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return obj, nil
		}
		pod.ManagedFields = nil
		return &corev1.Pod{
			ObjectMeta: pod.ObjectMeta, Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName}, Status: corev1.PodStatus{Phase: pod.Status.Phase},
		}, nil
	}
	return cache.New(cfg, o)
}

var queues = sample.Queues{
	Settings: "controller-runtime's priorityqueue.New without a name, so without metrics; AddWithOpts, GetWithPriority, Forget and Done",
	New: func() sample.Queue {
		q := priorityqueue.New[sample.QueueKey]("")
		return sample.Queue{
			Add: q.Add,
			Len: q.Len,
			AddPriority: func(k sample.QueueKey, priority int) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, k)
			},
			Stop: q.ShutDown,
			Work: func(fn func(k sample.QueueKey)) {
				for {
					k, _, shutdown := q.GetWithPriority()
					if shutdown {
						return
					}
					fn(k)
					q.Forget(k)
					q.Done(k)
				}
			},
		}
	},
}

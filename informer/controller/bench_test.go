package controller_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// One change of an object on its way from the cache through the queue to its reconcile, which does nothing; 10,000 objects
// are changed in turn, as fast as they are reconciled.
func BenchmarkChangeToReconcile(b *testing.B) {
	const objects = 10_000
	s := cache.NewStore[*pod]()
	pods := make([]*pod, objects)
	r := s.Relist()
	for i := range pods {
		pods[i] = newPod("ns", strconv.Itoa(i), "1")
		r.Set(identity(pods[i]), pods[i])
	}
	r.Commit("1")

	ctx, cancel := context.WithCancel(b.Context())
	reconciled := make(chan struct{}, objects)
	c := controller.New("c", controller.Options{Workers: 2}, func(context.Context, meta.Key) (controller.Result, error) {
		reconciled <- struct{}{}
		return controller.Result{}, nil
	}, controller.Watch(s.Reader()))
	ended := make(chan error, 2)
	go func() { ended <- s.Deliver(ctx, nil) }()
	go func() { ended <- c.Run(ctx) }()
	for range objects {
		<-reconciled
	}

	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if i++; i > objects/2 { // half of the objects are on their way
			<-reconciled
		}
		p := pods[i%objects]
		id := identity(p)
		id.ResourceVersion = strconv.Itoa(i + 1)
		s.Set(id, p)
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

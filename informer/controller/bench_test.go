package controller_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
	"github.com/bowline-go/bowline/patch"
)

// One change of an object on its way from the cache through the queue to its reconcile, which does nothing; 10,000 objects
// are changed in turn, as fast as they are reconciled.
func BenchmarkChangeToReconcile(b *testing.B) {
	const objects = 10_000
	s := storetest.New[*pod]()
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

// A reconcile with one write, with and without the look for fights. Each write changes its object.
func BenchmarkFights(b *testing.B) {
	for _, allow := range []bool{false, true} {
		b.Run(map[bool]string{false: "looked for", true: "allowed"}[allow], func(b *testing.B) {
			const objects = 1000
			connection, err := client.New(clienttest.Start(b, clienttest.Options{}).Config())
			if err != nil {
				b.Fatal(err)
			}
			defer connection.Close()
			maps := client.For(connection, settingsType)
			keys := make(chan meta.Key, 1)
			done := make(chan error, 1)
			n := 0
			c := controller.New("c", controller.Options{AllowFights: allow}, func(ctx context.Context, key meta.Key) (controller.Result, error) {
				n++
				_, err := maps.Patch(ctx, key, patch.Merge(map[string]any{"data": map[string]any{"n": strconv.Itoa(n)}}))
				done <- err
				return controller.Result{}, nil
			}, controller.Chan(keys))
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- c.Run(ctx) }()
			for i := range objects {
				if _, err := maps.Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: strconv.Itoa(i)}}); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				keys <- meta.Key{Namespace: "default", Name: strconv.Itoa(i % objects)}
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			cancel()
			if err := <-ended; err != nil {
				b.Error(err)
			}
		})
	}
}

package controller_test

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// The watches of this server are 50 ms behind. Each reconcile counts up in an object, and reads the cache alone: with Reads
// instead of Fresh it would count from the same number several times.
func ExampleFresh() {
	server := clienttest.New(clienttest.Options{Replicas: 1})
	server.Replica(0).SetLag(0, 50*time.Millisecond)
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	maps := client.For(c, settingsType)
	inf := informer.New(maps, informer.Options{})

	ctx, cancel := context.WithCancel(context.Background())
	reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
		obj, ok := inf.Reader().Get(key)
		switch {
		case !ok:
			fmt.Println("create it")
			_, err := maps.Create(ctx, &settings{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
			return controller.Result{}, err
		case len(obj.Data["n"]) == 3:
			cancel()
			return controller.Result{}, nil
		}
		fmt.Printf("found %q\n", obj.Data["n"])
		obj = meta.Clone(obj)
		obj.Data = map[string]string{"n": obj.Data["n"] + "I"}
		_, err := maps.Update(ctx, obj)
		return controller.Result{}, err
	}
	key := meta.Key{Namespace: "default", Name: "counter"}
	ctl := controller.New("count", controller.Options{}, reconcile,
		controller.Fresh[meta.Key](inf), controller.Every(time.Millisecond, key))
	if err := informer.Run(ctx, informer.RunnerFunc(server.Run), ctl); err != nil {
		fmt.Println(err)
	}
	// Output:
	// create it
	// found ""
	// found "I"
	// found "II"
}

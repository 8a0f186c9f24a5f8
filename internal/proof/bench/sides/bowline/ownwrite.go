package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var configMaps = client.Type[*corev1.ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// writer writes in one reconcile and asks for another one, which reads. That one does not start before the cache has
// seen the write, and its key waits aside until then.
var writer = sample.Writer{
	Settings: "controller.Fresh; the reconcile that reads is requested at once by the one that writes",
	Run: func(ctx context.Context, server string, workers int, text string, began func(), read func(name, state string)) error {
		c, err := client.New(client.Config{Server: server})
		if err != nil {
			return err
		}
		maps := client.For(c, configMaps).In("default")
		inf := informer.New(maps, informer.Options{})
		var written sync.Map // the keys that this controller has written
		reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
			cached, found := inf.Reader().Get(key)
			if !found {
				return controller.Result{}, nil
			}
			if _, again := written.LoadOrStore(key, true); again {
				read(key.Name, cached.Data["state"])
				return controller.Result{}, nil
			}
			began()
			changed := cached.DeepCopy()
			changed.Data["state"] = text
			if _, err := maps.Update(ctx, changed); err != nil {
				return controller.Result{}, err
			}
			return controller.Result{RequeueAfter: 1}, nil
		}
		return informer.Run(ctx, controller.New("writer", controller.Options{Workers: workers}, reconcile,
			controller.Watch(inf), controller.Fresh[meta.Key](inf)))
	},
}

package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// writer writes and reads in one reconcile: the read blocks until the cache has seen the write.
var writer = sample.Writer{
	Settings: "controller-runtime's EnableReadYourWritesConsistency; one reconcile writes and reads",
	Run: func(ctx context.Context, server string, workers int, text string, began func(), read func(name, state string)) error {
		yes := true
		manager, err := newManager(server, ctrl.Options{
			Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}},
			Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &yes}},
			Controller: config.Controller{SkipNameValidation: &yes}, // a sample makes one controller after another
		})
		if err != nil {
			return err
		}
		c := manager.GetClient()
		err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
			Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				var m corev1.ConfigMap
				if err := c.Get(ctx, req.NamespacedName, &m); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				if m.Data["state"] == text {
					return ctrl.Result{}, nil
				}
				began()
				m.Data["state"] = text
				if err := c.Update(ctx, &m); err != nil {
					return ctrl.Result{}, err
				}
				var again corev1.ConfigMap
				if err := c.Get(ctx, req.NamespacedName, &again); err != nil {
					return ctrl.Result{}, err
				}
				read(req.Name, again.Data["state"])
				return ctrl.Result{}, nil
			}))
		if err != nil {
			return err
		}
		return manager.Start(ctx)
	},
}

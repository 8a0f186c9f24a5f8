// Package controllerruntime is the operator of package copies/bowline with controller-runtime.
package controllerruntime

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Run keeps the copies until ctx ends. One replica of the program works at a time.
func Run(ctx context.Context, cfg *rest.Config, namespace string) error {
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection: true, LeaderElectionID: "copies", LeaderElectionNamespace: namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       server.Options{BindAddress: "0"},
		Controller:                    config.Controller{SkipNameValidation: new(true)}, // a test runs it more than once
	})
	if err != nil {
		return err
	}
	c := mgr.GetClient()

	copyOne := func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		original := &corev1.ConfigMap{}
		if err := c.Get(ctx, req.NamespacedName, original); err != nil {
			return ctrl.Result{}, crclient.IgnoreNotFound(err)
		}
		if !original.DeletionTimestamp.IsZero() {
			return ctrl.Result{}, nil // the garbage collector deletes the copy
		}
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name + "-copy"}}
		_, err := controllerutil.CreateOrUpdate(ctx, c, made, func() error {
			if made.Labels == nil {
				made.Labels = make(map[string]string)
			}
			made.Labels["copy-of"] = req.Name
			made.Data = maps.Clone(original.Data)
			return controllerutil.SetControllerReference(original, made, mgr.GetScheme())
		})
		return ctrl.Result{}, err
	}

	labelled := predicate.NewPredicateFuncs(func(obj crclient.Object) bool { return obj.GetLabels()["copy"] == "yes" })
	err = ctrl.NewControllerManagedBy(mgr).Named("copies").
		For(&corev1.ConfigMap{}, builder.WithPredicates(labelled)).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(reconcile.Func(copyOne))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

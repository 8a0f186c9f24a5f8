package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// listing has the name of each way to read a list in the report; the environment decides, as on client-go's side.
var listing = map[string]string{
	"pages":  "pages of 500 (WatchListClient off)",
	"stream": "a streaming list (WatchListClient on)",
}

// controlled is the job of a manager with one controller of the pods, as controller-runtime's builder makes it. Its
// cache drops managedFields, which Bowline's does too.
func controlled(ctx context.Context, p sample.Params) (sample.Report, error) {
	told, known := listing[p.Setting]
	if !known {
		return sample.Report{}, fmt.Errorf("no setting is called %q", p.Setting)
	}
	return sample.Controlled(sample.Controller{
		Settings: "controller-runtime's manager and builder, For(&corev1.Pod{}), cache.TransformStripManagedFields, JSON, no metrics server, " + told,
		Run: func(ctx context.Context, url string, reconciled func(name string)) error {
			manager, err := newManager(url, ctrl.Options{Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()}})
			if err != nil {
				return err
			}
			err = ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).
				Complete(reconcile.Func(func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
					reconciled(req.Name)
					return ctrl.Result{}, nil
				}))
			if err != nil {
				return err
			}
			return manager.Start(ctx)
		},
	})(ctx, p)
}

// newManager returns a manager with JSON, without a limit on requests, without a metrics server, and silent.
func newManager(url string, o ctrl.Options) (ctrl.Manager, error) {
	ctrl.SetLogger(logr.Discard())
	o.Metrics = server.Options{BindAddress: "0"}
	return ctrl.NewManager(&rest.Config{
		Host: url, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}, o)
}

// Command controllerruntime is the side of controller-runtime in the comparison of package weight: a manager with one
// controller of the cluster's pods, whose reconcile reads the pod from the cache and counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	// controller-runtime has registered the flag -kubeconfig.
	workers := flag.Int("workers", 4, "how many pods are reconciled at a time")
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type reconciler struct {
	pods    client.Client
	running atomic.Int64
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var pod corev1.Pod
	if err := r.pods.Get(ctx, req.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if pod.Status.Phase == corev1.PodRunning {
		r.running.Add(1)
	}
	return ctrl.Result{}, nil
}

func run(ctx context.Context, workers int) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	r := &reconciler{pods: manager.GetClient()}
	err = ctrl.NewControllerManagedBy(manager).
		For(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
	if err != nil {
		return err
	}
	err = manager.Start(ctx)
	fmt.Println("saw running pods:", r.running.Load())
	return err
}

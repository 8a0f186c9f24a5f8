// Command clientgo is the side of client-go in the comparison of package weight: the cluster's pods in a shared
// informer, a work queue with workers, and a reconcile that reads the pod from the cache and counts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

func main() {
	path := flag.String("kubeconfig", "", "the kubeconfig `file`")
	workers := flag.Int("workers", 4, "how many pods are reconciled at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *path, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, workers int) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clientset, 0)
	pods := factory.Core().V1().Pods()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	add := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(name)
		}
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj any) { add(obj) },
		DeleteFunc: add,
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced) {
		return errors.New("sync pods: stopped before the cache was complete")
	}

	var running atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for next(queue, pods.Lister(), &running) {
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	wg.Wait()
	factory.Shutdown()
	fmt.Println("saw running pods:", running.Load())
	return nil
}

func next(queue workqueue.TypedRateLimitingInterface[cache.ObjectName], pods listers.PodLister, running *atomic.Int64) bool {
	name, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(name)
	pod, err := pods.Pods(name.Namespace).Get(name.Name)
	switch {
	case err == nil && pod.Status.Phase == corev1.PodRunning:
		running.Add(1)
	case err != nil && !apierrors.IsNotFound(err):
		queue.AddRateLimited(name)
		return true
	}
	queue.Forget(name)
	return true
}

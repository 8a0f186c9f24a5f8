// Package clientgo is the operator of package copies/bowline with client-go.
package clientgo

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Run keeps the copies until ctx ends. One replica of the program works at a time.
func Run(ctx context.Context, clientset kubernetes.Interface, namespace, identity string) error {
	client := clientset.CoreV1().ConfigMaps(namespace)
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 10*time.Hour, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	lister := informer.Lister().ConfigMaps(namespace)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())

	add := func(obj any) {
		if t, ok := obj.(clientcache.DeletedFinalStateUnknown); ok {
			obj = t.Obj
		}
		m, ok := obj.(*corev1.ConfigMap)
		if !ok {
			return
		}
		if m.Labels["copy"] == "yes" {
			queue.Add(m.Name)
		} else if owner := metav1.GetControllerOf(m); owner != nil && owner.Kind == "ConfigMap" {
			queue.Add(owner.Name)
		}
	}
	_, err := informer.Informer().AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}

	reconcile := func(ctx context.Context, name string) error {
		original, err := lister.Get(name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if original.Labels["copy"] != "yes" || !original.DeletionTimestamp.IsZero() {
			return nil // the garbage collector deletes the copy
		}
		want := &corev1.ConfigMap{Data: original.Data, ObjectMeta: metav1.ObjectMeta{
			Name: name + "-copy", Labels: map[string]string{"copy-of": name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(original, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		}}
		made, err := lister.Get(want.Name)
		switch {
		case apierrors.IsNotFound(err):
			_, err = client.Create(ctx, want, metav1.CreateOptions{})
			return err
		case err != nil:
			return err
		case !metav1.IsControlledBy(made, original):
			return errors.New(want.Name + " belongs to somebody else")
		case maps.Equal(made.Data, want.Data) && made.Labels["copy-of"] == name:
			return nil
		}
		made = made.DeepCopy()
		made.Data = want.Data
		if made.Labels == nil {
			made.Labels = make(map[string]string)
		}
		made.Labels["copy-of"] = name
		_, err = client.Update(ctx, made, metav1.UpdateOptions{})
		return err
	}

	next := func(ctx context.Context) bool {
		name, shutdown := queue.Get()
		if shutdown {
			return false
		}
		defer queue.Done(name)
		if err := reconcile(ctx, name); err != nil {
			klog.FromContext(ctx).Error(err, "reconcile", "name", name)
			queue.AddRateLimited(name)
			return true
		}
		queue.Forget(name)
		return true
	}

	worked := make(chan struct{}) // RunOrDie does not wait for work
	work := func(ctx context.Context) {
		defer close(worked)
		defer factory.Shutdown()
		var workers sync.WaitGroup
		defer workers.Wait()
		defer queue.ShutDown()
		factory.Start(ctx.Done())
		if !clientcache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
			return
		}
		for range 4 {
			workers.Go(func() {
				for next(ctx) {
				}
			})
		}
		<-ctx.Done()
	}

	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "copies"}, Client: clientset.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks:       leaderelection.LeaderCallbacks{OnStartedLeading: work, OnStoppedLeading: func() {}},
	})
	<-worked
	return nil
}

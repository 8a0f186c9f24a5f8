package clientgo_test

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// follower is a controller of informers and a work queue. It keeps a Secret with the text of each ConfigMap, and notes
// the text in an annotation.
type follower struct {
	clientset       kubernetes.Interface
	maps            listers.ConfigMapLister
	secrets         listers.SecretLister
	queue           workqueue.TypedRateLimitingInterface[cache.ObjectName]
	boasts, ignores bool // bugs
}

func (f follower) reconcile(ctx context.Context, key cache.ObjectName) error {
	from, err := f.maps.ConfigMaps(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		err := f.clientset.CoreV1().Secrets(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	} else if err != nil {
		return err
	}
	first, second := f.ensure, f.note
	if f.boasts {
		if from.Annotations[annotation] == from.Data["text"] {
			return nil
		}
		first, second = f.note, f.ensure
	}
	if err := first(ctx, from); err != nil {
		return err
	}
	return second(ctx, from)
}

// ensure makes the Secret as it should be.
func (f follower) ensure(ctx context.Context, from *corev1.ConfigMap) error {
	secrets := f.clientset.CoreV1().Secrets(from.Namespace)
	old, err := f.secrets.Secrets(from.Namespace).Get(from.Name)
	switch {
	case apierrors.IsNotFound(err):
		made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: from.Name}, Data: map[string][]byte{"text": []byte(from.Data["text"])}}
		_, err = secrets.Create(ctx, made, metav1.CreateOptions{})
	case err == nil && string(old.Data["text"]) != from.Data["text"]:
		changed := old.DeepCopy()
		changed.Data = map[string][]byte{"text": []byte(from.Data["text"])}
		_, err = secrets.Update(ctx, changed, metav1.UpdateOptions{})
	}
	return err
}

// note writes into the annotation which text the Secret has.
func (f follower) note(ctx context.Context, from *corev1.ConfigMap) error {
	if from.Annotations[annotation] == from.Data["text"] {
		return nil
	}
	noted := from.DeepCopy()
	metav1.SetMetaDataAnnotation(&noted.ObjectMeta, annotation, from.Data["text"])
	_, err := f.clientset.CoreV1().ConfigMaps(from.Namespace).Update(ctx, noted, metav1.UpdateOptions{})
	return err
}

// work takes keys from the queue until it is shut down.
func (f follower) work(ctx context.Context) {
	for {
		key, down := f.queue.Get()
		if down {
			return
		}
		if err := f.reconcile(ctx, key); err != nil && !f.ignores {
			f.queue.AddRateLimited(key)
		} else {
			f.queue.Forget(key)
		}
		f.queue.Done(key)
	}
}

// run is one replica.
func (f follower) run(ctx context.Context, cfg *rest.Config) (err error) {
	if f.clientset, err = kubernetes.NewForConfig(cfg); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(f.clientset, 0)
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	f.maps, f.secrets = maps.Lister(), secrets.Lister()
	f.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	add := func(object any) {
		if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
			f.queue.Add(key)
		}
	}
	all := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, object any) { add(object) }, DeleteFunc: add}
	for _, informer := range []cache.SharedIndexInformer{maps.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandler(all); err != nil {
			return err
		}
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	synced, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	factory.WaitForCacheSyncWithContext(synced)
	var workers sync.WaitGroup
	workers.Go(func() { f.work(ctx) })
	<-ctx.Done()
	f.queue.ShutDown()
	workers.Wait()
	return nil
}

package migrating

import (
	corev1 "k8s.io/api/core/v1"
	clientcache "k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/informer"
)

// onDeletedClientGo calls gone for each pod that is deleted.
func onDeletedClientGo(pods clientcache.SharedIndexInformer, gone func(name string)) error {
	_, err := pods.AddEventHandler(clientcache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) {
			if t, ok := obj.(clientcache.DeletedFinalStateUnknown); ok {
				obj = t.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				gone(pod.Name)
			}
		},
	})
	return err
}

// onDeleted does the same.
func onDeleted(pods *informer.Informer[*Pod], gone func(name string)) {
	pods.Subscribe(cache.HandlerFuncs[*Pod]{Delete: func(p *Pod) { gone(p.Name) }})
}

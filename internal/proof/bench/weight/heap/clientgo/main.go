// Command clientgo is the side of client-go's shared informer, with its defaults, or with -transform set to keep only
// the fields that the program reads.
package main

import (
	"flag"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

func main() {
	transform := flag.Bool("transform", false, "keep six fields only")
	heap.Main(func(server string) (func(func(heap.Pod)), error) {
		clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server})
		if err != nil {
			return nil, err
		}
		factory := informers.NewSharedInformerFactory(clientset, 0)
		inf := factory.Core().V1().Pods().Informer()
		if *transform {
			if err := inf.SetTransform(strip); err != nil {
				return nil, err
			}
		}
		factory.Start(nil)              // until the process ends
		<-inf.HasSyncedChecker().Done() // not WaitForCacheSync, which polls
		each := func(yield func(heap.Pod)) {
			for _, obj := range inf.GetStore().List() {
				p := obj.(*corev1.Pod)
				yield(heap.Pod{Node: p.Spec.NodeName, Phase: string(p.Status.Phase)})
			}
		}
		return each, nil
	})
}

// strip keeps the fields that the struct of Bowline's side has. It makes a new object, because a cleared one would keep
// its size.
func strip(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion},
		Spec:       corev1.PodSpec{NodeName: p.Spec.NodeName},
		Status:     corev1.PodStatus{Phase: p.Status.Phase},
	}, nil
}

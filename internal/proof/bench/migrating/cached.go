package migrating

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientcache "k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
)

// podsOnClientGo counts the pods of a node in a cache with an index.
func podsOnClientGo(ctx context.Context, clientset kubernetes.Interface, node string) (int, error) {
	factory := informers.NewSharedInformerFactory(clientset, 10*time.Hour)
	pods := factory.Core().V1().Pods().Informer()
	err := pods.AddIndexers(clientcache.Indexers{"node": func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
	}})
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.Start(ctx.Done())
	if !clientcache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return 0, errors.New("the cache did not sync")
	}
	found, err := pods.GetIndexer().ByIndex("node", node)
	return len(found), err
}

// podsOn does the same.
func podsOn(ctx context.Context, c *client.Client, node string) (int, error) {
	inf := informer.New(client.For(c, Pods), informer.Options{})
	byNode := cache.NewValueIndex(inf.Reader(), func(p *Pod) string { return p.Spec.NodeName })
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	defer func() { stop(); <-ended }()
	if err := inf.WaitSynced(ctx); err != nil {
		return 0, err // says why, such as a permission that is missing
	}
	return byNode.Len(node), nil
}

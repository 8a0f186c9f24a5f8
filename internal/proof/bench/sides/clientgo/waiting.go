package main

import (
	"context"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var fleet = sample.Fleet{
	Settings: "informers.NewSharedInformerFactoryWithOptions with WithNamespace, JSON, QPS -1",
	Start: func(ctx context.Context, server string, n int) (count func() int, err error) {
		const media = "application/json"
		clientset, err := kubernetes.NewForConfig(&rest.Config{
			Host: server, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: sample.Secure(server)},
			ContentConfig: rest.ContentConfig{ContentType: media, AcceptContentTypes: media},
		})
		if err != nil {
			return nil, err
		}
		all := make([]cache.SharedIndexInformer, n)
		for i := range all {
			factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(sample.Namespace(i)))
			all[i] = factory.Core().V1().Pods().Informer()
			factory.StartWithContext(ctx) // until the process ends
		}
		for _, inf := range all {
			select {
			case <-inf.HasSyncedChecker().Done():
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return func() (n int) {
			for _, inf := range all {
				n += len(inf.GetStore().ListKeys())
			}
			return n
		}, nil
	},
}

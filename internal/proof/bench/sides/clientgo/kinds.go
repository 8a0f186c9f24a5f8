package main

// Informers of other objects than pods.

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// deployments, secrets and certificates make an informer.
func deployments(cfg *rest.Config) (cache.SharedIndexInformer, error) {
	factory, err := factoryOf(cfg)
	if err != nil {
		return nil, err
	}
	return factory.Apps().V1().Deployments().Informer(), nil
}

func secrets(cfg *rest.Config) (cache.SharedIndexInformer, error) {
	factory, err := factoryOf(cfg)
	if err != nil {
		return nil, err
	}
	return factory.Core().V1().Secrets().Informer(), nil
}

func certificates(cfg *rest.Config) (cache.SharedIndexInformer, error) {
	c, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "certificates"}
	return dynamicinformer.NewDynamicSharedInformerFactory(c, 0).ForResource(gvr).Informer(), nil
}

func factoryOf(cfg *rest.Config) (informers.SharedInformerFactory, error) {
	clientset, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return informers.NewSharedInformerFactory(clientset, 0), nil
}

// synced is the job of a first list, in pages or as a streaming list.
func synced(of func(*rest.Config) (cache.SharedIndexInformer, error)) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		setting, known := listing[p.Setting]
		if !known || setting.limit != 0 {
			return sample.Report{}, fmt.Errorf("no setting is called %q", p.Setting)
		}
		return sample.Sync(sample.Informer{
			Settings: setting.name + ", a transform that drops managedFields, application/json, QPS -1",
			Start: func(ctx context.Context, server string, _ func(string)) (sample.Cache, error) {
				inf, err := of(&rest.Config{
					Host: server, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
				})
				if err != nil {
					return sample.Cache{}, err
				}
				if err := inf.SetTransform(withoutManagedFields); err != nil {
					return sample.Cache{}, err
				}
				go inf.RunWithContext(ctx) // until the process ends
				select {
				case <-inf.HasSyncedChecker().Done():
				case <-ctx.Done():
					return sample.Cache{}, context.Cause(ctx)
				}
				return sample.Cache{
					Each: func(yield func(node, phase string)) {
						for range inf.GetStore().ListKeys() {
							yield("", "")
						}
					},
					Version: inf.GetStore().LastStoreSyncResourceVersion,
				}, nil
			},
		})(ctx, p)
	}
}

func withoutManagedFields(obj any) (any, error) {
	if m, err := meta.Accessor(obj); err == nil {
		m.SetManagedFields(nil)
	}
	return obj, nil
}

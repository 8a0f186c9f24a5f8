package main

// Informers of other objects than pods.

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
	"github.com/bowline-go/bowline/internal/proof/bench/sides/setting"
)

var (
	deployments  = client.Type[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	secrets      = client.Type[*corev1.Secret]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	certificates = client.Type[*meta.Unstructured]{Group: "example.com", Version: "v1", Kind: "Certificate", Resource: "certificates"}
)

// synced is the job of a first list of objects of type t.
func synced[T meta.Object](t client.Type[T]) sample.Job {
	return func(ctx context.Context, p sample.Params) (sample.Report, error) {
		o, name, err := setting.Options(p.Setting)
		if err != nil {
			return sample.Report{}, err
		}
		return sample.Sync(sample.Informer{
			Settings: name,
			Start: func(ctx context.Context, server string, _ func(string)) (sample.Cache, error) {
				c, err := client.New(client.Config{Server: server})
				if err != nil {
					return sample.Cache{}, err
				}
				inf := informer.New(client.For(c, t), o)
				go inf.Run(ctx) // until the process ends
				return sample.Cache{
					Each: func(yield func(node, phase string)) {
						for range inf.Reader().All() {
							yield("", "")
						}
					},
					Version: inf.Reader().ResourceVersion,
				}, inf.WaitSynced(ctx)
			},
		})(ctx, p)
	}
}

package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

var fleet = sample.Fleet{
	Settings: "informer.Options{Namespace: ...}, *corev1.Pod, JSON",
	Start: func(ctx context.Context, server string, n int) (count func() int, err error) {
		c, err := client.New(client.Config{Server: server, TLS: client.TLS{Insecure: sample.Secure(server)}})
		if err != nil {
			return nil, err
		}
		all := make([]*informer.Informer[*corev1.Pod], n)
		for i := range all {
			all[i] = informer.New(client.For(c, pods), informer.Options{Namespace: sample.Namespace(i)})
			go all[i].Run(ctx) // until the process ends
		}
		for _, inf := range all {
			err = errors.Join(err, inf.WaitSynced(ctx))
		}
		return func() (n int) {
			for _, inf := range all {
				n += inf.Reader().Len()
			}
			return n
		}, err
	},
}

// Clientgo runs a manager of controller-runtime with the configuration and the options of one that is explored, against a
// server in the process.
package main

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/informer"
)

func run(ctx context.Context, cfg *rest.Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	options, err := clientgo.ManagerOptions(ctx, manager.Options{})
	if err != nil {
		return err
	}
	mgr, err := manager.New(cfg, options)
	if err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		defer stop()
		return mgr.GetClient().Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{})
	}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func main() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	err := informer.Run(ctx, informer.RunnerFunc(server.Run), informer.RunnerFunc(func(ctx context.Context) error {
		defer stop()
		return clientgo.Program(run)(ctx, server.Config())
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}

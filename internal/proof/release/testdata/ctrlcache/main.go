// Ctrlcache is a manager of controller-runtime with our cache, as MIGRATING.md says, against a server in the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
)

func run(ctx context.Context, stop func(), cfg *rest.Config) error {
	mgr, err := manager.New(cfg, manager.Options{NewCache: ctrlcache.New, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		defer stop()
		return mgr.GetClient().Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{})
	}))
	return errors.Join(err, mgr.Start(ctx))
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	api := clienttest.New(clienttest.Options{Listener: l})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Run(ctx) }()
	err = run(ctx, stop, &rest.Config{Host: "http://" + l.Addr().String()})
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ok")
}

// Command cronjob runs the controller of internal/proof/e2e/cronjob against the cluster of the environment's
// kubeconfig.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err == nil {
		err = run(ctx, loaded.Config)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, cfg client.Config) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	return informer.Run(ctx, cronjob.New(c, "", controller.Options{Workers: 2}))
}

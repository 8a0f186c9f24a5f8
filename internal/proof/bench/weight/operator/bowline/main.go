// Command bowline runs the operator of package copies/bowline.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	copies "github.com/bowline-go/bowline/internal/proof/bench/copies/bowline"
)

func main() {
	path := flag.String("kubeconfig", "", "the kubeconfig `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		return err
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	return copies.Run(ctx, c, "default")
}

// Command programs builds programs of a Kubernetes control plane if they are missing, and prints the directory that has
// them:
//
//	go run ./internal/controlplane/build/programs -kubernetes 1.36 etcd kube-apiserver
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/bowline-go/bowline/internal/controlplane/build"
)

func main() {
	minor := flag.String("kubernetes", "", "minor release of Kubernetes; empty means the newest")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	dir, err := build.Programs(ctx, *minor, flag.Args(), os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

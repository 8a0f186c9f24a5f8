// Package cluster gives an example its cluster: the one of a kubeconfig, or an API server in the process, so that
// every example runs with nothing but Go.
package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// Work is what an example does with a client.
type Work func(ctx context.Context, c *client.Client) error

// Example is a program that works on a cluster.
type Example struct {
	// Work runs on the cluster that the flags name.
	Work Work
	// Demo runs instead on a server in the process. Nil means Fill, if there is one, and then Work.
	Demo Work
	// Fill makes objects for Work in a server in the process.
	Fill Work
	// Containers say what happens in the containers of that server's pods.
	Containers clienttest.Containers
}

// Main is the main function of an example. The example has already declared its own flags. Main adds -kubeconfig and
// -context, and parses the flags. If one of these two is set, it runs Work on that cluster, and otherwise Demo. An
// interrupt ends their context, and a second interrupt ends the program. An error before an interrupt ends the program
// with status 1.
func (e Example) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	var o kubeconfig.Options
	flag.StringVar(&o.Path, "kubeconfig", "", "use the cluster of this `file` instead of a server in the process")
	flag.StringVar(&o.Context, "context", "", "the kubeconfig's context; empty is its current one")
	flag.Parse()
	var err error
	if o.Path != "" || o.Context != "" {
		err = onCluster(ctx, o, e.Work)
	} else {
		err = Serve(ctx, e.demo, clienttest.Options{Containers: e.Containers})
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), err)
		os.Exit(1)
	}
}

// demo runs Demo, or what a nil Demo means.
func (e Example) demo(ctx context.Context, c *client.Client) error {
	if e.Demo != nil {
		return e.Demo(ctx, c)
	}
	if e.Fill != nil {
		if err := e.Fill(ctx, c); err != nil {
			return err
		}
	}
	return e.Work(ctx, c)
}

// onCluster runs work on the cluster of a kubeconfig.
func onCluster(ctx context.Context, o kubeconfig.Options, work Work) error {
	loaded, err := kubeconfig.Load(o)
	if err != nil {
		return err
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	defer c.Close()
	return work(ctx, c)
}

// InProcess runs work on its own API server in the process, which ends with the work.
func InProcess(ctx context.Context, work Work) error { return Serve(ctx, work, clienttest.Options{}) }

// Serve runs work on a server in the process with these options.
func Serve(ctx context.Context, work Work, o clienttest.Options) error {
	ctx, stop := context.WithCancel(ctx)
	server := clienttest.New(o)
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err == nil {
		err = work(ctx, c)
		c.Close()
	}
	stop()
	return errors.Join(err, <-served)
}

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

var kubernetes = flag.String("kubernetes", build.Minors()[0], fmt.Sprintf("the release of the servers, one of %q", build.Minors()))

// servers returns the options of a control plane of the release that the tests are run against.
func servers(flags ...string) controlplane.Options {
	return controlplane.Options{Kubernetes: *kubernetes, ServerFlags: flags, Kubectl: true, Network: true}
}

// plane is the control plane of all tests in this package. They share it, so each makes its own namespace or names.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == plugin {
		if err := playPlugin(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == sharer {
		if err := playSharer(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once

	// The time limit of the go command counts the start too, builds included, but ends it without a word.
	flag.Parse()
	// Many tests wait for the server most of their time, so more of them run together than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	starting := ctx
	if limit := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration); limit > 0 {
		var cancel context.CancelFunc
		starting, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the test's time limit of %s is over", limit))
		defer cancel()
	}
	options := servers()
	options.Progress = os.Stderr
	var err error
	if plane, err = controlplane.Start(starting, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	// Nothing stops m.Run from outside, so an interrupt ends the process here.
	forget := context.AfterFunc(ctx, func() {
		_ = plane.Stop() // what it could say, the interrupt explains
		os.Exit(1)
	})
	defer forget() // before the deferred stop of the plane: an interrupt need not do the same at once
	return m.Run()
}

// Flags is a program with the flags that kubectl has: -kubeconfig, -context, -namespace, and -v for how much it logs.
// It prints who it is, for which server.
//
//	go run ./examples/flags -context staging -v 6
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/go-logr/logr"
)

// settings are what the flags say.
type settings struct {
	kubeconfig kubeconfig.Options
	namespace  string
	verbosity  int
}

// parse reads the flags. It writes the usage, and what is wrong, to out.
func parse(args []string, out io.Writer) (s settings, _ error) {
	flags := flag.NewFlagSet("flags", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.kubeconfig.Path, "kubeconfig", "", "the `file` to use; empty means $KUBECONFIG, then ~/.kube/config, then the pod's account")
	flags.StringVar(&s.kubeconfig.Context, "context", "", "the context of the file; empty means the current one")
	flags.StringVar(&s.namespace, "namespace", "", "the namespace; empty means that of the context")
	flags.IntVar(&s.verbosity, "v", 0, "how much to log: 1 is more than usual, and 6 shows each request")
	return s, flags.Parse(args)
}

// logger returns a logger that writes the lines up to the verbosity to out. A line of logr at V(n) has the level -n of
// slog.
func (s settings) logger(out io.Writer) logr.Logger {
	return logr.FromSlogHandler(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.Level(-s.verbosity)}))
}

// run does the program's work, and logs to log.
func run(ctx context.Context, s settings, out, log io.Writer) error {
	logger := s.logger(log)
	ctx = logr.NewContext(ctx, logger) // for informers and controllers
	loaded, err := kubeconfig.Load(s.kubeconfig)
	if err != nil {
		return err
	}
	for _, warning := range loaded.Warnings {
		logger.Info("kubeconfig: " + warning)
	}
	loaded.Config.Logger = logger // for the client
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	defer c.Close()
	me, err := client.WhoAmI(ctx, c)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s in the namespace %s of %s\n", me.User, cmp.Or(s.namespace, loaded.Namespace), loaded.Config.Server)
	return err
}

func main() {
	s, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, s, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Command record writes what a user may see of a cluster into a file, from which a test can start a server
// (clienttest.Options.Replay). It is clienttest.Record for people who have no program at hand:
//
//	go run github.com/bowline-go/bowline/client/clienttest/record -kinds pods,configmaps -namespace shop -o bug.jsonl
//
// Interrupt it to end the recording. Run it again with the same flags to continue.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	options clienttest.RecordOptions
	kinds   []string
	context string
	path    string
	limit   time.Duration
}

const usage = `record writes what you may see of a cluster into a file: the objects of some kinds,
and then what happens to them, until you interrupt it. A Go test plays the file:

	server := clienttest.Start(t, clienttest.Options{Replay: "bug.jsonl"})

Run it again with the same flags to continue the file.

Values of Secrets are replaced by hashes. Everything else is written as it is: look
for passwords in config maps, in the environment and the arguments of containers, in
annotations and in custom resources before you give the file away.

	record -kinds pods,configmaps,deployments.apps -namespace shop -o bug.jsonl

Flags:
`

// parse reads the flags.
func parse(args []string, out io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	list := func(into *[]string) func(string) error {
		return func(text string) error {
			*into = append(*into, strings.Split(text, ",")...)
			return nil
		}
	}
	flags.Func("kinds", "`NAMES` of kinds as kubectl takes them, separated by commas: pods, deploy, pages.example.com", list(&s.kinds))
	flags.Func("namespace", "`NAMES` of namespaces, separated by commas (default all)", list(&s.options.Namespaces))
	flags.StringVar(&s.options.File, "o", "", "the `FILE` to write or to continue")
	flags.DurationVar(&s.limit, "for", 0, "end after this `TIME`, such as 10m (default: until it is interrupted)")
	flags.Int64Var(&s.options.MaxBytes, "max-bytes", 0, "end when the file has this `SIZE` in bytes (default 256 MiB)")
	flags.StringVar(&s.context, "context", "", "the `NAME` of the context of the kubeconfig (default the current one)")
	flags.StringVar(&s.path, "kubeconfig", "", "the kubeconfig `FILE` (default: as kubectl finds it)")
	flags.Func("secrets", "`WHAT` becomes of the values of Secrets: hashed, omitted or kept (default hashed)", func(text string) error {
		for _, mode := range []clienttest.RecordedSecrets{clienttest.SecretsHashed, clienttest.SecretsOmitted, clienttest.SecretsKept} {
			if mode.String() == text {
				s.options.Secrets = mode
				return nil
			}
		}
		return errors.New("it must be hashed, omitted or kept")
	})
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("there must be no arguments besides flags, got %q", flags.Args())
	case len(s.kinds) == 0 || slices.Contains(s.kinds, ""):
		err = errors.New("-kinds must name at least one kind, and each must have a name")
	case s.options.File == "":
		err = errors.New("-o must name a file")
	case s.limit < 0:
		err = fmt.Errorf("-for must not be negative, got %v", s.limit)
	}
	return s, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: s.path, Context: s.context})
	if err != nil {
		return err
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(out, "record:", w)
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		return err
	}
	defer c.Close()
	return record(ctx, c, s, out)
}

// record finds the kinds and records them.
func record(ctx context.Context, c *client.Client, s settings, out io.Writer) error {
	if s.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, s.limit)
		defer stop()
	}
	catalog := discovery.New(c, discovery.Options{})
	for _, name := range s.kinds {
		found, _, err := catalog.Find(ctx, name)
		if err != nil {
			return err
		}
		s.options.Resources = append(s.options.Resources, found.Type().GVR())
	}
	fmt.Fprintf(out, "record: %v into %s\n", s.options.Resources, s.options.File)
	return clienttest.Record(ctx, c, s.options)
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	var r release
	flag.BoolVar(&r.dry, "dry-run", false, "check everything, and change nothing")
	flag.BoolVar(&r.untested, "without-tests", false, "do not run .ci/run")
	flag.StringVar(&r.packed, "pack", "", "only pack the modules of a version that has its tags, into this `folder`")
	flag.StringVar(&r.root, "C", ".", "the root of the `repository`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: release [-dry-run] [-without-tests] [-pack FOLDER] VERSION, such as v0.1.0")
		os.Exit(2)
	}
	r.version = flag.Arg(0)
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release has the arguments and the flags of the command.
type release struct {
	root, version string
	dry, untested bool
	packed        string // a folder
}

func (r release) run(ctx context.Context) (err error) {
	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	work := repository{root}
	if r.packed != "" {
		return work.packAll(ctx, r.version, r.packed)
	}
	if err := work.ready(ctx, r.version); err != nil {
		return err
	}
	last, err := work.lastVersion(ctx)
	if err != nil {
		return err
	}
	if err := work.permits(ctx, last, r.version); err != nil {
		return err
	}
	if !r.untested {
		if err := run(ctx, root, os.Stderr, ".ci/run"); err != nil {
			return fmt.Errorf("the tests: %w", err)
		}
	}

	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	clone := repository{filepath.Join(temp, "clone")}
	if err := run(ctx, temp, os.Stderr, "git", "clone", "-q", root, clone.dir); err != nil {
		return err
	}
	// Git does not copy the user's identity from the repository's configuration into a clone, and a machine that only
	// checks may have no identity.
	for key, value := range map[string]string{"user.name": "rehearsal", "user.email": "rehearsal@localhost"} {
		if own, err := work.git(ctx, "config", "--get", key); err == nil {
			value = strings.TrimSpace(own)
		}
		if _, err := clone.git(ctx, "config", key, value); err != nil {
			return err
		}
	}
	today := time.Now()
	// The rehearsal has another version, because the module cache must not take it for the release.
	rehearsed := r.version + "-rehearsal." + today.UTC().Format("20060102150405")
	modules, err := clone.release(ctx, rehearsed, today)
	if err != nil {
		return err
	}
	proxy := filepath.Join(temp, "proxy")
	for _, m := range modules {
		if err := clone.pack(ctx, m, rehearsed, proxy); err != nil {
			return fmt.Errorf("pack %s: %w", m.path, err)
		}
	}
	if err := consume(ctx, clone.dir, filepath.Join(temp, "consumers"), proxy, rehearsed, modules); err != nil {
		return err
	}
	if r.dry {
		fmt.Printf("%s can be released. Nothing has changed.\n", r.version)
		return nil
	}
	if modules, err = work.release(ctx, r.version, today); err != nil {
		return err
	}
	fmt.Printf("%s is a commit and %d tags in this repository. To publish it:\n\n\tgit push origin HEAD", r.version, len(modules))
	for _, m := range modules {
		fmt.Printf(" %s", m.tag(r.version))
	}
	fmt.Println()
	return nil
}

// run runs a command in a folder. Its output goes to out.
func run(ctx context.Context, dir string, out *os.File, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

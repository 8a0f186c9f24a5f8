// Command update writes the go.mod and go.sum of each minor release of Kubernetes that package build knows. Run it in
// the folder of package build:
//
//	go run ./update              # the newest patch releases
//	go run ./update 1.37 1.38    # these minor releases only, which may be new
//	go run ./update -check       # writes nothing, and fails if a file would change for the release that it has
//
// A module requires k8s.io/kubernetes, the modules that are released with it at the same version, and the release of
// etcd that it requires. It has the Go version and the GODEBUG settings of k8s.io/kubernetes. Where this repository's
// go.mod requires a newer version of a module, the servers have that too, so that programs that link both compile it
// once.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bowline-go/bowline/internal/controlplane/build"
)

func main() {
	check := flag.Bool("check", false, "write nothing, and fail if a file would change")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	defer stop()
	minors := flag.Args()
	if len(minors) == 0 {
		minors = build.Minors()
	}
	var errs []error
	for _, minor := range minors {
		if err := update(ctx, minor, *check); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", minor, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func update(ctx context.Context, minor string, check bool) error {
	release := build.Release(minor)
	if !check {
		var err error
		if release, err = newest(ctx, minor); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "bowline-update-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := write(ctx, dir, release); err != nil {
		return err
	}
	for from, to := range map[string]string{"go.mod": minor + ".mod.txt", "go.sum": minor + ".sum.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			return err
		}
		path := filepath.Join("module", to)
		old, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(old, text):
		case check:
			return fmt.Errorf("%s is not what this program writes; run it without -check", path)
		default:
			if err := os.WriteFile(path, text, 0o666); err != nil {
				return err
			}
			fmt.Println("wrote", path, "for", release)
		}
	}
	return nil
}

// newest returns the newest patch release of a minor release, without its v.
func newest(ctx context.Context, minor string) (string, error) {
	out, err := goCommand(ctx, ".", "list", "-m", "-versions", "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`\bv(`+regexp.QuoteMeta(minor)+`\.\d+)(?:\s|$)`).FindAllStringSubmatch(out, -1) // in their order
	if len(found) == 0 {
		return "", fmt.Errorf("the module proxy has no release of k8s.io/kubernetes %s", minor)
	}
	return found[len(found)-1][1], nil
}

// write writes a module with the programs of a release into a directory, and tidies it.
func write(ctx context.Context, dir, release string) error {
	source, err := goCommand(ctx, ".", "mod", "download", "-json", "k8s.io/kubernetes@v"+release)
	if err != nil {
		return err
	}
	path := regexp.MustCompile(`"GoMod": "(.*)"`).FindStringSubmatch(source)
	if path == nil {
		return fmt.Errorf("go mod download names no go.mod of k8s.io/kubernetes: %s", source)
	}
	theirs, err := os.ReadFile(path[1])
	if err != nil {
		return err
	}
	ours, err := goCommand(ctx, ".", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}\t{{.Path}} {{.Version}}{{end}}", "all")
	if err != nil {
		return err
	}
	if err := build.WritePrograms(dir); err != nil {
		return err
	}
	text, err := moduleFile(string(theirs), release, ours)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o666); err != nil {
		return err
	}
	_, err = goCommand(ctx, dir, "mod", "tidy")
	return err
}

// moduleFile returns a go.mod that is not yet tidy. ours are the requirements of this repository.
func moduleFile(theirs, release, ours string) (string, error) {
	find := func(what, pattern string) (string, error) {
		found := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(theirs)
		if found == nil {
			return "", fmt.Errorf("the go.mod of k8s.io/kubernetes has no %s", what)
		}
		return found[1], nil
	}
	goVersion, err := find("version of Go", `^go (\S+)$`)
	if err != nil {
		return "", err
	}
	settings, err := find("GODEBUG settings", `^godebug (.+)$`)
	if err != nil {
		return "", err
	}
	etcd, err := find("requirement of etcd", `^\s*go\.etcd\.io/etcd/server/v3 (\S+)`)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module servers\n\ngo %s\n\ngodebug %s\n\nrequire (\n\tgo.etcd.io/etcd/server/v3 %s\n\tk8s.io/kubernetes v%s\n%s)\n\nreplace (\n",
		goVersion, settings, etcd, release, ours)
	_, patch, _ := strings.Cut(release, ".") // 37.2 of 1.37.2
	for _, staged := range regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) => \./staging/`).FindAllStringSubmatch(theirs, -1) {
		fmt.Fprintf(&b, "\t%s => %[1]s v0.%s\n", staged[1], patch)
	}
	return b.String() + ")\n", nil
}

// goCommand runs the go command in a directory, with no settings of the user that are for other modules.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w; it says: %s", strings.Join(args, " "), err, strings.TrimSpace(complaints.String()))
	}
	return string(out), nil
}

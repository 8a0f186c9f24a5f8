package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Programs returns the directory that holds the executables of some programs, and first builds those that are missing.
// minor is one of Minors, or empty for the newest. The names are "etcd", "kube-apiserver", "kube-controller-manager"
// and "kubectl". On Windows the files end in .exe.
//
// A build takes minutes. Programs writes a line of progress to the writer every ten seconds, unless the writer is nil.
// When ctx ends, it stops, and the error has the cause. If the programs have been built before, Programs writes nothing
// and does not need the go command.
func Programs(ctx context.Context, minor string, programs []string, progress io.Writer) (string, error) {
	minor, err := Resolve(minor)
	if err != nil {
		return "", err
	}
	for _, name := range programs {
		if !slices.Contains(names(), name) {
			return "", fmt.Errorf("program %q: must be one of %q", name, names())
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache of the user, which keeps the servers: %w", err)
	}
	b := &builder{files: embedded, minor: minor, programs: programs, cache: filepath.Join(cache, "bowline", "kubernetes"), progress: progress}
	return b.run(ctx)
}

// Path returns the path of a program in the directory that Programs has returned.
func Path(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// builder builds programs of one minor release.
type builder struct {
	files    fs.FS // the embedded files, or those of a test
	minor    string
	programs []string
	cache    string
	progress io.Writer // if it is nil, no progress is written
}

func (b *builder) run(ctx context.Context) (string, error) {
	hash, err := b.hash()
	if err != nil {
		return "", fmt.Errorf("read the embedded module of Kubernetes %s: %w", b.minor, err)
	}
	dir := filepath.Join(b.cache, b.minor+"-"+hash)
	if len(b.missing(dir)) == 0 {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // the cache of the user may be read-only
		return dir, nil
	}
	if err := b.fill(ctx, dir); err != nil {
		return "", fmt.Errorf("build %s of Kubernetes %s: %w", strings.Join(b.programs, ", "), releaseIn(b.files, b.minor), err)
	}
	return dir, nil
}

// missing returns the programs that a directory does not have.
func (b *builder) missing(dir string) (missing []string) {
	for _, name := range b.programs {
		if info, err := os.Stat(Path(dir, name)); err != nil || !info.Mode().IsRegular() {
			missing = append(missing, name)
		}
	}
	return missing
}

// fill builds what a directory of the cache does not have, while it holds the lock of the directory.
func (b *builder) fill(ctx context.Context, dir string) error {
	command, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("the go command builds the servers, and it is missing: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	release, err := b.lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer release()
	missing := b.missing(dir)
	if len(missing) == 0 {
		return nil // another process has built them
	}
	if err := removeAll(dir, "build-*"); err != nil { // what a killed process left
		return err
	}
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	err = b.build(ctx, command, work, dir, missing)
	err = errors.Join(err, os.RemoveAll(work))
	if err == nil {
		b.prune(dir)
	}
	return err
}

// build builds programs in the directory work, and moves the executables to the directory dir.
func (b *builder) build(ctx context.Context, command, work, dir string, programs []string) error {
	if err := b.writeModule(work); err != nil {
		return err
	}
	out, temporary := filepath.Join(work, "out"), filepath.Join(work, "tmp")
	for _, d := range []string{out, temporary} {
		if err := os.Mkdir(d, 0o777); err != nil {
			return err
		}
	}
	args := []string{"build", "-v", "-ldflags", strings.Join(b.stamps(), " "), "-o", out + string(filepath.Separator)}
	for _, name := range programs {
		args = append(args, "./"+name)
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Env = work, append(environment(os.Environ()), "GOTMPDIR="+temporary)
	if err := b.watch(ctx, cmd, programs); err != nil {
		return err
	}
	for _, name := range programs {
		if err := os.Rename(Path(out, name), Path(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// stamps returns the flags of the linker that say which release the programs are.
func (b *builder) stamps() (flags []string) {
	major, _, _ := strings.Cut(b.minor, ".")
	for _, stamp := range []string{
		"gitVersion=v" + releaseIn(b.files, b.minor), "gitMajor=" + major, fmt.Sprint("gitMinor=", number(b.minor)), "gitTreeState=archive",
	} {
		flags = append(flags, "-X k8s.io/component-base/version."+stamp)
	}
	return flags
}

// environment returns the environment of the go command: that of this process, without the settings that make sense
// only for the module of the user, such as GOFLAGS=-mod=vendor. The module proxy and the C compiler stay as they are
// set.
func environment(of []string) []string {
	toolchain := "auto"
	env := slices.DeleteFunc(slices.Clone(of), func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		if name == "GOTOOLCHAIN" {
			toolchain = value
		}
		return slices.Contains([]string{"GOFLAGS", "GOWORK", "GOTOOLCHAIN", "GO111MODULE", "GOOS", "GOARCH", "GOTMPDIR", "GODEBUG"}, name)
	})
	return append(
		env,
		"GOFLAGS=-buildvcs=false", // not empty: the go command would take the setting of `go env -w`
		"GOWORK=off", "GO111MODULE=on", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH,
		"GOTOOLCHAIN="+newer(toolchain),
	)
}

// newer returns a value of GOTOOLCHAIN that permits a newer toolchain if the module needs one. Such a value is "auto"
// or "path", or has a plus sign before one of these.
func newer(toolchain string) string {
	switch {
	case toolchain == "" || toolchain == "local":
		return "auto"
	case toolchain == "auto" || toolchain == "path" || strings.Contains(toolchain, "+"):
		return toolchain
	}
	return toolchain + "+auto"
}

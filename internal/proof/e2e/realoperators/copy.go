package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	ours     = "github.com/bowline-go/bowline"
	ourCache = ours + "/informer/ctrlcache"
)

// binaries are an operator's two builds.
type binaries struct {
	before, after string
	source        string // the directory of the copy
}

// build is one of the two builds.
type build struct{ name, path string }

func (b binaries) both() []build { return []build{{"before", b.before}, {"after", b.after}} }

// prepare copies an operator's module and builds its command twice: as it is, and with our cache. The module graph is
// the same.
func prepare(ctx context.Context, directory string, o *operator) (binaries, error) {
	in := func(name string) string { return filepath.Join(directory, name) }
	b := binaries{before: in("before"), after: in("after"), source: in("source")}
	root, err := command(ctx, ".", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", ours)
	if err != nil {
		return b, fmt.Errorf("find this repository (realoperators runs in module internal/proof/e2e): %w: %s", err, root)
	}
	repository := strings.TrimSpace(string(root))
	if err := copyModule(ctx, directory, o.module+"@"+o.version, b.source); err != nil {
		return b, err
	}
	edits := []string{
		"mod", "edit", "-require=" + ours + "@v0.0.0", "-replace=" + ours + "=" + repository,
		"-require=" + ourCache + "@v0.0.0", "-replace=" + ourCache + "=" + filepath.Join(repository, "informer", "ctrlcache"),
	}
	if out, err := command(ctx, b.source, append(edits, o.edits...)...); err != nil {
		return b, fmt.Errorf("edit go.mod of the copy: %w: %s", err, out)
	}
	for _, a := range o.adaptations {
		if err := b.adapt(ctx, directory, a); err != nil {
			return b, fmt.Errorf("adapt %s: %w", a.module, err)
		}
	}
	// Our build is the first. It raises the versions in go.mod to those that our modules require, and the other build
	// has them too.
	path := filepath.Join(b.source, filepath.FromSlash(o.file))
	original, err := os.ReadFile(path)
	if err != nil {
		return b, err
	}
	changed, err := useOurCache(string(original))
	if err != nil {
		return b, fmt.Errorf("change %s: %w", o.file, err)
	}
	for _, build := range []struct{ text, binary string }{{changed, b.after}, {string(original), b.before}} {
		if err := os.WriteFile(path, []byte(build.text), 0o644); err != nil {
			return b, err
		}
		if out, err := command(ctx, b.source, "build", "-o", build.binary, o.command); err != nil {
			return b, fmt.Errorf("build %s: %w: %s", o.name, err, out)
		}
	}
	return b, nil
}

// adapt copies a module in the version that the operator requires, changes the copy, and lets the operator use it.
func (b binaries) adapt(ctx context.Context, directory string, a adaptation) error {
	version, err := required(ctx, b.source, a.module)
	if err != nil {
		return err
	}
	copied := filepath.Join(directory, strings.ReplaceAll(a.module, "/", "-"))
	if err := copyModule(ctx, directory, a.module+"@"+version, copied); err != nil {
		return err
	}
	if out, err := command(ctx, b.source, "mod", "edit", "-replace="+a.module+"="+copied); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	path := filepath.Join(copied, filepath.FromSlash(a.file))
	if len(a.drop) == 0 {
		return os.Remove(path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := dropLines(string(text), a.drop)
	if err != nil {
		return fmt.Errorf("%s: %w", a.file, err)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// required returns the version of a module that a go.mod requires.
func required(ctx context.Context, directory, module string) (string, error) {
	out, err := command(ctx, directory, "mod", "edit", "-json")
	if err != nil {
		return "", fmt.Errorf("read go.mod: %w: %s", err, out)
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return "", fmt.Errorf("read go.mod: %w", err)
	}
	for _, r := range file.Require {
		if r.Path == module {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod does not require %s", module)
}

// read returns the text of a definition, in the version of its module that the operator is built with.
func (b binaries) read(ctx context.Context, d definition) ([]byte, error) {
	out, err := command(ctx, b.source, "list", "-m", "-f", "{{.Dir}}", d.module)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w: %s", d.module, err, out)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(d.file)))
}

// useOurCache adds NewCache to the only manager.Options of a file, and the import that it needs.
func useOurCache(text string) (string, error) {
	const options, imports = "manager.Options{\n", "import (\n"
	for _, want := range []string{options, imports} {
		if n := strings.Count(text, want); n != 1 {
			return "", fmt.Errorf("the file must have %q once, and has it %d times", strings.TrimSpace(want), n)
		}
	}
	text = strings.Replace(text, options, options+"\t\tNewCache: ctrlcache.New,\n", 1)
	return strings.Replace(text, imports, imports+"\t\""+ourCache+"\"\n\n", 1), nil
}

// dropLines removes the lines that contain one of the words. Each word must be in a line.
func dropLines(text string, words []string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	for _, word := range words {
		kept := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, word) })
		if len(kept) == len(lines) {
			return "", fmt.Errorf("no line has %q", word)
		}
		lines = kept
	}
	return strings.Join(lines, ""), nil
}

// copyModule downloads a module and copies it.
func copyModule(ctx context.Context, directory, module, to string) error {
	out, err := command(ctx, directory, "mod", "download", "-json", module)
	if err != nil {
		return fmt.Errorf("download %s: %w: %s", module, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return fmt.Errorf("download %s: %w", module, err)
	}
	if err := os.CopyFS(to, os.DirFS(downloaded.Dir)); err != nil {
		return fmt.Errorf("copy %s: %w", module, err)
	}
	return nil
}

// command runs the go command in a directory, without the user's settings that would change which modules it uses. It
// returns the standard output, or everything written if the command fails.
func command(ctx context.Context, directory string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		out = append(out, stderr.String()...)
	}
	return out, err
}

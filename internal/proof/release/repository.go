package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// repository is a Git repository with a work tree.
type repository struct{ dir string }

// git runs git, and returns what it prints.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return out.String(), nil
}

// ready returns an error if the version is not valid, or if the state of the repository does not allow a release of
// it.
func (r repository) ready(ctx context.Context, version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version || semver.Build(version) != "" {
		return fmt.Errorf("the version must be vMAJOR.MINOR.PATCH, got %q", version)
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree must be clean, and has changes:\n%s", changed)
	}
	if tags, err := r.git(ctx, "tag", "--list", version, "*/"+version); err != nil {
		return err
	} else if tags != "" {
		return fmt.Errorf("there are tags of %s: %s", version, strings.Join(strings.Fields(tags), ", "))
	}
	return nil
}

// lastVersion returns the greatest version of the root module whose tag is on the present commit or on an ancestor of
// it; empty if there is none.
func (r repository) lastVersion(ctx context.Context) (last string, err error) {
	tags, err := r.git(ctx, "tag", "--list", "v*", "--merged", "HEAD")
	for _, tag := range strings.Fields(tags) {
		if semver.IsValid(tag) && (last == "" || semver.Compare(tag, last) > 0) {
			last = tag
		}
	}
	return last, err
}

// release makes the commit and the tags of a version, and returns the modules, the root first.
func (r repository) release(ctx context.Context, version string, on time.Time) ([]publicModule, error) {
	modules, err := r.modules(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.dir, "CHANGELOG.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	dated, err := date(string(text), version, on)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, []byte(dated), 0o644); err != nil {
		return nil, err
	}
	for _, m := range modules {
		if err := r.require(m, modules, version); err != nil {
			return nil, err
		}
	}
	if _, err := r.git(ctx, "commit", "-q", "-a", "-m", "release: "+version); err != nil {
		return nil, err
	}
	for _, m := range modules {
		if _, err := r.git(ctx, "tag", "-a", m.tag(version), "-m", m.path+" "+version); err != nil {
			return nil, err
		}
	}
	return modules, nil
}

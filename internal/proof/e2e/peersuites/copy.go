package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is the module with the suites.
const module = "sigs.k8s.io/controller-runtime"

// The one line of a suite that the copy changes. The package has the original's name.
const (
	original    = `"` + module + `/pkg/envtest"`
	replacement = `envtest "` + module + `/bowline"`
)

// prepare makes the copy: controller-runtime as it was released, with this repository among its modules, and with
// another server in its suites or, if ours is set, another cache.
func prepare(ctx context.Context, directory string, ours bool) error {
	out, err := command(ctx, directory, "mod", "download", "-json", module+"@"+release)
	if err != nil {
		return fmt.Errorf("download %s: %w: %s", module, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return fmt.Errorf("download %s: %w", module, err)
	}
	if err := os.CopyFS(directory, os.DirFS(downloaded.Dir)); err != nil {
		return fmt.Errorf("copy %s: %w", module, err)
	}
	if ours {
		if err := replaceCache(directory); err != nil {
			return err
		}
	} else if err := replaceServer(directory); err != nil {
		return err
	}
	repository, err := command(ctx, ".", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "github.com/bowline-go/bowline")
	if err != nil {
		return fmt.Errorf("find this repository (peersuites runs in module internal/proof/e2e): %w: %s", err, repository)
	}
	root := strings.TrimSpace(string(repository))
	edits := []string{"mod", "edit", "-require=github.com/bowline-go/bowline@v0.0.0", "-replace=github.com/bowline-go/bowline=" + root}
	if ours {
		edits = append(edits, "-require="+ourCache+"@v0.0.0", "-replace="+ourCache+"="+filepath.Join(root, "informer", "ctrlcache"))
	}
	out, err = command(ctx, directory, edits...)
	if err != nil {
		return fmt.Errorf("add this repository to the copy: %w: %s", err, out)
	}
	return nil
}

// replaceServer adds the package that stands in for envtest to the copy, and imports it in the suites.
func replaceServer(directory string) error {
	if err := os.Mkdir(filepath.Join(directory, "bowline"), 0o755); err != nil {
		return fmt.Errorf("copy the environment: %w", err)
	}
	if err := os.WriteFile(filepath.Join(directory, "bowline", "environment.go"), []byte(environment), 0o644); err != nil {
		return fmt.Errorf("copy the environment: %w", err)
	}
	for _, s := range suites {
		if err := s.replaceServer(directory); err != nil {
			return err
		}
	}
	return nil
}

// replaceServer changes the import of the suite in the copy.
func (s suite) replaceServer(directory string) error {
	path := filepath.Join(directory, filepath.FromSlash(s.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), original); n != 1 {
		return fmt.Errorf("%s must import %s once, and does %d times", s.file, original, n)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), original, replacement, 1)), 0o644)
}

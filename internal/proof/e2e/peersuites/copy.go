package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// project is a released module whose suites run here, with the modules of its go.mod and those of this repository.
type project struct {
	name, module, release string
	edits                 []edit // of the file in each suite that starts the server
}

// edit replaces the text old by new in the copy of a file.
type edit struct{ old, new string }

// projects are those whose suites run with clienttest.
func projects() []project {
	const (
		runtime = "sigs.k8s.io/controller-runtime"
		manager = "github.com/cert-manager/trust-manager"
		envtest = `"` + runtime + `/pkg/envtest"`
	)
	return []project{
		{"controller-runtime", runtime, runtimeRelease, []edit{{envtest, `envtest "` + runtime + `/bowline"`}}},
		// An operator. Its suites install its definitions and its webhooks with the original envtest.
		{"trust-manager", manager, "v0.25.0", []edit{
			{envtest, envtest + "\n\tbowline \"" + manager + `/bowline"`},
			{"UseExistingCluster: new(false),", "UseExistingCluster: new(true), Config: bowline.Config(),"},
		}},
	}
}

// The modules of this repository that a copy uses.
const (
	repository = "github.com/bowline-go/bowline"
	celModule  = repository + "/client/clienttest/cel"
	ourCache   = repository + "/informer/ctrlcache"
)

// prepare makes the copy: a project as it was released, with this repository among its modules, and with another server
// in its suites or, if ours is set, another cache.
func (p project) prepare(ctx context.Context, directory string, ours bool, suites []suite) error {
	out, err := command(ctx, directory, "mod", "download", "-json", p.module+"@"+p.release)
	if err != nil {
		return fmt.Errorf("download %s: %w: %s", p.module, err, out)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return fmt.Errorf("download %s: %w", p.module, err)
	}
	if err := os.CopyFS(directory, os.DirFS(downloaded.Dir)); err != nil {
		return fmt.Errorf("copy %s: %w", p.module, err)
	}
	if ours {
		err = replaceCache(directory)
	} else {
		err = p.replaceServer(directory, suites)
	}
	if err != nil {
		return err
	}
	found, err := command(ctx, ".", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", repository)
	if err != nil {
		return fmt.Errorf("find this repository (peersuites runs in module internal/proof/e2e): %w: %s", err, found)
	}
	edits := []string{"mod", "edit"}
	for _, module := range []string{repository, celModule, ourCache} {
		within := filepath.Join(strings.TrimSpace(string(found)), filepath.FromSlash(strings.TrimPrefix(module, repository)))
		edits = append(edits, "-require="+module+"@v0.0.0", "-replace="+module+"="+within)
	}
	if out, err = command(ctx, directory, edits...); err != nil {
		return fmt.Errorf("add this repository to the copy: %w: %s", err, out)
	}
	return nil
}

// replaceServer adds the package that starts clienttest to the copy, and makes the suites use it.
func (p project) replaceServer(directory string, suites []suite) error {
	if err := os.Mkdir(filepath.Join(directory, "bowline"), 0o755); err != nil {
		return fmt.Errorf("copy the environment: %w", err)
	}
	if err := os.WriteFile(filepath.Join(directory, "bowline", "environment.go"), []byte(environment), 0o644); err != nil {
		return fmt.Errorf("copy the environment: %w", err)
	}
	for _, s := range suites {
		if err := p.change(filepath.Join(directory, filepath.FromSlash(s.file))); err != nil {
			return err
		}
	}
	return nil
}

// change changes a file in the copy.
func (p project) change(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := string(text)
	for _, e := range p.edits {
		if n := strings.Count(changed, e.old); n != 1 {
			return fmt.Errorf("%s must have %s once, and has it %d times", path, e.old, n)
		}
		changed = strings.Replace(changed, e.old, e.new, 1)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

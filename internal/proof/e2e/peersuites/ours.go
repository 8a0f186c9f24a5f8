package main

import (
	"context"
	_ "embed" // for the exceptions
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// With -ctrlcache the suites run with the cache of informer/ctrlcache, and their server is a real kube-apiserver,
// which the original envtest starts. The copy differs from the original in the constructor only.

//go:embed exceptions-ctrlcache.txt
var cacheExceptions string

// cached are the suites in which a cache matters, with the files that make one.
var cached = []suite{
	{"controller-runtime", "cache", "./pkg/cache", "pkg/cache/cache_suite_test.go", "TestSource"},
	{"controller-runtime", "client", "./pkg/client", "pkg/client/client_suite_test.go", "TestClient"},
	{"controller-runtime", "builder", "./pkg/builder", "pkg/builder/builder_suite_test.go", "TestBuilder"},
	{"controller-runtime", "controller", "./pkg/controller", "pkg/controller/controller_suite_test.go", "TestSource"},
}

// makers are the files that call the constructor: tests, and the one that managers take their default from.
var makers = []string{
	"pkg/cache/cache_test.go", "pkg/cache/informer_cache_test.go", "pkg/client/consistency_envtest_test.go",
	"pkg/builder/controller_test.go", "pkg/cluster/cluster.go",
}

const theirCache = `"sigs.k8s.io/controller-runtime/pkg/cache"`

// replaceCache replaces the constructor in the copy.
func replaceCache(directory string) error {
	constructor := regexp.MustCompile(`\bcache\.New\b`)
	for _, file := range makers {
		path := filepath.Join(directory, filepath.FromSlash(file))
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), theirCache); n != 1 || !constructor.Match(text) {
			return fmt.Errorf("%s must import %s once and call its New, and imports it %d times", file, theirCache, n)
		}
		changed := constructor.ReplaceAllString(string(text), "ctrlcache.New")
		changed = strings.Replace(changed, theirCache, theirCache+"\n\t\""+ourCache+"\"", 1)
		if !regexp.MustCompile(`\bcache\.`).MatchString(strings.ReplaceAll(changed, "ctrlcache.", "")) {
			changed = strings.Replace(changed, theirCache+"\n\t", "", 1) // nothing else of it is used
		}
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// servers are the commands that envtest starts.
var servers = []string{"etcd", "kube-apiserver"}

// serverAssets returns the directory for envtest's variable KUBEBUILDER_ASSETS.
//
// A server of package build ends when its standard input ends, and envtest gives it none. So envtest starts a script,
// which opens a named pipe for reading and writing as the input of the server: such an input never ends. envtest stops
// the servers itself.
func serverAssets(ctx context.Context, directory string) (string, error) {
	assets, err := os.MkdirTemp(directory, "bowline-assets-")
	if err != nil {
		return "", err
	}
	input := filepath.Join(assets, "input")
	if out, err := exec.CommandContext(ctx, "mkfifo", input).CombinedOutput(); err != nil {
		return "", fmt.Errorf("make a named pipe: %w: %s", err, out)
	}
	built, err := build.Programs(ctx, "", servers, os.Stderr)
	if err != nil {
		return "", err
	}
	for _, name := range servers {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\" 0<>'%s'\n", build.Path(built, name), input)
		if err := os.WriteFile(filepath.Join(assets, name), []byte(script), 0o755); err != nil {
			return "", err
		}
	}
	return assets, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
)

// consume builds the programs of folder testdata as users do: each in a folder outside of the repository, with the
// packed modules from a proxy. It vets and runs them. At the end consume removes the packed modules from the module
// cache.
func consume(ctx context.Context, repository, dir, proxy, version string, modules []publicModule) (err error) {
	env, cache, err := environment(ctx, proxy, modules)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, forget(cache, version, modules)) }()
	here := filepath.Join(repository, "internal", "proof", "release", "testdata")
	programs, err := os.ReadDir(here)
	if err != nil {
		return err
	}
	// README.md has the same text.
	sources := map[string]string{"readme": filepath.Join(repository, "examples", "controller", "main.go")}
	for _, p := range programs {
		sources[p.Name()] = filepath.Join(here, p.Name(), "main.go")
	}
	used := map[string]bool{}
	for name, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		in := filepath.Join(dir, name)
		if err := os.MkdirAll(in, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(in, "main.go"), text, 0o644); err != nil {
			return err
		}
		steps := [][]string{{"mod", "init", "example.org/" + name}, {"mod", "tidy"}, {"vet", "."}, {"build", "-o", "program", "."}}
		for _, args := range steps {
			if out, err := output(ctx, in, env, "go", args...); err != nil {
				return fmt.Errorf("as a user, program %s: %w\n%s", name, err, out)
			}
		}
		mod, err := os.ReadFile(filepath.Join(in, "go.mod"))
		if err != nil {
			return err
		}
		for _, m := range modules {
			used[m.path] = used[m.path] || strings.Contains(string(mod), m.path+" "+version+"\n")
		}
		if name == "readme" { // runs until a signal, on a cluster
			continue
		}
		out, err := output(ctx, in, env, "./program")
		if err != nil || !strings.HasSuffix(out, "ok\n") {
			return fmt.Errorf("as a user, program %s: %v, and it says\n%s", name, err, out)
		}
		if name == "metrics" && !strings.Contains(out, "version "+version+"\n") {
			return fmt.Errorf("as a user, program %s does not say that it has version %s: it says\n%s", name, version, out)
		}
		fmt.Fprintf(os.Stderr, "as a user, program %s: ok\n", name)
	}
	for _, m := range modules {
		if !used[m.path] {
			return fmt.Errorf("no program of a user requires %s %s", m.path, version)
		}
	}
	return nil
}

// environment returns the environment in which the programs are built, and the folder of the module cache. In this
// environment, the packed modules come from proxy, and all others from the usual proxies.
func environment(ctx context.Context, proxy string, modules []publicModule) (env []string, cache string, err error) {
	out, err := output(ctx, ".", os.Environ(), "go", "env", "GOMODCACHE", "GOPROXY", "GONOSUMDB")
	if err != nil {
		return nil, "", err
	}
	lines := strings.Split(out, "\n")
	cache, proxies, unsummed := lines[0], lines[1], lines[2]
	for _, m := range modules {
		unsummed += "," + m.path
	}
	return append(os.Environ(), "GOFLAGS=-modcacherw", "GOWORK=off", "GOPRIVATE=",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+","+proxies, "GONOSUMDB="+strings.TrimPrefix(unsummed, ",")), cache, nil
}

// forget removes a version of the modules from the module cache.
func forget(cache, version string, modules []publicModule) error {
	var errs []error
	for _, m := range modules {
		name, err := module.EscapePath(m.path)
		if err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(cache, "cache", "download", filepath.FromSlash(name), "@v", version+".*"))
		errs = append(errs, err)
		for _, file := range append(files, filepath.Join(cache, filepath.FromSlash(name)+"@"+version)) {
			errs = append(errs, os.RemoveAll(file))
		}
	}
	return errors.Join(errs...)
}

// output runs a command, and returns all that it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), err
}

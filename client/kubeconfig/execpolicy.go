package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// validate returns why o is invalid. It checks the lists even if no plugin is in use: a mistake in them makes the
// program less safe than its author thinks.
func (o Plugins) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("kubeconfig.Options: Plugins."+format, args...)
	}
	switch {
	case !o.Restricted && o.Allowed != nil:
		return bad("Allowed must be nil unless Restricted is set")
	case !o.Restricted && o.AllowedEnv != nil:
		return bad("AllowedEnv must be nil unless Restricted is set")
	case o.Timeout < 0:
		return bad("Timeout must not be negative, got %v", o.Timeout)
	}
	for i, entry := range o.Allowed {
		switch {
		case entry == "" || entry == "." || entry == "..":
			return bad("Allowed[%d] must be a name or an absolute path, got %q", i, entry)
		case isBare(entry):
		case !filepath.IsAbs(entry) || filepath.Clean(entry) != entry:
			return bad("Allowed[%d] must be a name or a clean absolute path, got %q", i, entry)
		}
	}
	for i, name := range o.AllowedEnv {
		if name == "" || strings.ContainsAny(name, "=\x00*") {
			return bad("AllowedEnv[%d] must be the name of a variable, got %q", i, name)
		}
	}
	return nil
}

// refused is the reason why a plugin may not run.
type refused string

func (r refused) Error() string { return string(r) }

func (r refused) Is(target error) bool { return target == fs.ErrPermission }

func notListed(command string) error {
	return refused(fmt.Sprintf("is not allowed: Options.Plugins.Allowed has no %q", command))
}

// permits returns why a command may never run, without looking at the file system.
func (o Plugins) permits(command string) error {
	if !o.Restricted || slices.ContainsFunc(o.Allowed, func(entry string) bool {
		return entry == command || isBare(entry) != isBare(command) && program(entry) == program(command)
	}) {
		return nil
	}
	return notListed(command)
}

// permitsEnv returns why a kubeconfig may not set a variable of this name for a plugin.
func (o Plugins) permitsEnv(name string) error {
	if !o.Restricted || slices.ContainsFunc(o.AllowedEnv, func(entry string) bool {
		return entry == name || runtime.GOOS == "windows" && strings.EqualFold(entry, name)
	}) {
		return nil
	}
	return refused(fmt.Sprintf("%q is not allowed: Options.Plugins.AllowedEnv has no such variable", name))
}

// program returns the name of a program without its folder and extension, which Windows may add, in lower case.
func program(path string) string {
	base := filepath.Base(path)
	return strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
}

// allows returns why the file at a clean absolute path may not run now.
func (o Plugins) allows(path string) error {
	if !o.Restricted {
		return nil
	}
	for _, entry := range o.Allowed {
		if isBare(entry) {
			found, err := find(entry)
			if err != nil {
				continue
			}
			entry = found
		}
		if entry == path {
			return nil
		}
	}
	return notListed(path)
}

// find returns the absolute path of a command, which is a name or an absolute path. It looks for a name in the absolute
// folders of PATH, so never in the current directory.
func find(command string) (string, error) {
	path, err := exec.LookPath(command)
	switch {
	case errors.Is(err, exec.ErrDot) || (err == nil && !filepath.IsAbs(path)):
		return "", errRelative
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("not in PATH: %w", exec.ErrNotFound)
	case err != nil:
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return "", withoutPath(err)
	}
	return filepath.Clean(path), nil
}

var errRelative = refused("is in a relative folder of PATH or in the current directory, from which no plugin is run; use an absolute path")

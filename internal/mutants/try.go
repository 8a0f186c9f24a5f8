package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	invalid  verdict = "invalid" // does not compile
)

// testTimeout is how long the tests of one package may take. A mutant that makes them hang is killed by it.
const testTimeout = 2 * time.Minute

// memory is how much address space a test may take, in KiB: a mutant may well allocate without end.
const memory = 12 << 20

// trier compiles mutants and runs tests against them. The zero value of its files is the code as it is.
type trier struct {
	root string // the module's folder
	tmp  string // a folder of its own
}

// try says what the tests of a package and of those above it make of a mutant, and which test killed it.
func (t trier) try(ctx context.Context, m mutant, packages []string) (verdict, string, error) {
	name := filepath.Join(t.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(name)
	if err != nil {
		return "", "", err
	}
	changed := filepath.Join(t.tmp, "mutant.go")
	if err := os.WriteFile(changed, m.apply(text), 0o600); err != nil {
		return "", "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(t.overlay(), overlay, 0o600); err != nil {
		return "", "", err
	}
	for i, p := range packages {
		why, err := t.test(ctx, p)
		var compile *compileError
		switch {
		case i == 0 && errors.As(err, &compile):
			return invalid, "", nil
		case err != nil:
			return "", "", err
		case why != "":
			return killed, why, nil
		}
	}
	return survived, "", nil
}

func (t trier) overlay() string { return filepath.Join(t.tmp, "overlay.json") }

// compileError is the compiler's, and not one of the go command.
type compileError struct{ output string }

func (e *compileError) Error() string { return "does not compile:\n" + e.output }

// test runs a package's tests and returns the name of one that fails, or another reason why the tests fail.
func (t trier) test(ctx context.Context, pkg string) (string, error) {
	binary := filepath.Join(t.tmp, "tests")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", t.overlay(), "-o", binary, "./"+pkg)
	build.Dir = t.root
	if out, err := build.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &compileError{string(out)}
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout+30*time.Second) // the binary ends by itself before
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory),
		binary, "-test.failfast", "-test.timeout="+testTimeout.String())
	run.Dir = filepath.Join(t.root, filepath.FromSlash(pkg))
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &exit):
		return reason(string(out)), nil
	}
	return "", err
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// reason finds in a test's output what made it fail: the test that failed, or the way in which all of them ended.
func reason(out string) string {
	name := ""
	if all := failed.FindAllStringSubmatch(out, -1); len(all) > 0 {
		name = all[len(all)-1][1] // the innermost subtest is printed last
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "panic: test timed out") {
			return strings.TrimSpace("hangs " + name)
		}
	}
	if name != "" {
		return name
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return "fails"
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	invalid  verdict = "invalid" // does not compile
)

// memory is how much address space a test may take, in KiB: a mutant may well allocate without end.
const memory = 12 << 20

// suite is the tests of one package, compiled against a bundle.
type suite struct {
	pkg, binary string
	patience    time.Duration // how long they may take: many times what they take without a mutant
}

// trier runs the tests of a package, and of those above it, against the mutants of a bundle.
type trier struct {
	b      bundle
	suites []suite
	flags  []string // of the tests
}

// newTrier compiles a package with the mutants in it, and its tests and those of the packages above it. All of them
// must pass while no mutant is on. flags are given to the tests.
func newTrier(ctx context.Context, root, tmp string, g target, mutants []mutant, flags []string) (*trier, error) {
	t := &trier{b: bundle{root: root, dir: g.dir, tmp: tmp, mutants: mutants}, flags: flags}
	if err := t.b.settle(ctx); err != nil {
		return nil, err
	}
	for i, pkg := range append([]string{g.dir}, g.also...) {
		s := suite{pkg: pkg, binary: filepath.Join(tmp, "tests"+strconv.Itoa(i)), patience: 10 * time.Minute}
		// An old file would hide that the package has no tests.
		if err := os.Remove(s.binary); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := t.compile(ctx, pkg, t.b.overlay(), s.binary); err != nil {
			return nil, err
		}
		if _, err := os.Stat(s.binary); errors.Is(err, fs.ErrNotExist) {
			continue // it has no tests; the packages above it have them
		}
		began := time.Now()
		why, err := t.run(ctx, s, 0)
		if err != nil {
			return nil, err
		}
		if why != "" {
			return nil, &baselineError{pkg, why}
		}
		s.patience = 10*time.Second + 5*time.Since(began)
		t.suites = append(t.suites, s)
	}
	if len(t.suites) == 0 {
		return nil, fmt.Errorf("neither %s nor a package above it has tests", g.dir)
	}
	return t, nil
}

// baselineError says that the tests of a package fail while no mutant is on.
type baselineError struct{ pkg, why string }

func (e *baselineError) Error() string {
	return fmt.Sprintf("the tests of %s do not pass without a mutant: %s", e.pkg, e.why)
}

// try runs the tests against the mutant with this number, and returns the verdict and the test that killed it. Several
// mutants may be tried at once.
func (t *trier) try(ctx context.Context, id int) (verdict, string, error) {
	alone := t.b.out[id]
	for i, s := range t.suites {
		if alone {
			s.binary = filepath.Join(t.b.tmp, "alone"+strconv.Itoa(id))
			err := t.compileAlone(ctx, t.b.mutants[id-1], s)
			defer func() { _ = os.Remove(s.binary) }() // the folder goes at the end
			var compile *compileError
			switch {
			case i == 0 && errors.As(err, &compile):
				return invalid, "", nil
			case err != nil:
				return "", "", err
			}
		}
		switch why, err := t.run(ctx, s, id); {
		case err != nil:
			return "", "", err
		case why != "":
			return killed, why, nil
		}
	}
	return survived, "", nil
}

// compileAlone compiles the tests of s against a mutant that the bundle cannot hold, such as one of a constant.
func (t *trier) compileAlone(ctx context.Context, m mutant, s suite) error {
	name := filepath.Join(t.b.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	changed := s.binary + ".go"
	if err := os.WriteFile(changed, m.apply(text), 0o600); err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
	if err != nil {
		return err
	}
	file := s.binary + ".json"
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	return t.compile(ctx, s.pkg, file, s.binary)
}

// compileError says that tests do not compile. output is that of the go command.
type compileError struct{ output string }

func (e *compileError) Error() string { return "does not compile:\n" + e.output }

func (t *trier) compile(ctx context.Context, pkg, overlay, binary string) error {
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".")
	build.Dir = filepath.Join(t.b.root, filepath.FromSlash(pkg)) // which may belong to a nested module
	out, err := build.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &compileError{string(out)}
	}
	return nil
}

// run runs tests while a mutant is on, and returns the name of a test that fails, or another reason why they fail.
// They run in the folder of their package, as with go test.
func (t *trier) run(ctx context.Context, s suite, id int) (string, error) {
	bound, cancel := context.WithTimeout(ctx, s.patience+30*time.Second) // the flag -test.timeout ends them earlier
	defer cancel()
	args := []string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory), s.binary, "-test.failfast", "-test.timeout=" + s.patience.String()}
	run := exec.CommandContext(bound, "sh", append(args, t.flags...)...)
	run.Dir = filepath.Join(t.b.root, filepath.FromSlash(s.pkg))
	run.Env = append(os.Environ(), variable+"="+strconv.Itoa(id))
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
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
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, "panic: test timed out") {
			return strings.TrimSpace("hangs " + name)
		}
	}
	if name != "" {
		return name
	}
	for line := range strings.SplitSeq(out, "\n") {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return "fails"
}

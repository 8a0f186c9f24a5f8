package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// suite is a package of tests that share a server.
type suite struct {
	of   string // the project
	name string
	path string // of the package, in the module
	file string // that starts the server
	test string // the Go test that runs the specs
}

var suites = []suite{
	{"controller-runtime", "client", "./pkg/client", "pkg/client/client_suite_test.go", "TestClient"},
	{"controller-runtime", "cache", "./pkg/cache", "pkg/cache/cache_suite_test.go", "TestSource"},
	{"trust-manager", "bundle", "./test/integration/bundle", "test/integration/bundle/env.go", "Test_Integration"},
	{"trust-manager", "clusterbundle", "./test/integration/clusterbundle", "test/integration/clusterbundle/env.go", "Test_Integration"},
}

// spec is the result of one of Ginkgo's specs.
type spec struct {
	name  string // the suite's name, and then the texts of the spec's containers and its own
	state string // passed, failed, panicked, timedout, interrupted, aborted, skipped or pending
	why   string // it failed, and where
}

func (s spec) passed() bool { return s.state == "passed" }

// ran is false for a spec that the suite leaves out.
func (s spec) ran() bool { return s.state != "skipped" && s.state != "pending" }

// run runs the suite in the copy and returns its specs. Failed specs are not an error.
func (s suite) run(ctx context.Context, directory string, env []string, focus string) ([]spec, error) {
	path := filepath.Join(directory, s.name+"-report.json")
	out, testErr := commandWith(ctx, directory, env, "test", "-vet=off", "-count=1", "-timeout=20m", "-run=^"+s.test+"$", s.path,
		"-ginkgo.no-color", "-ginkgo.json-report="+path, "-ginkgo.focus="+focus)
	if ctx.Err() != nil {
		return nil, testErr
	}
	text, err := os.ReadFile(path)
	if err != nil { // it does not compile, or the process was killed
		return nil, fmt.Errorf("%w, and there is no report: %s", testErr, out)
	}
	specs, err := parse(s.name, text)
	if err != nil {
		return nil, fmt.Errorf("read the report: %w", err)
	}
	if testErr == nil {
		return specs, nil
	}
	for _, spec := range specs {
		if spec.ran() && !spec.passed() {
			return specs, nil
		}
	}
	return nil, fmt.Errorf("%w, although no spec failed: %s", testErr, out)
}

// parse reads a report of Ginkgo. It includes a step before or after all specs only if that step failed.
func parse(suite string, text []byte) ([]spec, error) {
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts []string
			LeafNodeType            string
			LeafNodeText            string
			State                   string
			Failure                 struct {
				Message  string
				Location struct {
					FileName   string
					LineNumber int
				}
			}
		}
	}
	if err := json.Unmarshal(text, &reports); err != nil {
		return nil, err
	}
	var specs []spec
	for _, report := range reports {
		for _, r := range report.SpecReports {
			if r.LeafNodeType != "It" && r.State == "passed" {
				continue
			}
			texts := append(r.ContainerHierarchyTexts, r.LeafNodeText)
			if r.LeafNodeText == "" {
				texts = append(texts, r.LeafNodeType)
			}
			s := spec{name: suite + ": " + strings.Join(strings.Fields(strings.Join(texts, " ")), " "), state: r.State}
			if r.Failure.Message != "" {
				where := r.Failure.Location
				s.why = fmt.Sprintf("%s:%d: %s", filepath.Base(where.FileName), where.LineNumber, r.Failure.Message)
			}
			specs = append(specs, s)
		}
	}
	if len(specs) == 0 {
		return nil, fmt.Errorf("it has no specs")
	}
	return specs, nil
}

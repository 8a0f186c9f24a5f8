package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/e2e/exception"
)

const sample = `[{"SpecReports": [
	{"LeafNodeType": "BeforeSuite", "State": "passed"},
	{"ContainerHierarchyTexts": ["Client", "Create"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "passed"},
	{"ContainerHierarchyTexts": ["Client"], "LeafNodeType": "It", "LeafNodeText": "fails", "State": "failed",
		"Failure": {"Message": "no\nreason", "Location": {"FileName": "/copy/pkg/client/a_test.go", "LineNumber": 7}}},
	{"ContainerHierarchyTexts": ["Client"], "LeafNodeType": "It", "LeafNodeText": "waits", "State": "pending"},
	{"LeafNodeType": "AfterSuite", "State": "panicked"}
]}]`

func TestAReportIsReadWithTheFailuresOutsideOfSpecs(t *testing.T) {
	got, err := parse("client", []byte(sample))
	want := []spec{
		{"client: Client Create works", "passed", ""},
		{"client: Client fails", "failed", "a_test.go:7: no\nreason"},
		{"client: Client waits", "pending", ""},
		{"client: AfterSuite", "panicked", ""},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := parse("client", []byte(`[{}]`)); err == nil {
		t.Error("a report without specs is accepted")
	}
}

func TestTheResultNamesEachFailureAndItsException(t *testing.T) {
	specs, err := parse("client", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	report(&out, "client", specs, exception.List{"client: Client fails": "for a reason"})
	want := "client: 1 of 3 specs passed, 1 were skipped\n\nfailed client: Client fails\n    a_test.go:7: no\n    reason\n" +
		"  exception: for a reason\n\npanicked client: AfterSuite\n    \n\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestOnlyTheStartOfTheServerIsReplaced(t *testing.T) {
	for _, p := range projects() {
		path := filepath.Join(t.TempDir(), "a_test.go")
		before, want := "package a\n", "package a\n"
		for _, e := range p.edits {
			before, want = before+e.old+"\n", want+e.new+"\n"
		}
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.change(path); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(after) != want {
			t.Errorf("%s: got %q, %v; want %q", p.name, after, err, want)
		}
		if err := os.WriteFile(path, []byte(before+before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.change(path); err == nil {
			t.Errorf("%s: a suite that starts two servers is accepted", p.name)
		}
	}
}

func TestEachSuiteIsOfAProject(t *testing.T) {
	for _, s := range slices.Concat(suites, cached) {
		if !slices.ContainsFunc(projects(), func(p project) bool { return p.name == s.of }) {
			t.Errorf("the suite %s is of %q, which is no project", s.name, s.of)
		}
	}
}

func TestTheExceptionsCanBeRead(t *testing.T) {
	if _, err := exception.Parse(exceptions); err != nil {
		t.Error(err)
	}
}

func TestOnlyTheConstructorOfTheCacheIsReplaced(t *testing.T) {
	directory := t.TempDir()
	write := func(file, text string) string {
		t.Helper()
		path := filepath.Join(directory, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before := "import (\n\t" + theirCache + "\n)\n\nvar f cache.NewCacheFunc = cache.New\nvar c = wrap(cache.New(cfg, cache.Options{}))\n"
	var paths []string
	for _, file := range makers {
		paths = append(paths, write(file, before))
	}
	lone := write(makers[0], "import (\n\t"+theirCache+"\n)\n\nvar f = cache.New\n")
	if err := replaceCache(directory); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths[1:] {
		after, err := os.ReadFile(path)
		want := "import (\n\t" + theirCache + "\n\t\"" + ourCache + "\"\n)\n\n" +
			"var f cache.NewCacheFunc = ctrlcache.New\nvar c = wrap(ctrlcache.New(cfg, cache.Options{}))\n"
		if err != nil || string(after) != want {
			t.Errorf("%s: got %q, %v; want %q", path, after, err, want)
		}
	}
	after, err := os.ReadFile(lone)
	if want := "import (\n\t\"" + ourCache + "\"\n)\n\nvar f = ctrlcache.New\n"; err != nil || string(after) != want {
		t.Errorf("a file that needs the original for nothing else: got %q, %v; want %q", after, err, want)
	}
	if err := replaceCache(directory); err == nil {
		t.Error("a file that calls no constructor is accepted")
	}
	if _, err := exception.Parse(cacheExceptions); err != nil {
		t.Error(err)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/e2e/exception"
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

func TestOnlyTheImportOfTheServerIsReplaced(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a_test.go")
	s := suite{file: "a_test.go"}
	before := "import (\n\t\"testing\"\n\n\t" + original + "\n)\n\nvar e envtest.Environment\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.replaceServer(directory); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if want := strings.Replace(before, original, replacement, 1); err != nil || string(after) != want {
		t.Errorf("got %q, %v; want %q", after, err, want)
	}
	if err := s.replaceServer(directory); err == nil {
		t.Error("a suite that does not import envtest is accepted")
	}
}

func TestTheExceptionsCanBeRead(t *testing.T) {
	if _, err := exception.Parse(exceptions); err != nil {
		t.Error(err)
	}
}

package clienttest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// manifest is a CustomResourceDefinition of pages, in YAML, with a schema of their spec.
func manifest(spec string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: pages.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Page, plural: pages, shortNames: [pg]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}
`
}

const (
	pagesPath = "/apis/example.com/v1/namespaces/default/pages"
	crdsPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

func page(name, spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
}

// write writes a file in a new folder, and returns its name.
func write(tb testing.TB, name, text string) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

func TestDefinitionsInFilesAreServedFromTheStart(t *testing.T) {
	t.Parallel()
	file := write(t, "pages.yaml", "# a comment\n--- # another\n"+manifest(`{type: object, properties: {title: {type: string, maxLength: 3}}}`)+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	folder := filepath.Dir(file)
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "inner.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, folder} {
		h := newHarness(t, clienttest.Options{CRDs: []string{path}})
		h.must(t, http.MethodPost, pagesPath, page("a", `{"title":"abc"}`))
		if a := h.do(t, http.MethodPost, pagesPath, page("b", `{"title":"long"}`)); a.code != http.StatusUnprocessableEntity {
			t.Errorf("a page that the schema does not allow is answered with %d", a.code)
		}
		if names := at(h.must(t, http.MethodGet, crdsPath+"/pages.example.com", ""), "status", "acceptedNames"); !strings.Contains(names, `"listKind":"PageList"`) {
			t.Errorf("the accepted names are %s", names)
		}
	}
}

func TestFilesWithoutValidDefinitionsAreRefused(t *testing.T) {
	t.Parallel()
	good := manifest(`{type: object}`)
	file := func(text string) string { return write(t, "pages.yaml", text) }
	other := file("kind: ConfigMap\n")
	for _, test := range []struct {
		paths []string
		want  string
	}{
		{[]string{filepath.Join(t.TempDir(), "missing.yaml")}, "missing.yaml: no such file"},
		{[]string{other}, "has no CustomResourceDefinition of apiextensions.k8s.io/v1"},
		{[]string{filepath.Dir(other)}, "has no CustomResourceDefinition of apiextensions.k8s.io/v1"},
		{[]string{file("kind: [")}, "pages.yaml: yaml: "},
		{
			[]string{file(strings.Replace(good, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1))},
			"CustomResourceDefinition pages.example.com: the apiVersion must be apiextensions.k8s.io/v1, got apiextensions.k8s.io/v1beta1",
		},
		{[]string{file(strings.Replace(good, "served: true", "served: 1", 1))}, "cannot unmarshal number"},
		{
			[]string{file(strings.Replace(good, "storage: true", "storage: true\n    additionalPrinterColumn: []", 1))},
			`unknown field "spec.versions[0].additionalPrinterColumn"`,
		},
		{[]string{file(strings.Replace(good, "scope: Namespaced", "scope: Everywhere", 1))}, `spec.scope: Unsupported value: "Everywhere"`},
		{[]string{file(good), file(good)}, `customresourcedefinitions.apiextensions.k8s.io "pages.example.com" already exists`},
		{[]string{file(manifest(`{type: object, x-kubernetes-validations: [{rule: "true"}]}`))}, "set Options.Rules to a value of package client/clienttest/cel"},
	} {
		err := clienttest.New(clienttest.Options{CRDs: test.paths}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "clienttest.Options: CRDs: ") {
			t.Errorf("the error is %v, want %s in it", err, test.want)
		}
	}
}

// rules is a Rules that has one rule: a title must not be "no", and a page must keep its title.
type rules struct{ compiled []string }

func (r *rules) CheckDefinition(_ context.Context, definition, _ json.RawMessage) []meta.StatusCause {
	if strings.Contains(string(definition), `"rule":"wrong"`) {
		return []meta.StatusCause{{Reason: "FieldValueInvalid", Field: "spec.versions", Message: "wrong rule"}}
	}
	return nil
}

func (r *rules) CompilePolicy(json.RawMessage) (clienttest.CompiledPolicy, []meta.StatusCause) {
	return nil, nil
}

func (r *rules) Compile(schema json.RawMessage) (clienttest.CompiledRules, error) {
	r.compiled = append(r.compiled, string(schema))
	return r, nil
}

func (r *rules) Check(_ context.Context, obj, old map[string]any) (causes []meta.StatusCause, warnings []string) {
	title := func(m map[string]any) any { spec, _ := m["spec"].(map[string]any); return spec["title"] }
	switch is := title(obj); {
	case is == "no", old != nil && is != title(old):
		return []meta.StatusCause{{Reason: "FieldValueInvalid", Field: "spec.title", Message: "by a rule"}}, nil
	case is == "odd" && old != nil:
		return nil, []string{"the title is still odd"}
	}
	return nil, nil
}

func TestRulesAreChecked(t *testing.T) {
	t.Parallel()
	const schema = `{type: object, required: [title], properties: {title: {type: string}}, x-kubernetes-validations: [{rule: "self.title != 'no'"}]}`
	r := &rules{}
	h := newHarness(t, clienttest.Options{CRDs: []string{write(t, "a.yaml", manifest(schema))}, Rules: r})
	if len(r.compiled) == 0 || !strings.Contains(r.compiled[0], "x-kubernetes-validations") {
		t.Errorf("compiled are %q, want the schema", r.compiled)
	}
	h.must(t, http.MethodPost, pagesPath, page("a", `{"title":"yes"}`))
	const merge = "application/merge-patch+json"
	for _, test := range []struct{ method, path, media, body, want string }{
		{http.MethodPost, pagesPath, "", page("b", `{"title":"no"}`), "spec.title"},
		{http.MethodPost, pagesPath, "", page("b", `{}`), "spec.title <nil>"}, // the rules are not checked
		{http.MethodPatch, pagesPath + "/a", merge, `{"spec":{"title":"other"}}`, "spec.title"},
		{http.MethodPatch, crdsPath + "/pages.example.com", merge, `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,` +
			`"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"wrong"}]}}}]}}`, "spec.versions"},
	} {
		var header []string
		if test.media != "" {
			header = []string{"Content-Type", test.media}
		}
		a := h.do(t, test.method, test.path, test.body, header...)
		var fields []string
		if d := a.status(t).Details; d != nil {
			for _, c := range d.Causes {
				fields = append(fields, c.Field)
			}
		}
		if a.code != http.StatusUnprocessableEntity || strings.Join(fields, " ") != test.want {
			t.Errorf("%s %s is answered with %d about %q, want %s", test.method, test.body, a.code, fields, test.want)
		}
	}
	h.must(t, http.MethodPost, pagesPath, page("odd", `{"title":"odd"}`))
	resp := h.open(t, http.MethodPatch, pagesPath+"/odd", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type", merge)
	if got, want := resp.Header.Get("Warning"), `299 - "the title is still odd"`; got != want {
		t.Errorf("the warning is %s, want %s", got, want)
	}
	lenient := newHarness(t, clienttest.Options{CRDs: []string{write(t, "a.yaml", manifest(schema))}, Lenient: true})
	lenient.must(t, http.MethodPost, pagesPath, page("a", `{"title":"no"}`))
}

// A registered resource gets the definition that a program creates, and keeps its objects.
func TestADefinitionTakesOverARegisteredResource(t *testing.T) {
	t.Parallel()
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}}})
	before := h.must(t, http.MethodPost, pagesPath, page("a", `{"title":"abc","more":1}`))
	h.must(t, http.MethodPost, crdsPath, manifest(`{type: object, properties: {title: {type: string}, size: {type: integer, default: 1}}}`),
		"Content-Type", "application/yaml")
	after := h.must(t, http.MethodGet, pagesPath+"/a", "")
	if spec, want := at(after, "spec"), `{"size":1,"title":"abc"}`; spec != want {
		t.Errorf("the spec is %s, want %s", spec, want)
	}
	for _, member := range []string{"uid", "resourceVersion"} {
		if was, is := at(before, "metadata", member), at(after, "metadata", member); was != is {
			t.Errorf("%s is %s, want %s", member, is, was)
		}
	}
	if err := h.server.Register(clienttest.Resource{Group: "example.com", Version: "v2", Kind: "Page", Resource: "pages"}); err == nil {
		t.Error("Register adds a version to a definition")
	}
	if err := h.server.Rollback(at(before, "metadata", "resourceVersion")); err == nil {
		t.Error("Rollback goes back to before the history of the pages")
	}
	if err := h.server.Unregister(meta.GVR{Group: "example.com", Version: "v1", Resource: "pages"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pagesPath + "/a", crdsPath + "/pages.example.com"} {
		if a := h.do(t, http.MethodGet, path, ""); a.code != http.StatusNotFound {
			t.Errorf("after Unregister %s is answered with %d", path, a.code)
		}
	}
}

func TestARollbackRestoresDefinitions(t *testing.T) {
	t.Parallel()
	h := newHarness(t, clienttest.Options{})
	h.must(t, http.MethodPost, crdsPath, manifest(`{type: object}`), "Content-Type", "application/yaml")
	defined := h.version(t)
	h.must(t, http.MethodDelete, crdsPath+"/pages.example.com", "")
	if a := h.do(t, http.MethodGet, pagesPath, ""); a.code != http.StatusNotFound {
		t.Errorf("after the deletion the answer is %d", a.code)
	}
	if err := h.server.Rollback(defined); err != nil {
		t.Fatal(err)
	}
	h.must(t, http.MethodPost, pagesPath, page("a", `{}`))
	h = newHarness(t, clienttest.Options{})
	empty := h.version(t)
	h.must(t, http.MethodPost, crdsPath, manifest(`{type: object}`), "Content-Type", "application/yaml")
	if err := h.server.Rollback(empty); err != nil {
		t.Fatal(err)
	}
	if a := h.do(t, http.MethodGet, pagesPath, ""); a.code != http.StatusNotFound {
		t.Errorf("after the rollback the answer is %d", a.code)
	}
}

// A definition that got its names only after the version of the rollback stayed served.
func TestARollbackTakesNamesAway(t *testing.T) {
	t.Parallel()
	h := newHarness(t, clienttest.Options{})
	pages := manifest(`{type: object}`)
	books := strings.NewReplacer("pages.", "books.", "plural: pages", "plural: books", "kind: Page", "kind: Book").Replace(pages)
	for _, text := range []string{pages, books} { // both want the short name pg
		h.must(t, http.MethodPost, crdsPath, text, "Content-Type", "application/yaml")
	}
	before, version := at(h.must(t, http.MethodGet, crdsPath, ""), "items"), h.version(t)
	h.must(t, http.MethodDelete, crdsPath+"/pages.example.com", "")
	path := strings.Replace(pagesPath, "pages", "books", 1)
	h.must(t, http.MethodPost, path, strings.Replace(page("a", `{}`), "Page", "Book", 1))
	if err := h.server.Rollback(version); err != nil {
		t.Fatal(err)
	}
	if after := at(h.must(t, http.MethodGet, crdsPath, ""), "items"); after != before {
		t.Errorf("after the rollback the definitions are %s, want %s", after, before)
	}
	if a := h.do(t, http.MethodGet, path, ""); a.code != http.StatusNotFound {
		t.Errorf("after the rollback the books are answered with %d", a.code)
	}
	h.must(t, http.MethodPost, pagesPath, page("a", `{}`))
}

// A watch ends when the schema changes, and its client must list again, as on a real server.
func TestAWatchEndsWhenItsDefinitionChanges(t *testing.T) {
	t.Parallel()
	h := newHarness(t, clienttest.Options{CRDs: []string{write(t, "a.yaml", manifest(`{type: object}`))}})
	h.must(t, http.MethodPost, pagesPath, page("a", `{}`))
	version := at(h.must(t, http.MethodGet, pagesPath, ""), "metadata", "resourceVersion")
	w := h.watch(t, pagesPath+"?watch=1&resourceVersion="+version)
	h.must(t, http.MethodPatch, crdsPath+"/pages.example.com", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"n":{"type":"integer","default":7}}}}}}}]}}`,
		"Content-Type", "application/merge-patch+json")
	if events, err := w.rest(); err != nil || len(events) != 0 {
		t.Errorf("the watch has %v and %v, want its end", events, err)
	}
	if a := h.do(t, http.MethodGet, pagesPath+"?watch=1&timeoutSeconds=1&resourceVersion="+version, ""); !strings.Contains(a.body, `"code":410`) {
		t.Errorf("the watch is answered with %s, want 410", a.body)
	}
	if spec := at(h.must(t, http.MethodGet, pagesPath+"/a", ""), "spec"); spec != `{"n":7}` {
		t.Errorf("the spec is %s, want the default", spec)
	}
}

// The namespace of the objects waits for all of them, in all versions.
func TestANamespaceOfCustomResourcesGoes(t *testing.T) {
	t.Parallel()
	text := strings.Replace(manifest(`{type: object}`), "  versions:\n",
		"  versions:\n  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n", 1)
	h := newHarness(t, clienttest.Options{CRDs: []string{write(t, "a.yaml", text)}})
	h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	path := strings.Replace(pagesPath, "default", "n", 1)
	h.must(t, http.MethodPost, path, page("a", `{}`))
	h.must(t, http.MethodPatch, crdsPath+"/pages.example.com", `{"spec":{"names":{"shortNames":["x"]}}}`, "Content-Type", "application/merge-patch+json")
	h.must(t, http.MethodDelete, "/api/v1/namespaces/n", "")
	for _, path := range []string{"/api/v1/namespaces/n", path + "/a", strings.Replace(path, "v1", "v2", 1) + "/a"} {
		if a := h.do(t, http.MethodGet, path, ""); a.code != http.StatusNotFound {
			t.Errorf("%s is answered with %d", path, a.code)
		}
	}
}

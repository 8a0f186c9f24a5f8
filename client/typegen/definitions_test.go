package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
	backups "github.com/bowline-go/bowline/client/typegen/testdata/backups/defined"
	certificates "github.com/bowline-go/bowline/client/typegen/testdata/certificates/defined"
	compositions "github.com/bowline-go/bowline/client/typegen/testdata/compositions/defined"
	databases "github.com/bowline-go/bowline/client/typegen/testdata/databases/defined"
	flows "github.com/bowline-go/bowline/client/typegen/testdata/flows/defined"
	functions "github.com/bowline-go/bowline/client/typegen/testdata/functions/defined"
	gateways "github.com/bowline-go/bowline/client/typegen/testdata/gateways/defined"
	lost "github.com/bowline-go/bowline/client/typegen/testdata/lost/defined"
	machines "github.com/bowline-go/bowline/client/typegen/testdata/machines/defined"
	monitors "github.com/bowline-go/bowline/client/typegen/testdata/monitors/defined"
	pages "github.com/bowline-go/bowline/client/typegen/testdata/pages/defined"
	policies "github.com/bowline-go/bowline/client/typegen/testdata/policies/defined"
	scalers "github.com/bowline-go/bowline/client/typegen/testdata/scalers/defined"
	traffic "github.com/bowline-go/bowline/client/typegen/testdata/traffic/defined"
	wordtypes "github.com/bowline-go/bowline/client/typegen/testdata/words/defined"
	zoo "github.com/bowline-go/bowline/client/typegen/testdata/zoo/defined"
)

// defined is a file with definitions whose types were written with -definitions.
type defined struct {
	file  string // in testdata if it has no folder
	of    []*crd.Definition
	types []typed
	// lost are the members that package crd has no word for, and lines the other lines that the command says.
	lost  []string
	lines int
	// others says that the types are others without what is lost.
	others bool
}

func definedFiles() map[string]defined {
	all := map[string]defined{
		"backups":      {of: crds(backups.BackupsDefinition()), types: []typed{of(backups.Backups)}},
		"certificates": {of: crds(certificates.CertsDefinition()), types: []typed{of(certificates.Certs)}},
		"compositions": {of: crds(compositions.CompositionsDefinition()), types: []typed{of(compositions.Compositions)}},
		"databases": {
			of: crds(databases.DatabasesDefinition()), types: []typed{of(databases.DatabasesV1), of(databases.DatabasesV1alpha1)},
		},
		"flows": {of: crds(flows.FlowsDefinition()), types: []typed{of(flows.Flows)}},
		"functions": {
			of: crds(functions.FunctionsDefinition(), functions.SinksDefinition()), types: []typed{of(functions.Functions), of(functions.Sinks)},
		},
		"gateways": {
			of:    crds(gateways.GatewaysDefinition(), gateways.GatewayClassesDefinition()),
			types: []typed{of(gateways.GatewaysV1), of(gateways.GatewaysV1beta1), of(gateways.GatewayClasses)},
		},
		"lost": {
			of: crds(lost.LostsDefinition()), types: []typed{of(lost.Losts)}, others: true,
			lost: []string{
				"0.spec.commas.enum", "0.spec.documented.example", "0.spec.documented.externalDocs", "0.spec.documented.title", "0.spec.either.anyOf",
				"0.spec.foreign.format", "0.spec.numeral.default", "0.spec.open.additionalProperties", "0.spec.spaces.default",
			},
			lines: 1, // the format, which crd takes for a mistake
		},
		"machines": {of: crds(machines.MachinesDefinition()), types: []typed{of(machines.MachinesV1beta1), of(machines.MachinesV1beta2)}},
		"monitors": {
			of: crds(monitors.MonitorsDefinition()), types: []typed{of(monitors.Monitors)},
			lost: []string{"0.subresources.scale"}, lines: 1, // its paths are no members, and crd says so
		},
		"pages": {file: "../../examples/operator/pages.yaml", of: crds(pages.PagesDefinition()), types: []typed{of(pages.Pages)}},
		"policies": {
			of: crds(policies.PoliciesDefinition()), types: []typed{of(policies.Policies)},
			lost: []string{"0.spec.rules[].context[].oneOf", "0.spec.rules[].match.not"},
		},
		"scalers": {of: crds(scalers.ScalersDefinition()), types: []typed{of(scalers.Scalers)}},
		"traffic": {
			of: crds(traffic.TrafficsDefinition()), types: []typed{of(traffic.Traffics)},
			lost: []string{"0.spec.http[].fault.delay.oneOf", "0.spec.http[].match[].headers[].oneOf", "0.spec.http[].match[].uri.oneOf"},
		},
		"words": {of: crds(wordtypes.WordsDefinition()), types: []typed{of(wordtypes.WordsV1), of(wordtypes.WordsV2)}},
		"zoo":   {file: "../crd/testdata/zoo.yaml", of: crds(zoo.ZoosDefinition()), types: []typed{of(zoo.Zoos)}},
	}
	for name, d := range all {
		if d.file == "" {
			d.file = "testdata/" + name + "/" + name + ".yaml"
			all[name] = d
		}
	}
	return all
}

func crds(all ...*crd.Definition) []*crd.Definition { return all }

// lines returns what the command says about a file whose definitions do not come back as they were.
func linesOf(t *testing.T, name string, d defined) {
	t.Helper()
	path := "testdata/" + name + "/defined/types.go"
	args := []string{"-definitions", "-package", "defined", "-o", path, d.file}
	if !*update {
		args = append([]string{"-check"}, args...)
	}
	var out bytes.Buffer
	if code := run(t.Context(), args, nil, io.Discard, &out); code != 0 {
		t.Fatalf("typegen %q ends with %d and says %s", args, code, out.String())
	}
	text := strings.ReplaceAll(string(must(os.ReadFile(path))(t)), "\n//", "\n")
	text = strings.Join(strings.Fields(text), " ")
	said := slices.Collect(strings.Lines(out.String()))
	if len(said) != len(d.lost)+d.lines {
		t.Errorf("%s: the command says %q, want %d lines", name, said, len(d.lost)+d.lines)
	}
	for _, line := range said {
		_, line, _ = strings.Cut(strings.TrimPrefix(line, "typegen: "), ": ")
		if !strings.Contains(text, strings.Join(strings.Fields(line), " ")) {
			t.Errorf("%s: the command says %q, and the source does not", name, line)
		}
	}
}

func TestTheTypesOfDefinitionsWithTagsAreThoseInTestdata(t *testing.T) {
	all := definedFiles()
	for name, d := range all {
		linesOf(t, name, d)
	}
	for _, name := range definitions(t) {
		if _, known := all[name]; !known && name != "hostile" { // crd refuses its names
			t.Errorf("the definitions of %s are not tried", name)
		}
	}
}

// The server completes a definition before it keeps it, so what two servers keep can be compared.
func TestADefinitionComesBackFromItsTypes(t *testing.T) {
	for name, d := range definedFiles() {
		t.Run(name, func(t *testing.T) {
			manifests := must(schema.Trees(must(os.ReadFile(d.file))(t)))(t)
			manifests = slices.DeleteFunc(manifests, func(m any) bool { return m.(map[string]any)["kind"] != "CustomResourceDefinition" })
			if len(manifests) != len(d.of) {
				t.Fatalf("there are %d manifests, and %d definitions", len(manifests), len(d.of))
			}
			left := slices.Clone(d.lost)
			for i, made := range d.of {
				original := new(crd.Definition)
				if err := json.Unmarshal(must(json.Marshal(manifests[i]))(t), original); err != nil {
					t.Fatal(err)
				}
				want, got := kept(t, original), kept(t, made)
				left = slices.DeleteFunc(left, func(path string) bool {
					was, is := remove(want, path), remove(got, path)
					return was || is
				})
				if text, is := show(t, want), show(t, got); text != is {
					t.Errorf("the definition was\n%s\nand is\n%s", text, is)
				}
			}
			if len(left) > 0 {
				t.Errorf("the definitions have no %q", left)
			}
		})
	}
}

// kept returns the labels, annotations and versions of a definition that a server keeps, without the members of its
// objects that it knows anyway.
func kept(t *testing.T, d *crd.Definition) map[string]any {
	t.Helper()
	definitions := client.For(newClient(t, clienttest.Options{Lenient: true}), crd.Definitions())
	is := must(definitions.Create(t.Context(), d))(t)
	var spec map[string]any
	if err := json.Unmarshal(must(json.Marshal(is.Spec))(t), &spec); err != nil {
		t.Fatal(err)
	}
	for _, v := range spec["versions"].([]any) {
		withoutHead(v.(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"], true)
	}
	return tree{"spec": spec, "labels": is.Labels, "annotations": is.Annotations}
}

// withoutHead removes apiVersion, kind and metadata of objects, of which the definitions in testdata say the type
// alone. Lists of required members have no order.
func withoutHead(v any, isObject bool) {
	s, _ := v.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if isObject || s["x-kubernetes-embedded-resource"] == true {
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			delete(properties, name)
			if required, ok := s["required"].([]any); ok {
				s["required"] = slices.DeleteFunc(required, func(r any) bool { return r == name })
			}
		}
	}
	if required, ok := s["required"].([]any); ok {
		slices.SortFunc(required, func(x, y any) int { return strings.Compare(x.(string), y.(string)) })
		if len(required) == 0 {
			delete(s, "required")
		}
	}
	for _, inner := range slices.Collect(maps.Values(properties)) {
		withoutHead(inner, false)
	}
	withoutHeadIn(s["items"])
	withoutHeadIn(s["additionalProperties"])
}

func withoutHeadIn(v any) {
	if _, isSchema := v.(map[string]any); isSchema {
		withoutHead(v, false)
	}
}

// remove removes a member of a version or of its schema, such as 0.spec.a[].oneOf, and reports whether it was there.
func remove(definition map[string]any, path string) bool {
	at := definition["spec"].(map[string]any)["versions"].([]any)[path[0]-'0'].(map[string]any)
	parts := strings.Split(path[2:], ".")
	last := parts[len(parts)-1]
	if parts[0] == "subresources" {
		at, _ = at["subresources"].(map[string]any)
	} else {
		at = at["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		for _, part := range parts[:len(parts)-1] {
			properties, _ := at["properties"].(map[string]any)
			at, _ = properties[strings.TrimRight(part, "[]")].(map[string]any)
			for range strings.Count(part, "[]") {
				elements, ok := at["items"].(map[string]any)
				if !ok {
					elements, _ = at["additionalProperties"].(map[string]any)
				}
				at = elements
			}
		}
	}
	_, there := at[last]
	delete(at, last)
	return there
}

func show(t *testing.T, v any) string {
	t.Helper()
	return string(must(json.MarshalIndent(v, "", " "))(t))
}

// again returns what the command writes of the definitions that types have.
func again(t *testing.T, name string, d defined) string {
	t.Helper()
	s := must(parse([]string{"-definitions", "-package", "defined", "-o", "testdata/" + name + "/defined/types.go", d.file}, io.Discard))(t)
	kinds := must(choose(must(schema.Read(name, must(crd.YAML(d.of...))(t)))(t), s))(t)
	o := must(s.options(t.Context()))(t)
	o.Note = func(line string) { t.Errorf("%s: the definition of a type differs from itself: %s", name, line) }
	return string(must(source.Write(kinds, o))(t))
}

// The types of the second round are those of the first. Only the comments about what the first round lost are gone, so
// the third round, whose definitions have the same types, has the same bytes.
func TestTypesComeBackFromTheirDefinitions(t *testing.T) {
	for name, d := range definedFiles() {
		first := must(os.ReadFile("testdata/" + name + "/defined/types.go"))(t)
		second := again(t, name, d)
		switch {
		case d.others: // and their definition is the same again
		case len(d.lost)+d.lines == 0 && second != string(first):
			t.Errorf("%s: the types of the second round differ:\n%s", name, difference(string(first), second))
		case code(t, first) != code(t, []byte(second)):
			t.Errorf("%s: the types of the second round differ:\n%s", name, difference(code(t, first), code(t, []byte(second))))
		}
	}
}

// Objects keep their bytes through the types with tags, as they do through those without.
func TestObjectsOfTypesWithTagsKeepTheirBytes(t *testing.T) {
	for name, d := range definedFiles() {
		kinds := must(schema.Read(d.file, must(os.ReadFile(d.file))(t)))(t)
		roundTrips(t, kinds, d.types, func(string, string) source.Hint { return source.Hint{} })
		if t.Failed() {
			t.Fatalf("in %s", name)
		}
	}
}

// A program installs the definition of its types.
func TestADefinitionOfWrittenTypesCanBeInstalled(t *testing.T) {
	c := newClient(t, clienttest.Options{Lenient: true})
	for range 2 {
		if err := crd.Install(t.Context(), c, machines.MachinesDefinition(), zoo.ZoosDefinition()); err != nil {
			t.Fatal(err)
		}
	}
	made := &zoo.Zoo{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	made.Spec.Text = "a"
	got := must(client.For(c, zoo.Zoos).Create(t.Context(), made))(t)
	if got.Spec.Size == nil || got.Spec.Size.String() != "1Gi" {
		t.Errorf("the server does not set the default of the tag: %+v", got.Spec)
	}
}

func TestDefinitionsNeedWholeKindsOfAFile(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-definitions", "-kinds", "sites"}, "-definitions needs a FILE"},
		{[]string{"-definitions", "-fields", "spec.a", "f.yaml"}, "-definitions needs whole kinds in all versions"},
		{[]string{"-definitions", "-versions", "v1", "f.yaml"}, "must not be set beside -fields, -type, -import or -versions"},
	} {
		if _, err := parse(c.args, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: the error is %v, want %s", c.args, err, c.want)
		}
	}
}

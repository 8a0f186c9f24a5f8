package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// schemasFile is what clienttest knows of the built-in kinds.
const schemasFile = "../../../client/clienttest/internal/schema/schemas.json"

var update = flag.Bool("update", false, "write the files that tests compare with what kube-apiserver publishes")

// The schemas of the server in the process are those that kube-apiserver publishes, as far as they say what the members of an
// object are. After a change of its version, run this test with -update.
func TestSchemasOfClienttestAreThoseOfTheServer(t *testing.T) {
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the schemas of clienttest are those of Kubernetes %s", newest)
	}
	c := open(t, adminConfig())
	want := trimmed(t, c, servedKinds(t, c))
	if *update {
		if err := os.WriteFile(schemasFile, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := must(os.ReadFile(schemasFile))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what the server publishes; write it with: go test -run %s . -update", schemasFile, t.Name())
	}
}

// servedKinds returns the kinds of every resource and subresource that clienttest serves, by the group version that has them.
func servedKinds(t *testing.T, c *client.Client) map[meta.GVR][]meta.GVK {
	t.Helper()
	kinds := make(map[meta.GVR][]meta.GVK)
	for _, k := range servedBy(t, c) {
		at := meta.GVR{Group: k.Group, Version: k.Version}
		for _, kind := range k.kinds {
			if !slices.Contains(kinds[at], kind) {
				kinds[at] = append(kinds[at], kind)
			}
		}
	}
	return kinds
}

func fetch(t *testing.T, c *client.Client, path string, header http.Header, into any) {
	t.Helper()
	resp := must(c.Raw(t.Context(), client.RawRequest{Path: path, Header: header}))(t)
	defer resp.Body.Close()
	b := must(io.ReadAll(resp.Body))(t)
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type anySchema = map[string]any

// trimmed returns the schemas of the kinds and of all that they refer to: one JSON object with a line for each.
func trimmed(t *testing.T, c *client.Client, kinds map[meta.GVR][]meta.GVK) []byte {
	t.Helper()
	all := make(map[string]anySchema)
	for _, at := range slices.SortedFunc(maps.Keys(kinds), func(a, b meta.GVR) int { return cmp.Compare(a.APIVersion(), b.APIVersion()) }) {
		path := "/openapi/v3/apis/" + at.APIVersion()
		if at.Group == "" {
			path = "/openapi/v3/api/" + at.Version
		}
		var doc struct {
			Components struct{ Schemas map[string]anySchema }
		}
		fetch(t, c, path, nil, &doc)
		tr := trimmer{from: doc.Components.Schemas, into: all}
		for _, k := range kinds[at] {
			name := tr.find(k)
			if name == "" {
				t.Fatalf("%s has no kind %v", path, k)
			}
			tr.add(name)
			all[name][gvkExtension] = []any{anySchema{"group": k.Group, "version": k.Version, "kind": k.Kind}}
		}
	}
	keepKeyDefaults(all)
	var b bytes.Buffer
	for i, name := range slices.Sorted(maps.Keys(all)) {
		line := must(json.Marshal(all[name]))(t)
		b.WriteString(map[bool]string{true: "{\n", false: ",\n"}[i == 0])
		b.WriteString(`"` + name + `":`)
		b.Write(line)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

const (
	gvkExtension  = "x-kubernetes-group-version-kind"
	listKeys      = "x-kubernetes-list-map-keys"
	refOfAnything = "#/components/schemas/"
)

// trimmer copies schemas with what matters here.
type trimmer struct{ from, into map[string]anySchema }

func (t trimmer) find(kind meta.GVK) string {
	for _, name := range slices.Sorted(maps.Keys(t.from)) {
		kinds, _ := t.from[name][gvkExtension].([]any)
		for _, k := range kinds {
			if k := k.(anySchema); k["group"] == kind.Group && k["version"] == kind.Version && k["kind"] == kind.Kind {
				return name
			}
		}
	}
	return ""
}

func (t trimmer) add(name string) {
	if t.into[name] == nil {
		t.into[name] = anySchema{} // it may refer to itself
		maps.Copy(t.into[name], t.schema(t.from[name]))
	}
}

func (t trimmer) schema(s anySchema) anySchema {
	out := make(anySchema)
	for k, v := range s {
		switch k {
		case "type", "format", "oneOf", "default", listKeys, "x-kubernetes-list-type", "x-kubernetes-map-type",
			"x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-preserve-unknown-fields",
			"x-kubernetes-int-or-string", "required", "enum":
			out[k] = v
		case "$ref":
			out[k] = v
			t.add(strings.TrimPrefix(v.(string), refOfAnything))
		case "allOf": // a reference with a default beside it
			maps.Copy(out, t.schema(v.([]any)[0].(anySchema)))
		case "items", "additionalProperties":
			out[k] = v
			if inner, ok := v.(anySchema); ok {
				out[k] = t.schema(inner)
			}
		case "properties":
			inner := make(anySchema)
			for name, p := range v.(anySchema) {
				inner[name] = t.schema(p.(anySchema))
			}
			out[k] = inner
		}
	}
	return out
}

// keepKeyDefaults drops every default but those of the members that are keys of a list, and the empty objects, which say that a
// Go type always writes the member.
func keepKeyDefaults(all map[string]anySchema) {
	keys := make(map[string][]any) // of the items of lists, by the reference to them
	var walk func(s anySchema, visit func(anySchema))
	walk = func(s anySchema, visit func(anySchema)) {
		visit(s)
		for _, name := range []string{"items", "additionalProperties"} {
			if inner, ok := s[name].(anySchema); ok {
				walk(inner, visit)
			}
		}
		properties, _ := s["properties"].(anySchema)
		for _, p := range properties {
			walk(p.(anySchema), visit)
		}
	}
	for _, s := range all {
		walk(s, func(s anySchema) {
			items, _ := s["items"].(anySchema)
			named, _ := s[listKeys].([]any)
			if ref, _ := items["$ref"].(string); ref != "" {
				keys[strings.TrimPrefix(ref, refOfAnything)] = append(keys[strings.TrimPrefix(ref, refOfAnything)], named...)
			}
		})
	}
	for name, s := range all {
		kept := make(map[string]any)
		properties, _ := s["properties"].(anySchema)
		for member, p := range properties {
			v, ok := p.(anySchema)["default"]
			object, isObject := v.(anySchema)
			if ok && (slices.Contains(keys[name], any(member)) || isObject && len(object) == 0) {
				kept[member] = v
			}
		}
		walk(s, func(s anySchema) { delete(s, "default") })
		for member, v := range kept {
			properties[member].(anySchema)["default"] = v
		}
	}
}

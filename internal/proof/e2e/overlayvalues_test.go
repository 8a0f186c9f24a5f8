package e2e

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/overlay"
)

// valuesFile is what an overlay knows of the values that a server decodes.
const valuesFile = "../../overlay/values.txt"

// olderValues are places of older releases, which the newest does not have.
var olderValues = map[string]string{ // 1.36
	"ResourceSlice.resource.k8s.io/spec/devices/nodeAllocatableResourceMappings/*/allocationMultiplier":       "q",
	"ResourceSlice.resource.k8s.io/spec/devices/basic/nodeAllocatableResourceMappings/*/allocationMultiplier": "q",
}

// valueNode is a place in a kind: a value if letter is set, otherwise an object or a list.
type valueNode struct {
	letter byte // see package patch; also 'i' for an integer, and 'u' for a time with microseconds
	below  map[string]*valueNode
	fill   []string // members that are texts, and that an object must have
	list   bool
}

func (n *valueNode) at(name string) *valueNode {
	if n.below == nil {
		n.below = map[string]*valueNode{}
	}
	if n.below[name] == nil {
		n.below[name] = &valueNode{}
	}
	return n.below[name]
}

// add adds the places of a schema to a node. path is for errors.
func (n *valueNode) add(t *testing.T, d openAPI, schema map[string]any, path, within []string) {
	name := ""
	for {
		if all, ok := schema["allOf"].([]any); ok && len(all) > 0 {
			schema, _ = all[0].(map[string]any)
		} else if ref, ok := schema["$ref"].(string); ok {
			name = ref[strings.LastIndex(ref, "/")+1:]
			schema = d.Components.Schemas[name]
		} else {
			break
		}
	}
	if name != "" && slices.Contains(within, name) {
		return
	}
	if letter := letterOf(name, schema, path, within); letter != 0 {
		if n.letter != 0 && n.letter != letter || n.below != nil {
			t.Errorf("%q is of two kinds: %c and %c", path, n.letter, letter)
		}
		n.letter = letter
		return
	}
	within = append(slices.Clone(within), name)
	if items, ok := schema["items"].(map[string]any); ok {
		n.list = true
		n.add(t, d, items, path, within)
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		n.at("*").add(t, d, values, append(slices.Clone(path), "*"), within)
	}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for member, property := range properties {
		if len(path) == 1 && (member == "metadata" || member == "status") {
			continue
		}
		s, _ := property.(map[string]any)
		n.at(member).add(t, d, s, append(slices.Clone(path), member), within)
		if slices.Contains(required, any(member)) && s["type"] == "string" && s["format"] == nil && !slices.Contains(n.fill, member) {
			n.fill = append(n.fill, member)
		}
	}
}

// letterOf returns the letter of a value, 0 for a text and for an object.
func letterOf(name string, schema map[string]any, path, within []string) byte {
	switch {
	case strings.HasSuffix(name, ".api.resource.Quantity"):
		// The list of resources of core/v1 is a map, and has defaults of its own.
		of := within[len(within)-1]
		for i := len(within) - 1; of == "" && i > 0; i-- {
			of = within[i-1]
		}
		if path[len(path)-1] == "*" && (strings.Contains(of, ".core.v1.") || strings.Contains(of, ".node.v1.")) {
			return 'r'
		}
		return 'q'
	case strings.HasSuffix(name, ".meta.v1.MicroTime"):
		return 'u'
	case strings.HasSuffix(name, ".meta.v1.Time"):
		return 't'
	case schema["format"] == "byte":
		return 'b'
	case schema["type"] == "integer":
		return 'i'
	}
	return 0
}

// line returns the members of the node for the table, "" if it has none that matter; the lines of objects get numbers.
func (n *valueNode) line(numbers map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.below)) {
		switch c := n.below[name]; {
		case c.letter == 'i':
		case c.letter == 'u':
			parts = append(parts, name+"=t")
		case c.letter != 0:
			parts = append(parts, name+"="+string(c.letter))
		default:
			if line := c.line(numbers); line != "" {
				if numbers[line] == 0 {
					numbers[line] = len(numbers) + 1
				}
				parts = append(parts, fmt.Sprintf("%s=%d", name, numbers[line]))
			}
		}
	}
	return strings.Join(parts, " ")
}

// storedKind is a kind of the OpenAPI documents that can be created.
type storedKind struct {
	gvk      meta.GVK
	resource string
	scope    meta.Scope
	places   *valueNode
}

// valuesOf returns the kinds that a server can create, with their places.
func valuesOf(t *testing.T, c *client.Client) []storedKind {
	t.Helper()
	var index struct{ Paths map[string]json.RawMessage }
	fetch(t, c, "/openapi/v3", http.Header{}, &index)
	var kinds []storedKind
	for _, path := range slices.Sorted(maps.Keys(index.Paths)) {
		if path != "api/v1" && strings.Count(path, "/") != 2 || strings.Contains(path, "example") {
			continue
		}
		var doc openAPI
		fetch(t, c, "/openapi/v3/"+path, http.Header{}, &doc)
		for _, at := range slices.Sorted(maps.Keys(doc.Paths)) {
			rest, inNamespace := strings.CutPrefix(at, "/"+path+"/namespaces/{namespace}/")
			if !inNamespace {
				rest = strings.TrimPrefix(at, "/"+path+"/")
			}
			if doc.Paths[at].Post == nil || strings.Contains(rest, "/") {
				continue
			}
			k := doc.Paths[at].Post.Kind
			s := storedKind{gvk: meta.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind}, resource: rest, places: &valueNode{}, scope: meta.Cluster}
			if inNamespace {
				s.scope = meta.Namespaced
			}
			for _, schema := range doc.Components.Schemas {
				of, _ := schema["x-kubernetes-group-version-kind"].([]any)
				for _, kind := range of {
					if m, _ := kind.(map[string]any); m["kind"] == k.Kind && m["group"] == k.Group && m["version"] == k.Version {
						s.places.add(t, doc, schema, []string{k.Kind}, nil)
					}
				}
			}
			if k.Kind == "Service" {
				s.places.at("spec").fill = []string{"sessionAffinity"}
			}
			kinds = append(kinds, s)
		}
	}
	return kinds
}

// needed are texts without which the server drops a value beside them.
var needed = map[string]string{"sessionAffinity": "ClientIP"}

// An overlay knows the places of quantities, times and byte strings from a table, which is made of the OpenAPI documents. After a
// change of the server's version, run this test with -update. On the server, each of these values is the same to an overlay in every
// text that the server takes for it, and another one is a difference.
func TestOverlaysKnowTheValuesOfTheServer(t *testing.T) {
	t.Parallel()
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the places are those of Kubernetes %s", newest)
	}
	p := must(controlplane.Start(t.Context(), servers("--runtime-config=api/all=true")))(t)
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	c := open(t, client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	kinds := valuesOf(t, c)
	compareFile(t, valuesFile, valueTable(t, kinds))
	counts := map[byte]int{}
	for _, k := range kinds {
		name := k.resource + "." + k.gvk.Version + "." + k.gvk.Group
		for round := range spellings['q'] {
			walkValues(t, c, p.Etcd, k, name, round, counts)
		}
	}
	for letter, least := range map[byte]int{'q': 80, 'r': 90, 't': 50, 'u': 6, 'b': 8, 'i': 1200} {
		if counts[letter] < least {
			t.Errorf("%d places of %c were compared, want %d", counts[letter], letter, least)
		}
	}
}

// valueTable returns the text of the table.
func valueTable(t *testing.T, kinds []storedKind) []byte {
	t.Helper()
	of := map[string]*valueNode{}
	for _, k := range kinds {
		name := strings.TrimSuffix(k.gvk.Kind+"."+k.gvk.Group, ".")
		if of[name] == nil {
			of[name] = &valueNode{}
		}
		of[name].unite(t, name, k.places)
	}
	for place, letter := range olderValues {
		n := of[place[:strings.Index(place, "/")]]
		for part := range strings.SplitSeq(place[strings.Index(place, "/")+1:], "/") {
			n = n.at(part)
		}
		n.letter = letter[0]
	}
	numbers := map[string]int{}
	b := []byte("# Made by internal/proof/e2e from the OpenAPI documents of kube-apiserver.\n")
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if line := of[name].line(numbers); line != "" {
			b = fmt.Appendf(b, "%s %s\n", name, line)
		}
	}
	lines := make([]string, len(numbers)+1)
	for line, number := range numbers {
		lines[number] = line
	}
	for number, line := range lines[1:] {
		b = fmt.Appendf(b, "%d %s\n", number+1, line)
	}
	return b
}

// unite adds the places of another version of a kind.
func (n *valueNode) unite(t *testing.T, path string, other *valueNode) {
	t.Helper()
	if n.letter != 0 && n.letter != other.letter {
		t.Errorf("%s differs by the version", path)
	}
	n.letter = other.letter
	for name, c := range other.below {
		n.at(name).unite(t, path+"/"+name, c)
	}
}

// spellings are texts that a server takes, most of them for one value. The last is a zero, or is rounded.
var spellings = map[byte][]string{
	'q': {`"1500m"`, `1.5`, `" 1.5000000000001 "`, `"15e-1"`, `"100u"`},
	'r': {`"1500m"`, `1.5`, `" 1.4999 "`, `"15e-1"`, `"100u"`},
	't': {`"2026-01-02T03:04:05Z"`, `"2026-01-02T04:04:05.7+01:00"`, `"2026-01-02T03:04:05.1Z"`, `"2026-01-02T03:04:05,9Z"`, `"0001-01-01T00:00:00Z"`},
	'u': {`"2026-01-02T03:04:05.123456Z"`, `"2026-01-02T04:04:05.123456+01:00"`, `"2026-01-02T03:04:05,123456Z"`, `"2026-01-02T03:04:05.000000Z"`, `"0001-01-01T00:00:00.000000Z"`},
	'b': {`"YWI="`, `"YW\nI="`, `"YWJ=\r\n"`, `[97,98]`, `""`},
	'i': {`7`, `7`, `7`, `7`, `0`},
}

// otherValues are values that differ from those that a server has.
var otherValues = map[byte]string{
	'q': `"1.6"`, 'r': `"2.6"`, 't': `"2027-01-02T03:04:05Z"`, 'u': `"2027-01-02T03:04:05.123457Z"`, 'b': `"YWM="`, 'i': `8`,
}

// sample returns the JSON of an object that has the values of all places, and false if there is none. The value at the place other is
// another one.
func (n *valueNode) sample(path, other string, value func(letter byte) string) (string, bool) {
	if n.letter != 0 {
		text := value(n.letter)
		if path == other {
			text = otherValues[n.letter]
		}
		if n.list {
			text = "[" + text + "]"
		}
		return text, true
	}
	var members []string
	for _, name := range slices.Sorted(maps.Keys(n.below)) {
		if text, ok := n.below[name].sample(path+"/"+name, other, value); ok {
			if name == "*" {
				name = "x"
			}
			members = append(members, fmt.Sprintf("%q:%s", name, text))
		}
	}
	if len(members) == 0 {
		return "", false
	}
	for _, name := range n.fill {
		members = append(members, fmt.Sprintf("%q:%q", name, cmp.Or(needed[name], "x")))
	}
	text := "{" + strings.Join(members, ",") + "}"
	if n.list {
		text = "[" + text + "]"
	}
	return text, true
}

// each calls fn with the places of all values.
func (n *valueNode) each(path string, fn func(path string, letter byte)) {
	if n.letter != 0 {
		fn(path, n.letter)
	}
	for _, name := range slices.Sorted(maps.Keys(n.below)) {
		n.below[name].each(path+"/"+name, fn)
	}
}

// walkValues puts an object with all places of a kind into the store of the server, where nothing validates it, and compares what the
// server says of it with what was put there.
func walkValues(t *testing.T, c *client.Client, etcd string, k storedKind, name string, round int, counts map[byte]int) {
	t.Helper()
	value := func(letter byte) string { return spellings[letter][round] }
	text, ok := k.places.sample("", "-", value)
	if !ok {
		return
	}
	metadata := fmt.Sprintf(`{"name":%q,"uid":"u","creationTimestamp":"2026-01-02T03:04:05Z"}`, name)
	path := "/apis/" + k.gvk.APIVersion()
	if k.gvk.Group == "" {
		path = "/api/v1"
	}
	key := "/registry/" + cmp.Or(storedAt[k.resource], k.resource)
	if k.scope == meta.Namespaced {
		metadata = `{"namespace":"default",` + metadata[1:]
		path += "/namespaces/default"
		key += "/default"
	}
	head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, k.gvk.APIVersion(), k.gvk.Kind)
	putInStore(t, etcd, key+"/"+name, head+`"metadata":`+metadata+","+text[1:])
	a := ask(t, c, http.MethodGet, path+"/"+k.resource+"/"+name, nil, "")
	if a.code != http.StatusOK {
		t.Errorf("%v: %d %s of %s", k.gvk, a.code, a.message, text)
		return
	}
	live := json.RawMessage(must(json.Marshal(a.object))(t))
	_, changed, err := overlay.Apply(live, json.RawMessage(head+text[1:]), overlay.Options{})
	if err != nil || len(changed) > 0 {
		t.Errorf("%v, %d: %q differ, %v\nlive %s\nwant %s", k.gvk, round, changed, err, live, text)
		return
	}
	if round > 0 {
		return
	}
	k.places.each("", func(path string, letter byte) {
		other, _ := k.places.sample("", path, value)
		if _, changed, err := overlay.Apply(live, json.RawMessage(head+other[1:]), overlay.Options{}); err != nil || len(changed) == 0 {
			t.Errorf("%v %s: another value is no difference, %v", k.gvk, path, err)
			return
		}
		counts[letter]++
	})
}

// storedAt is where the server stores the resources that it does not store under their names.
var storedAt = map[string]string{
	"services": "services/specs", "endpoints": "services/endpoints", "nodes": "minions", "replicationcontrollers": "controllers", "ingresses": "ingress",
	"customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions", "apiservices": "apiregistration.k8s.io/apiservices",
}

// putInStore writes a value to etcd.
func putInStore(t *testing.T, etcd, key, value string) {
	t.Helper()
	body := fmt.Sprintf(`{"key":%q,"value":%q}`, base64.StdEncoding.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(value)))
	resp := must(http.Post(etcd+"/v3/kv/put", "application/json", bytes.NewReader([]byte(body))))(t)
	defer resp.Body.Close()
	if b := must(io.ReadAll(resp.Body))(t); resp.StatusCode != http.StatusOK {
		t.Fatalf("put %s: %s", key, b)
	}
}

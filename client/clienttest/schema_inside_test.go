package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// at returns the shape of what is at a path; "*" leads to the elements of a list and the values of a map.
func (s *shape) at(path string) *shape {
	for name := range strings.FieldsSeq(path) {
		switch {
		case s == nil:
		case name == "*":
			s = s.elements
		default:
			s = s.members[name]
		}
	}
	return s
}

func (s *shape) text() string {
	if s == nil {
		return "nothing"
	}
	var words []string
	if s.members != nil {
		words = append(words, "members")
	}
	if s.elements != nil {
		words = append(words, "elements")
	}
	switch s.list {
	case listSet:
		words = append(words, "set")
	case listMap:
		words = append(words, fmt.Sprint("map of ", s.keys))
	}
	if s.defaults != nil {
		words = append(words, fmt.Sprint(s.defaults))
	}
	for word, is := range map[string]bool{"atomic": s.atomic, "open": s.open} {
		if is {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

func TestBuiltinKindsAreAsTheServersSchemasSay(t *testing.T) {
	for _, r := range builtinKinds() {
		if s := r.shape(); s.at("metadata ownerReferences").text() != "elements, map of [uid]" || s.at("kind").text() != "" {
			t.Errorf("%s: it lacks the members of every object", r.GVK())
		}
		for name, sub := range r.subresources {
			kind := meta.GVK{Group: sub.kind.Group, Version: cmp.Or(sub.kind.Version, r.Version), Kind: cmp.Or(sub.kind.Kind, r.Kind)}
			if sub.kind.Kind == "" {
				kind.Group = r.Group
			}
			if builtinSchemas().ofKind(kind) == nil {
				t.Errorf("%s/%s: nothing is known of %v", r.Resource.Resource, name, kind)
			}
		}
	}
	pod := builtinSchemas().ofKind(meta.GVK{Version: "v1", Kind: "Pod"})
	deployment := builtinSchemas().ofKind(meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	for _, test := range []struct {
		of         *shape
		path, want string
	}{
		{pod, "spec", "members"},
		{pod, "spec containers", "elements, map of [name]"},
		{pod, "spec containers * ports", "elements, map of [containerPort protocol]"},
		{pod, "spec containers * ports *", "members, map[containerPort:0 protocol:TCP]"},
		{pod, "spec containers * args", "elements"},
		{pod, "spec containers * resources limits", "elements"},
		{pod, "spec containers * env * valueFrom fieldRef", "members, atomic"},
		{pod, "spec containers * env * valueFrom configMapKeyRef", "members, atomic"},
		{pod, "spec nodeSelector", "elements, atomic"},
		{pod, "metadata finalizers", "elements, set"},
		{pod, "metadata labels", "elements"},
		{pod, "metadata managedFields * fieldsV1", ""},
		{deployment, "spec selector", "members, atomic"},
		{deployment, "spec template spec topologySpreadConstraints", "elements, map of [topologyKey whenUnsatisfiable]"},
		{deployment, "spec strategy rollingUpdate maxSurge", ""},
		{deployment, "spec none", "nothing"},
	} {
		if got := test.of.at(test.path).text(); got != test.want {
			t.Errorf("%s is %q, want %q", test.path, got, test.want)
		}
	}
}

func TestCustomResourcesAreAsTheirSchemasSay(t *testing.T) {
	s, err := declaredShape(json.RawMessage(`{"type":"object","required":["spec"],"properties":{
		"spec":{"type":"object","properties":{
			"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","kind"],
				"items":{"type":"object","properties":{"name":{"type":"string"},"kind":{"type":"string","default":"a"},"n":{"type":"integer"}}}},
			"colors":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
			"sizes":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"integer"}},
			"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
			"none":{"type":"object"},
			"size":{"x-kubernetes-int-or-string":true},
			"inner":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"apiVersion": "", "metadata finalizers": "elements, set", "status": "nothing",
		"spec parts": "elements, map of [name kind]", "spec parts *": "members, map[kind:a]", "spec parts * n": "",
		"spec colors": "elements, set", "spec sizes": "elements, atomic", "spec any": "members, open", "spec none": "members",
		"spec size": "", "spec inner": "members, open", "spec inner metadata labels": "elements",
	} {
		if got := s.at(path).text(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if s, err := declaredShape(nil); s != nil || err != nil {
		t.Errorf("of no schema %v, %v is known", s, err)
	}
}

// A default that is an object was the same map in every object that it completed, and in the schema: the first to come wrote the
// defaults inside of it while others read them.
func TestDefaultsAreNotShared(t *testing.T) {
	s, err := declaredShape([]byte(`{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"color":{"type":"string","default":"red"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	a, b := jsontree.Object{}, jsontree.Object{}
	s.complete(a)
	a["spec"].(jsontree.Object)["color"] = "blue"
	s.complete(b)
	if got := string(jsontree.Append(nil, b)); got != `{"spec":{"color":"red"}}` {
		t.Errorf("another object has %s", got)
	}
}

// A JSON patch of a deep document took minutes, with the store locked, because each level was read once for each level above.
func TestDeepDocumentIsReadOnce(t *testing.T) {
	const depth = 9_000
	doc := []byte(strings.Repeat(`{"a":[`, depth/2) + `1.50` + strings.Repeat(`]}`, depth/2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := parseNode(doc)
	runtime.ReadMemStats(&after)
	if got := string(n.append(nil)); got != string(doc) {
		t.Errorf("it became %.100s", got)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("it took %d bytes to read %d", got, len(doc))
	}
}

// What is wrong with a document was as long as the document, in as many warnings.
func TestWarningsAreBounded(t *testing.T) {
	var doc strings.Builder
	for i := range 500 {
		fmt.Fprintf(&doc, `"k%d":1,"k%d":2,`, i, i)
	}
	if got := len(duplicates([]byte("{" + strings.TrimSuffix(doc.String(), ",") + "}"))); got != 100 {
		t.Errorf("%d are wrong", got)
	}
}

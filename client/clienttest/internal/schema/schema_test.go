package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/kinds"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// at returns the shape of what is at a path; "*" leads to the elements of a list and the values of a map.
func (s *Shape) at(path string) *Shape {
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

func (s *Shape) text() string {
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
	for _, k := range kinds.All() {
		kind := meta.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind}
		if s := Builtin().Of(kind); s.at("metadata ownerReferences").text() != "elements, map of [uid]" || s.at("kind").text() != "" {
			t.Errorf("%s: it lacks the members of every object", kind)
		}
	}
	pod := Builtin().Of(meta.GVK{Version: "v1", Kind: "Pod"})
	deployment := Builtin().Of(meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	for _, test := range []struct {
		of         *Shape
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
	s, err := Declared(json.RawMessage(`{"type":"object","required":["spec"],"properties":{
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
	if s, err := Declared(nil); s != nil || err != nil {
		t.Errorf("of no schema %v, %v is known", s, err)
	}
}

// A default that is an object was the same map in every object that it completed, and in the schema: the first to come wrote the
// defaults inside of it while others read them.
func TestDefaultsAreNotShared(t *testing.T) {
	s, err := Declared([]byte(`{"type":"object","properties":{"spec":{"type":"object","default":{},"properties":{"color":{"type":"string","default":"red"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	a, b := jsontree.Object{}, jsontree.Object{}
	s.Complete(a)
	a["spec"].(jsontree.Object)["color"] = "blue"
	s.Complete(b)
	if got := string(jsontree.Append(nil, b)); got != `{"spec":{"color":"red"}}` {
		t.Errorf("another object has %s", got)
	}
}

// What is wrong with a document was as long as the document, in as many warnings.
func TestWarningsAreBounded(t *testing.T) {
	var doc strings.Builder
	for i := range 500 {
		fmt.Fprintf(&doc, `"k%d":1,"k%d":2,`, i, i)
	}
	if got := len(Duplicates([]byte("{" + strings.TrimSuffix(doc.String(), ",") + "}"))); got != 100 {
		t.Errorf("%d are wrong", got)
	}
}

// The list of members of Go types that package strategy has says the same about lists and maps.
func TestListsThatAreAlwaysWrittenAreThoseOfTheGoTypes(t *testing.T) {
	text, err := os.ReadFile("../strategy/zeros.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := Builtin()
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		name := words[0]
		if !strings.HasPrefix(name, "io.k8s.") {
			name = "io.k8s.api." + name
		}
		if table.texts[name] == nil {
			continue
		}
		shape := table.named(name)
		for _, word := range words[1:] {
			member, _, written := strings.Cut(word, "=")
			_, always := shape.always[member]
			if m := shape.members[member]; m != nil && m.elements != nil && always != written {
				t.Errorf("%s.%s: always written %t, want %t", name, member, always, written)
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, doc := range []string{`{"a":[1,-2.5e3,true,null,"x\\\"]"],"b\u0041é":{ } , "":"é"}`, ` [ ] `, `"a"`, `7`, `{"a":{"b":[[{}]]}}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if !json.Valid(doc) {
			return
		}
		s := scanner{rest: doc}
		s.skip()
		if rest := strings.TrimSpace(string(s.rest)); rest != "" {
			t.Errorf("%q is left of %q", rest, doc)
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(doc, &m) != nil || m == nil {
			return
		}
		found := make(map[string]bool)
		s = scanner{rest: doc}
		for s.enter(); s.more('}'); s.skip() {
			found[s.text()] = true
		}
		for name := range m {
			if !found[name] {
				t.Errorf("%q is not found in %q", name, doc)
			}
		}
		if len(found) != len(m) {
			t.Errorf("found %v in %q", found, doc)
		}
	})
}

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/overlay"
)

// part is a member of a kind, as the server publishes it.
type part struct {
	kind, apiVersion string
	path             []string // "" for the elements of the list before it
	schema           map[string]any
	atomic           bool     // an object that is replaced whole
	inside           bool     // it is in such an object, which has it as it is wanted
	keys             []string // of a list that has them
}

// An overlay replaces the objects whole that the server calls atomic, and no others, and pairs the elements of lists by the keys that
// the server says. It knows so from tables, which an upgrade of the server can make wrong.
func TestOverlaysKnowTheObjectsAndListsOfTheServer(t *testing.T) {
	t.Parallel()
	c := open(t, adminConfig())
	var index struct{ Paths map[string]json.RawMessage }
	fetch(t, c, "/openapi/v3", http.Header{}, &index)
	looked := 0
	for path := range index.Paths {
		version, found := strings.CutPrefix(path, "apis/")
		if path != "api/v1" && (!found || strings.Count(version, "/") != 1 || strings.HasSuffix(version, ".example")) || strings.Contains(version, "example") {
			continue
		}
		var doc openAPI
		fetch(t, c, "/openapi/v3/"+path, http.Header{}, &doc)
		for _, p := range doc.parts() {
			looked++
			p.check(t)
			if p.atomic && !p.inside && wholeAnyway[p.kind+" "+strings.Join(p.path, "/")] == "" && p.schema["properties"] != nil {
				doc.checkMembers(t, p)
			}
		}
	}
	if looked < 5000 {
		t.Errorf("looked at %d members only", looked)
	}
}

// openAPI is an OpenAPI document, as far as it is looked at.
type openAPI struct {
	Paths map[string]struct {
		Post *struct {
			Kind struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
		}
	}
	Components struct{ Schemas map[string]map[string]any }
}

// parts returns the objects and lists in the kinds that can be created.
func (d openAPI) parts() (parts []part) {
	seen := map[string]bool{}
	for _, ops := range d.Paths {
		if ops.Post == nil || seen[ops.Post.Kind.Kind] {
			continue
		}
		k := ops.Post.Kind
		seen[k.Kind] = true
		version := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		for _, schema := range d.Components.Schemas {
			kinds, _ := schema["x-kubernetes-group-version-kind"].([]any)
			for _, kind := range kinds {
				if m, _ := kind.(map[string]any); m["kind"] == k.Kind && m["group"] == k.Group {
					d.visit(part{kind: k.Kind, apiVersion: version, schema: schema}, nil, &parts)
				}
			}
		}
	}
	return parts
}

func (d openAPI) visit(p part, within []string, parts *[]part) {
	name, schema := "", p.schema
	for {
		if schema["x-kubernetes-map-type"] != nil && p.schema["x-kubernetes-map-type"] == nil {
			p.schema = map[string]any{"x-kubernetes-map-type": schema["x-kubernetes-map-type"]}
		}
		if all, ok := schema["allOf"].([]any); ok && len(all) > 0 {
			schema, _ = all[0].(map[string]any)
			continue
		}
		ref, ok := schema["$ref"].(string)
		if !ok {
			break
		}
		name = ref[strings.LastIndex(ref, "/")+1:]
		schema = d.Components.Schemas[name]
	}
	if name != "" && slices.Contains(within, name) {
		return
	}
	within = append(slices.Clone(within), name)
	p.atomic = p.schema["x-kubernetes-map-type"] == "atomic"
	if names, ok := schema["x-kubernetes-list-map-keys"].([]any); ok {
		for _, n := range names {
			p.keys = append(p.keys, n.(string))
		}
	}
	p.schema = schema
	if len(p.path) > 1 || len(p.path) == 1 && !slices.Contains([]string{"metadata", "status"}, p.path[0]) {
		*parts = append(*parts, p)
	}
	if len(p.path) == 1 && (p.path[0] == "metadata" || p.path[0] == "status") {
		return
	}
	if items, ok := schema["items"].(map[string]any); ok {
		d.visit(part{kind: p.kind, apiVersion: p.apiVersion, path: append(slices.Clone(p.path), ""), schema: items, inside: p.inside || p.atomic}, within, parts)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		s, _ := property.(map[string]any)
		d.visit(part{kind: p.kind, apiVersion: p.apiVersion, path: append(slices.Clone(p.path), name), schema: s, inside: p.inside || p.atomic}, within, parts)
	}
}

// document returns an object of the part's kind that has the value at its place.
func (p part) document(value string) json.RawMessage {
	for i := len(p.path) - 1; i >= 0; i-- {
		if p.path[i] == "" {
			value = "[" + value + "]"
		} else {
			value = fmt.Sprintf(`{%q:%s}`, p.path[i], value)
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s`, p.apiVersion, p.kind, value[1:]))
}

// wholeAnyway are objects that an overlay replaces although the server merges them.
var wholeAnyway = map[string]string{
	"HorizontalPodAutoscaler spec/scaleTargetRef":                    "autoscaling/v1 merges what autoscaling/v2 replaces, and a reference of two is none",
	"LocalSubjectAccessReview spec/resourceAttributes/labelSelector": "nobody updates a review",
	"SelfSubjectAccessReview spec/resourceAttributes/labelSelector":  "nobody updates a review",
	"SubjectAccessReview spec/resourceAttributes/labelSelector":      "nobody updates a review",
}

// checkMembers compares the members that an object which is replaced whole has to the server with those that a Go type must have for a
// cached object to prove something.
func (d openAPI) checkMembers(t *testing.T, p part) {
	if slices.Contains(p.path, "metadata") || slices.Contains(p.path, "status") || p.path[len(p.path)-1] == "" && !slices.Contains([]string{"clusterRoleSelectors", "allowedTopologies"}, p.path[len(p.path)-2]) {
		return // in a list without keys, an element keeps the members that are not wanted
	}
	proves := func(missing int) (proved bool, left int) {
		left = missing
		typ := d.goType(p.schema, &left)
		value := "{}"
		for i := len(p.path) - 1; i >= 0; i-- {
			if p.path[i] == "" {
				typ, value = reflect.SliceOf(typ), "["+value+"]"
			} else {
				typ, value = pointerTo(typ, p.path[i]), fmt.Sprintf(`{%q:%s}`, p.path[i], value)
			}
		}
		cached := reflect.New(typ)
		if err := json.Unmarshal([]byte(value), cached.Interface()); err != nil {
			t.Fatal(err)
		}
		doc := p.document("{}")
		_, changed, err := overlay.Apply(doc, doc, overlay.Options{Cached: cached.Interface()})
		if err != nil {
			t.Fatal(err)
		}
		return len(changed) == 0, left
	}
	if all, _ := proves(-1); !all {
		t.Errorf("%s %s: a type with all of its members proves nothing", p.kind, strings.Join(p.path, "/"))
		return
	}
	for missing := 0; ; missing++ {
		proved, left := proves(missing)
		if left >= 0 {
			return
		}
		if proved {
			t.Errorf("%s %s: a type without member %d proves that it is as wanted", p.kind, strings.Join(p.path, "/"), missing)
		}
	}
}

// pointerTo returns a pointer to a struct with a member of the type, and with all that tells the elements of lists apart.
func pointerTo(t reflect.Type, name string) reflect.Type {
	fields := []reflect.StructField{{Name: "F", Type: t, Tag: reflect.StructTag(fmt.Sprintf(`json:"%s"`, name))}}
	for i, key := range []string{"name", "ip", "mountPath", "devicePath", "topologyKey", "whenUnsatisfiable"} {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("K", i), Type: reflect.TypeFor[any](), Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, key))})
	}
	return reflect.PointerTo(reflect.StructOf(fields))
}

// goType returns a type with the members of an object, apart from one: missing counts down to it, and is negative once it was left out.
func (d openAPI) goType(schema map[string]any, missing *int) reflect.Type {
	for {
		if all, ok := schema["allOf"].([]any); ok && len(all) > 0 {
			schema, _ = all[0].(map[string]any)
		} else if ref, ok := schema["$ref"].(string); ok {
			schema = d.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
		} else {
			break
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		return reflect.SliceOf(d.goType(items, missing))
	}
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		return reflect.TypeFor[any]()
	}
	var fields []reflect.StructField
	for i, name := range slices.Sorted(maps.Keys(properties)) {
		if *missing == 0 {
			*missing = -1
			continue
		}
		if *missing > 0 {
			*missing--
		}
		member, _ := properties[name].(map[string]any)
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", i), Type: d.goType(member, missing), Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, name))})
	}
	return reflect.PointerTo(reflect.StructOf(fields))
}

// check compares what an overlay makes of the part with what the server says of it. In a list that is as wanted, and in an object
// that is replaced, there is nothing to compare.
func (p part) check(t *testing.T) {
	last := p.path[len(p.path)-1]
	switch {
	case p.inside || last == "" || slices.Contains(p.path, "status") || slices.Contains(p.path, "managedFields") || slices.Contains(p.path, "metadata"):
	case slices.Contains(p.path, "openAPIV3Schema"): // of a CustomResourceDefinition; its rules are told by what they say
	case p.schema["type"] == "object":
		_, changed, err := overlay.Apply(p.document(`{"x-more":"1"}`), p.document(`{}`), overlay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		inList := slices.Contains(p.path[:len(p.path)-1], "")                                  // where a selector or reference may be one that a list has
		if name := p.kind + " " + strings.Join(p.path, "/"); name == "Pod spec/nodeSelector" { // admission adds to it, and nobody can take anything from it
			p.atomic = false
		}
		if whole := len(changed) > 0; whole != p.atomic && !(inList && whole) && wholeAnyway[p.kind+" "+strings.Join(p.path, "/")] == "" {
			t.Errorf("%s %s: replaced whole is %v, and the server says %v", p.kind, strings.Join(p.path, "/"), whole, p.atomic)
		}
	case p.schema["type"] == "array" && p.keys != nil:
		element := func(value string) string {
			var members []string
			for _, key := range p.keys {
				members = append(members, fmt.Sprintf("%q:%q", key, value))
			}
			return "{" + strings.Join(members, ",") + "}"
		}
		got, _, err := overlay.Apply(p.document("["+element("a")+"]"), p.document("["+element("b")+"]"), overlay.Options{})
		if err != nil || !strings.Contains(string(got), element("a")) || !strings.Contains(string(got), element("b")) {
			// within a list that has no keys, all is as wanted
			if !slices.Contains(p.path, "") {
				t.Errorf("%s %s: its keys are %v to the server, and it becomes %s, %v", p.kind, strings.Join(p.path, "/"), p.keys, got, err)
			}
		}
	case p.schema["type"] == "array":
		got, changed, err := overlay.Apply(p.document(`[{"name":"a","ip":"a"}]`), p.document(`[{"name":"b","ip":"b"}]`), overlay.Options{})
		if err != nil || len(changed) == 0 || strings.Contains(string(got), `"a"`) {
			t.Errorf("%s %s: it has no keys to the server, and it becomes %s, %v", p.kind, strings.Join(p.path, "/"), got, err)
		}
	}
}

// A zero in a cached object proves that the server has one where the server has a value whether it is sent one or not. An overlay knows
// these places from a table.
func TestOverlaysKnowWhatTheServerAlwaysHas(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	type scaled struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	type selecting struct {
		Spec struct {
			PodSelector meta.LabelSelector `json:"podSelector"`
		} `json:"spec"`
	}
	type valued struct {
		Value int `json:"value"`
	}
	for _, test := range []struct {
		gvk         meta.GVK
		resource    string
		scope       meta.Scope
		least, zero string
		cached      any
		path        []string
	}{
		{meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}, "deployments", meta.Namespaced, `"spec":{` + selectedPods + `}`, `"spec":{"replicas":0}`, &scaled{}, []string{"spec", "replicas"}},
		{meta.GVK{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, "replicasets", meta.Namespaced, `"spec":{` + selectedPods + `}`, `"spec":{"replicas":0}`, &scaled{}, []string{"spec", "replicas"}},
		{meta.GVK{Group: "apps", Version: "v1", Kind: "StatefulSet"}, "statefulsets", meta.Namespaced, `"spec":{` + selectedPods + `}`, `"spec":{"replicas":0}`, &scaled{}, []string{"spec", "replicas"}},
		{meta.GVK{Version: "v1", Kind: "ReplicationController"}, "replicationcontrollers", meta.Namespaced, `"spec":{` + podTemplate + `}`, `"spec":{"replicas":0}`, &scaled{}, []string{"spec", "replicas"}},
		{meta.GVK{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}, "networkpolicies", meta.Namespaced, `"spec":{}`, `"spec":{"podSelector":{}}`, &selecting{}, []string{"spec", "podSelector"}},
		{meta.GVK{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, "priorityclasses", meta.Cluster, `"description":"d"`, `"value":0`, &valued{}, []string{"value"}},
	} {
		r := client.For(c, client.Type[object]{Group: test.gvk.Group, Version: test.gvk.Version, Kind: test.gvk.Kind, Resource: test.resource, Scope: test.scope})
		if test.scope != meta.Cluster {
			r = r.In(ns)
		}
		made := must(r.Create(t.Context(), parse(t, `{"metadata":{"name":"e2e-always"},`+test.least+`}`)))(t)
		var at any = made.Object
		for _, name := range test.path {
			at = at.(map[string]any)[name]
		}
		if at == nil {
			t.Errorf("%s: the server has nothing at %v: %v", test.gvk.Kind, test.path, made)
		}
		doc := json.RawMessage(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, test.gvk.APIVersion(), test.gvk.Kind, test.zero))
		if _, changed, err := overlay.Apply(doc, doc, overlay.Options{Cached: test.cached}); err != nil || len(changed) > 0 {
			t.Errorf("%s: a zero that the server always has proves nothing: %v, %v", test.gvk.Kind, changed, err)
		}
	}
}

const selectedPods = selected + "," + podTemplate

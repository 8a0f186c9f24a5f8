package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// wovenSchema has every type of list and map, also within each other.
const wovenSchema = `{"type": "object", "properties": {
	"text": {"type": "string"}, "number": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"},
	"set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
	"numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
	"list": {"type": "array", "items": {"type": "string"}},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
	"selector": {"type": "object", "additionalProperties": {"type": "string"}},
	"deep": {"type": "object", "properties": {
		"a": {"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "string"}}}, "d": {"type": "string"}}},
	"maps": {"type": "object", "additionalProperties": {"type": "object", "properties": {
		"x": {"type": "string"}, "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}}},
	"open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
		"type": "object", "required": ["port"], "properties": {
			"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "note": {"type": "string"},
			"whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}},
			"set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
			"inner": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
				"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": {"type": "string"}}}}}}}}}`

// weaver makes random values of few words, so that those who write meet.
type weaver struct{ *rand.Rand }

func (r weaver) oneIn(n int) bool { return r.IntN(n) == 0 }

func (r weaver) value(s map[string]any) any {
	if s["x-kubernetes-preserve-unknown-fields"] == true {
		return r.open(2)
	}
	switch s["type"] {
	case "object":
		out := map[string]any{}
		if properties, ok := s["properties"].(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(properties)) {
				if r.IntN(7) < 2 {
					out[k] = r.value(properties[k].(map[string]any))
				}
			}
			return out
		}
		for _, k := range r.some("a", "b/c", "~d") {
			out[k.(string)] = r.value(s["additionalProperties"].(map[string]any))
		}
		return out
	case "array":
		items := s["items"].(map[string]any)
		switch s["x-kubernetes-list-type"] {
		case "set":
			if items["type"] == "integer" {
				return r.some(1, 2, 30)
			}
			return r.some("a", "b", "c\"", "d")
		case "map":
			out := []any{}
			if keys := s["x-kubernetes-list-map-keys"].([]any); len(keys) == 1 {
				for _, n := range r.some("a", "b", "c") {
					item := r.value(items).(map[string]any)
					item["name"] = n
					out = append(out, item)
				}
				return out
			}
			for _, n := range r.some("1", "1U", "2", "2S") {
				item := r.value(items).(map[string]any)
				delete(item, "protocol")
				item["port"] = int64(n.(string)[0] - '0')
				switch {
				case len(n.(string)) > 1:
					item["protocol"] = map[byte]string{'U': "UDP", 'S': "SCTP"}[n.(string)[1]]
				case r.oneIn(2):
					item["protocol"] = "TCP"
				}
				out = append(out, item)
			}
			return out
		}
		out := []any{}
		for range r.IntN(3) {
			out = append(out, r.value(items))
		}
		return out
	case "integer":
		return r.IntN(3)
	case "number":
		return []any{1, 1.5, 2.5}[r.IntN(3)]
	case "boolean":
		return r.oneIn(2)
	}
	return []any{"x", "y", ""}[r.IntN(3)]
}

func (r weaver) some(words ...any) []any {
	out := []any{}
	for _, i := range r.Perm(len(words))[:r.IntN(len(words))] {
		out = append(out, words[i])
	}
	return out
}

func (r weaver) open(depth int) any {
	out := map[string]any{}
	for _, k := range r.some("a", "b", "selector") {
		switch r.IntN(6) {
		case 1:
			out[k.(string)] = []any{r.IntN(2)}
		case 2, 3:
			out[k.(string)] = []any{"x", 1}[r.IntN(2)]
		default:
			if depth > 0 {
				out[k.(string)] = r.open(depth - 1)
			}
		}
	}
	return out
}

func weave(r weaver, schema map[string]any, status bool) map[string]any {
	if status {
		return map[string]any{"status": r.value(schema)}
	}
	metadata := map[string]any{}
	if r.oneIn(2) {
		metadata["labels"] = r.value(map[string]any{"additionalProperties": map[string]any{"type": "string"}, "type": "object"})
		delete(metadata["labels"].(map[string]any), "~d")
		metadata["labels"].(map[string]any)["l"] = "l" // an empty one is not written
	}
	if r.oneIn(4) {
		metadata["finalizers"] = append(r.some("x.y/a", "x.y/b", "x.y/c"), "x.y/d")
	}
	out := map[string]any{"metadata": metadata}
	if !r.oneIn(10) {
		out["spec"] = r.value(schema)
	}
	return out
}

// Some who apply, update, extract and take over at random find on a server what package patch says of an object: what IsApplied
// knows to be applied changes nothing, what Extract gives back neither, MigrateFields changes owners alone, and FieldConflicts names
// them. behaviours 325 and 326
func TestRandomApplies(t *testing.T) {
	const usual = 24
	var schema map[string]any
	if err := json.Unmarshal([]byte(wovenSchema), &schema); err != nil {
		t.Fatal(err)
	}
	woven := func(r weaver, status bool) map[string]any { return weave(r, schema, status) }
	for _, test := range []struct {
		group, kind, resource string
		config                func(r weaver, status bool) map[string]any
	}{
		{"woven.example", "Woven", "wovens", woven},
		{"woven.example", "Loose", "looses", woven}, // without a schema
		{"apps", "Deployment", "deployments", randomDeployment},
	} {
		t.Run(test.kind, func(t *testing.T) {
			tally := map[string]int{}
			of := client.Type[*meta.Unstructured]{Group: test.group, Version: "v1", Kind: test.kind, Resource: test.resource}
			for seed := range histories.Seeds(usual) {
				synctest.Test(t, func(t *testing.T) {
					a := &appliers{
						weaver: weaver{rand.New(rand.NewPCG(seed, 7))}, all: client.For(wovenServer(t), of), config: test.config,
						last: map[patch.FieldManager]map[string]any{}, taken: map[patch.FieldManager]bool{}, tally: tally,
					}
					for range 4 + a.IntN(12) {
						a.step(t)
					}
					if t.Failed() {
						t.Logf("seed %d", seed)
						for _, line := range a.history {
							t.Log(line)
						}
					}
				})
				if t.Failed() {
					return
				}
			}
			t.Log(tally)
			if histories.Count(usual) < usual {
				return // so few need not have done all of it
			}
			for _, what := range []string{"changed", "merged", "migrated", "conflict", "extracted"} {
				if tally[what] < 5 {
					t.Errorf("it was %s %d times: the test says too little", what, tally[what])
				}
			}
		})
	}
}

func wovenServer(t *testing.T) *client.Client {
	t.Helper()
	s := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{
		{
			Group: "woven.example", Version: "v1", Kind: "Woven", Resource: "wovens", Status: true,
			Schema: json.RawMessage(`{"type":"object","properties":{"spec":` + wovenSchema + `,"status":` + wovenSchema + `}}`),
		},
		{Group: "woven.example", Version: "v1", Kind: "Loose", Resource: "looses", Status: true},
	}})
	return dial(t, s.Config())
}

// appliers write one object.
type appliers struct {
	weaver
	all     client.Resource[*meta.Unstructured]
	config  func(r weaver, status bool) map[string]any
	live    *meta.Unstructured
	last    map[patch.FieldManager]map[string]any // what each has applied
	taken   map[patch.FieldManager]bool           // who owns what he did not apply
	tally   map[string]int
	history []string
}

func (a *appliers) note(format string, args ...any) {
	a.history = append(a.history, fmt.Sprintf(format, args...))
}

// content is an object without what every write changes.
func content(t *testing.T, o *meta.Unstructured) string {
	t.Helper()
	o = meta.Clone(o)
	metadata := o.Object["metadata"].(map[string]any)
	delete(metadata, "managedFields")
	delete(metadata, "resourceVersion")
	return textOf(t, o)
}

func textOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// step is one write of one of them.
func (a *appliers) step(t *testing.T) {
	time.Sleep(time.Duration(a.IntN(2)) * time.Second)
	managers := []string{"a", `b "using" v1 at`, "c with subresource"}
	m := patch.FieldManager{Name: managers[a.IntN(len(managers))]}
	h := a.all.With(client.WriteOptions{FieldManager: m.Name})
	apply, change := h.Apply, h.Patch
	if a.live != nil && a.oneIn(6) {
		m.Subresource = "status"
		apply, change = h.Status().Apply, h.Status().Patch
	}
	owned := a.live != nil && a.live.Object["metadata"].(map[string]any)["managedFields"] != nil
	key := meta.Key{Namespace: "default", Name: "a"}
	switch do := a.IntN(10); {
	case a.live != nil && do <= 1:
		config := a.config(a.weaver, m.Subresource != "")
		a.note("%v merges %s", m, textOf(t, config))
		if got, err := change(t.Context(), key, patch.Merge(config)); err == nil {
			a.tally["merged"]++
			a.live = got
		}
	case owned && do == 2:
		from := managers[a.IntN(len(managers)):]
		a.note("%v takes over from %q", m, from)
		p := patch.MigrateFields(a.live, m, from...)
		if p.IsEmpty() {
			return
		}
		got := must[*meta.Unstructured](t)(h.Patch(t.Context(), key, p))
		if content(t, a.live) != content(t, got) || !patch.MigrateFields(got, m, from...).IsEmpty() {
			t.Errorf("the migration made\n%s of\n%s", textOf(t, got), textOf(t, a.live))
		}
		a.tally["migrated"]++
		a.live, a.taken[m] = got, true
	case owned && do <= 4:
		config := must[json.RawMessage](t)(patch.Extract(a.live, m))
		a.note("%v extracts %s", m, config)
		got := must[*meta.Unstructured](t)(apply(t.Context(), key, config, client.ApplyOptions{}))
		// Null cannot be applied, and of a built-in kind some zeros are not there to be given back.
		lost := bytes.Contains(config, []byte("null"))
		same := got.GetResourceVersion() == a.live.GetResourceVersion()
		if !lost && (content(t, got) != content(t, a.live) || !same && !a.taken[m] && got.Object["kind"] != "Deployment") {
			t.Errorf("what was extracted makes\n%s of\n%s", textOf(t, got), textOf(t, a.live))
		}
		a.tally["extracted"]++
		a.live = got
		delete(a.taken, m)
	default:
		config := a.last[m]
		if config == nil || a.oneIn(2) {
			config = a.config(a.weaver, m.Subresource != "")
		}
		force := a.oneIn(2)
		a.note("%v applies %s, force %t", m, textOf(t, config), force)
		known := a.live != nil && patch.Apply(config).IsApplied(a.live, m)
		got, err := apply(t.Context(), key, config, client.ApplyOptions{Force: force})
		if known && (err != nil || got.GetResourceVersion() != a.live.GetResourceVersion()) {
			t.Errorf("it is known to be applied, and makes %v, %s of\n%s", err, textOf(t, got), textOf(t, a.live))
		}
		switch {
		case apierrors.ReasonOf(err) == apierrors.Conflict:
			a.tally["conflict"]++
			conflicts := apierrors.FieldConflicts(err)
			for _, c := range conflicts {
				writes := c.Manager == "before-first-apply" || slices.Contains(managers, c.Manager)
				if !writes || c.Manager == m.Name && c.Operation == "Apply" || c.Field == "" {
					t.Errorf("%v has the conflict %+v", err, c)
				}
			}
			if len(conflicts) == 0 {
				t.Errorf("%v has no conflicts", err)
			}
		case err != nil: // a deployment without containers
			a.tally["refused"]++
		default:
			a.tally["changed"]++
			if known {
				a.tally["changed"]--
				a.tally["known"]++
			}
			a.live, a.last[m] = got, config
			delete(a.taken, m)
		}
	}
}

// randomDeployment has what deployments are difficult with: defaults in keys, zeros that are not written, objects that are owned
// whole or empty.
func randomDeployment(r weaver, status bool) map[string]any {
	some := func(object map[string]any, name string, values ...any) {
		if i := r.IntN(len(values) + 1); i < len(values) {
			object[name] = values[i]
		}
	}
	if status {
		st := map[string]any{}
		some(st, "replicas", 1, 2, 0)
		some(st, "readyReplicas", 1, 2, 0)
		cond := func(typ, s string) any { return map[string]any{"type": typ, "status": s} }
		some(st, "conditions", []any{cond("A", "True")}, []any{cond("B", "True"), cond("A", "False")}, []any{})
		return map[string]any{"status": st}
	}
	container := func(name string) map[string]any {
		c := map[string]any{"name": name, "image": "i:1"}
		some(c, "image", "i:2", "i:1", "i:1")
		some(c, "args", []any{}, []any{"a"}, []any{"a", "b"}, []any{"b", "a"})
		some(c, "resources", map[string]any{}, map[string]any{"limits": map[string]any{"cpu": "500m"}}, map[string]any{"limits": map[string]any{"cpu": "0.5"}})
		some(c, "ports", []any{}, []any{map[string]any{"containerPort": 80}}, []any{map[string]any{"containerPort": 80, "protocol": "TCP"}},
			[]any{map[string]any{"containerPort": 80, "protocol": "UDP"}, map[string]any{"containerPort": 80}},
			[]any{map[string]any{"containerPort": 80}, map[string]any{"containerPort": 80, "protocol": "UDP"}})
		some(c, "env", []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B"}},
			[]any{map[string]any{"name": "B", "value": ""}, map[string]any{"name": "A", "value": "1"}},
			[]any{map[string]any{"name": "A", "valueFrom": map[string]any{"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.name"}}}})
		some(c, "securityContext", map[string]any{}, map[string]any{"privileged": false})
		some(c, "stdin", false, true)
		return c
	}
	containers := []any{container("web")}
	if r.IntN(3) == 0 {
		containers = append(containers, container("log"))
	}
	if r.IntN(2) == 0 {
		slices.Reverse(containers)
	}
	pod := map[string]any{"containers": containers}
	some(pod, "nodeSelector", map[string]any{}, map[string]any{"a": "b"})
	some(pod, "hostNetwork", false)
	some(pod, "volumes", []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}},
		[]any{map[string]any{"name": "tmp", "emptyDir": map[string]any{"medium": "Memory"}}})
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": pod},
	}
	some(spec, "strategy", map[string]any{}, map[string]any{"type": "RollingUpdate"},
		map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}})
	some(spec, "replicas", 1, 0, 2)
	some(spec, "paused", false, true)
	metadata := map[string]any{}
	some(metadata, "labels", map[string]any{}, map[string]any{"a": ""}, map[string]any{"a": "", "b": "1"})
	some(metadata, "annotations", map[string]any{"n": "1", "e": ""})
	some(metadata, "finalizers", []any{}, []any{"example.com/a"}, []any{"example.com/b", "example.com/a"}, []any{"example.com/a", "example.com/b"})
	some(metadata, "ownerReferences", []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}},
		[]any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": false}})
	return map[string]any{"metadata": metadata, "spec": spec}
}

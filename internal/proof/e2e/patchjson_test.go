package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// Random JSON patches do on the server what they do here, and fail there where they fail here. The objects are of a custom
// resource, which may have anything in it. behaviours 307, 311, 312, 313
func TestRandomJSONPatchesGiveTheServersResult(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	w := &workshop{
		things(t, c, "json.e2e.bowline.example").In(ns),
		specimen{c: c, path: "/apis/json.e2e.bowline.example/v1/namespaces/" + ns + "/things/"},
		map[string]any{"apiVersion": "json.e2e.bowline.example/v1", "kind": "Thing"},
		func(r chance) map[string]any {
			return map[string]any{"metadata": map[string]any{}, "spec": r.anything(4)}
		},
	}
	wrong, seeds := 0, histories.Count(usualPatches)
	for seed := range histories.Seeds(usualPatches) {
		r := newChance(seed)
		s := w.create(t, fmt.Sprint("seed-", seed), w.make(r))
		for range 4 {
			body, got, err := r.operations(t, s.live)
			if err == nil {
				s.compare(t, patch.JSONType, body, got)
			} else {
				wrong++
				a := s.send(t, http.MethodPatch, patch.JSONType, body)
				if !errors.Is(a.err, apierrors.Invalid) {
					t.Errorf("of %s\nthe patch %s\nreturns %v\nand here %v", s.live, body, a.err, err)
				}
			}
			if t.Failed() {
				t.Fatalf("seed %d; -first %[1]d -seeds 1 tries it alone", seed)
			}
		}
	}
	if t.Logf("of %d patches %d do not fit", 4*seeds, wrong); wrong < seeds/4 || wrong > 3*seeds {
		t.Error("so that this says little")
	}
}

// anything is an object such as no kind has. Its numbers are those that a server writes as it read them.
func (r chance) anything(depth int) map[string]any {
	object := map[string]any{}
	for range r.IntN(5) {
		object[r.pick("a", "b", "", "a/b", "m~n", "~1", "é", "e\u0301", "<&>", "\"\\\n", "0", "-")] = r.value(depth - 1)
	}
	return object
}

func (r chance) value(depth int) any {
	if n := r.IntN(8); n == 0 {
		return nil
	} else if n < 3 && depth > 0 {
		return r.anything(depth)
	}
	return r.plain(depth)
}

// plain is a value without null, of which a server's JSON patch is not sure: a test of a list with null in it breaks the
// connection off, and a null that the patch itself has put there is not null to a test.
func (r chance) plain(depth int) any {
	switch n := r.IntN(8); {
	case n < 2 && depth > 0:
		return map[string]any{r.pick("a", "b", ""): r.plain(depth - 1), "é": r.plain(depth - 1)}
	case n < 5 && depth > 0:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = r.plain(depth - 1)
		}
		return list
	}
	return []any{true, "x", "", "<&>\u2028", "é\n", 0, 1, 1.5, 1<<53 + 1, -1 << 63}[r.IntN(10)]
}

// operations returns a JSON patch, and what it makes of live or why it does not fit. It has nothing of what
// TestTheServerDiffersFromTheRFC has.
func (r chance) operations(t *testing.T, live []byte) (body, got []byte, err error) {
	t.Helper()
	var ops []patch.Op
	got = live
	for n := r.IntN(6); len(ops) <= n; {
		doc := decoded(t, got)
		places := append(pointersOf(asObject(doc)["spec"], "/spec"), "/spec/new")
		path, from := places[r.IntN(len(places))], places[r.IntN(len(places))]
		if r.one(4) {
			path += "/" + r.pick("-", "new", "0", "1")
		}
		here, found := at(doc, path)
		var op patch.Op
		switch r.IntN(7) {
		case 0, 1:
			op = patch.Add(path, r.plain(2))
		case 2:
			op = patch.Remove(path)
		case 3:
			if op = patch.Replace(path, r.plain(2)); !found {
				continue
			}
		case 4:
			if op = patch.Move(from, path); path == from || strings.HasPrefix(path, from+"/") {
				continue
			}
		case 5:
			if v, ok := at(doc, from); !ok || v == nil {
				continue // the server adds null, and breaks off at a path through a null that was copied
			}
			op = patch.Copy(from, path)
		case 6:
			if op = patch.Test(path, here); !found {
				continue
			} else if r.one(6) {
				op = patch.Test(path, r.plain(1))
			}
		}
		next, err := patch.ApplyJSON(got, must(patch.JSON(op).Body())(t))
		if err != nil && !r.one(4) {
			continue
		}
		ops = append(ops, op)
		if err != nil {
			return must(patch.JSON(ops...).Body())(t), nil, err
		}
		got = next
	}
	return must(patch.JSON(ops...).Body())(t), got, nil
}

// What DiffJSON and DiffGuarded compute makes on the server what it was computed for, whatever letters are in it: a server
// compares what it tests letter by letter, as they are written.
func TestDifferencesInJSONPatchesGiveTheServersResult(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, r chance, w *workshop, name string) bool {
		doc := w.make(r)
		asObject(doc["metadata"])["annotations"] = r.words("example.invalid/a", 5, "<", "&>", "\u2028", "é", "\b\f\u007f", `\`, "/")
		s := w.create(t, name, doc)
		other := w.make(r)
		asObject(other["metadata"])["annotations"] = r.words("example.invalid/a", 5, "<", "x")
		want := encoded(t, r.rewritten(decoded(t, s.live).(map[string]any), other))
		s.compare(t, patch.JSONType, must(patch.DiffJSON(json.RawMessage(s.live), json.RawMessage(want)).Body())(t), want)
		live := []any{json.RawMessage(s.live), json.RawMessage(unescaped.Replace(string(s.live))), parse(t, string(s.live))}[r.IntN(3)]
		return s.compare(t, patch.JSONType, must(patch.DiffGuarded(live, json.RawMessage(want)).Body())(t), want)
	})
}

// unescaped writes letters as others than Go do.
var unescaped = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028", "é", `\u00e9`)

// pointersOf returns where the values in v are, which is at above.
func pointersOf(v any, above string) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			all = append(append(all, above+patch.Pointer(name)), pointersOf(v[name], above+patch.Pointer(name))...)
		}
	case []any:
		for i, value := range v {
			all = append(append(all, above+patch.Pointer(fmt.Sprint(i))), pointersOf(value, above+patch.Pointer(fmt.Sprint(i)))...)
		}
	}
	return all
}

// at returns what a pointer leads to.
func at(v any, pointer string) (any, bool) {
	names, err := patch.ParsePointer(pointer)
	if err != nil {
		return nil, false
	}
	for _, name := range names {
		switch parent := v.(type) {
		case map[string]any:
			value, ok := parent[name]
			if !ok {
				return nil, false
			}
			v = value
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Random merge patches, and what Diff computes, do on the server what they do here. behaviours 315, 317
func TestRandomMergePatchesGiveTheServersResult(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, r chance, w *workshop, name string) bool {
		s := w.create(t, name, w.make(r))
		live := decoded(t, s.live).(map[string]any)
		want := encoded(t, r.rewritten(live, w.make(r)))
		body := must(patch.Diff(json.RawMessage(s.live), json.RawMessage(want)).Body())(t)
		s.compare(t, patch.MergeType, body, want)

		member := "spec"
		if asObject(live["spec"])["template"] == nil {
			member = "metadata" // of which a pod lets more be changed
			live = map[string]any{"metadata": map[string]any{"annotations": asObject(live["metadata"])["annotations"]}}
		}
		body = encoded(t, map[string]any{member: r.partOf(asObject(live[member]), asObject(w.make(r)[member]))})
		return s.compare(t, patch.MergeType, body, must(patch.ApplyMerge(s.live, body))(t))
	})
}

// partOf returns a merge patch with some of other, and nulls.
func (r chance) partOf(live, other map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range sortedNames(other) {
		if r.one(2) {
			continue
		}
		out[name] = clone(other[name])
		if object, ok := other[name].(map[string]any); ok && !slices.Contains(unions, name) {
			out[name] = r.partOf(asObject(live[name]), object)
		}
	}
	for _, name := range sortedNames(live) {
		if r.one(8) && !slices.Contains([]string{"containers", "template", "selector"}, name) {
			out[name] = nil
		}
	}
	return out
}

// What a server makes of a JSON patch or a merge patch that the RFC wants otherwise. Package patch does as the RFC says; its
// documentation tells of these.
func TestTheServerDiffersFromTheRFC(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := things(t, c, "rfc.e2e.bowline.example").In(ns)
	key := meta.KeyOf(create(t, r, ns, `{"metadata": {"name": "a"}, "spec": {"a": {"b": 1, "n": null}, "l": [1, 2, 3], "t": "x"}}`))
	url := "/apis/rfc.e2e.bowline.example/v1/namespaces/" + ns + "/things/" + key.Name
	live := encoded(t, must(r.Get(t.Context(), key))(t).Object)
	for _, test := range []struct{ name, mediaType, body, spec, ours string }{
		{"replaces what is not there", patch.JSONType, `[{"op":"replace","path":"/spec/new","value":1}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"new":1,"t":"x"}`, "not found"},
		{"copies what is not there", patch.JSONType, `[{"op":"copy","from":"/spec/none","path":"/spec/new"}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"new":null,"t":"x"}`, "not found"},
		{"finds null where there is nothing", patch.JSONType, `[{"op":"test","path":"/spec/none","value":null}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`, "not found"},
		{"does not know 1.0 for 1", patch.JSONType, `[{"op":"test","path":"/spec/a/b","value":1.0}]`, "Invalid", `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"does not know an escaped letter", patch.JSONType, `[{"op":"test","path":"/spec/t","value":"\u0078"}]`, "Invalid", `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"counts from the end", patch.JSONType, `[{"op":"remove","path":"/spec/l/-1"}]`, `{"a":{"b":1,"n":null},"l":[1,2],"t":"x"}`, "not found"},
		{"takes an index with a zero before it", patch.JSONType, `[{"op":"remove","path":"/spec/l/01"}]`, `{"a":{"b":1,"n":null},"l":[1,3],"t":"x"}`, "not found"},
		{"takes a pointer without a slash", patch.JSONType, `[{"op":"add","path":"x/spec/t","value":"y"}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"y"}`, "malformed"},
		{"adds null for no value", patch.JSONType, `[{"op":"add","path":"/spec/new"}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"new":null,"t":"x"}`, "malformed"},
		{"tests for null without a value", patch.JSONType, `[{"op":"test","path":"/spec/a/n"}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`, "malformed"},
		{"copies into what is copied", patch.JSONType, `[{"op":"copy","from":"/spec/a","path":"/spec/a/c"}]`, `{"a":{"b":1,"c":{"b":1,"n":null},"n":null},"l":[1,2,3],"t":"x"}`, `{"a":{"b":1,"n":null,"c":{"b":1,"n":null}},"l":[1,2,3],"t":"x"}`},
		{"moves something into itself", patch.JSONType, `[{"op":"move","from":"/spec/a","path":"/spec/a/c"}]`, "Invalid", "malformed"},
		{"moves something to where it is", patch.JSONType, `[{"op":"move","from":"/spec/t","path":"/spec/t"}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"tests the whole document", patch.JSONType, `[{"op":"test","path":"","value":DOC}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"tests that it is another", patch.JSONType, `[{"op":"test","path":"","value":{}}]`, "Invalid", "test failed"},
		{"does not copy the whole document", patch.JSONType, `[{"op":"copy","from":"","path":"/spec/d"}]`, "Invalid", `{"a":{"b":1,"n":null},"d":DOC,"l":[1,2,3],"t":"x"}`},
		{"does not add the whole document", patch.JSONType, `[{"op":"add","path":"","value":DOC}]`, "Invalid", `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"replaces the whole document", patch.JSONType, `[{"op":"replace","path":"","value":DOC}]`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x"}`},
		{"does not know the operation", patch.JSONType, `[{"op":"spam","path":"/spec/t"}]`, "Invalid", "malformed"},
		{"takes no object", patch.JSONType, `{"op":"remove","path":"/spec/t"}`, "BadRequest", "malformed"},

		{"keeps nulls in lists", patch.MergeType, `{"spec":{"l":[null,1]}}`, `{"a":{"b":1,"n":null},"l":[null,1],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[null,1],"t":"x"}`},
		{"drops nulls of objects in lists", patch.MergeType, `{"spec":{"l":[{"a":null,"b":1}]}}`, `{"a":{"b":1,"n":null},"l":[{"b":1}],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[{"a":null,"b":1}],"t":"x"}`},
		{"drops them where the list is new", patch.MergeType, `{"spec":{"m":[{"a":null}]}}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"m":[{}],"t":"x"}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x","m":[{"a":null}]}`},
		{"keeps them where the list takes an object's place", patch.MergeType, `{"spec":{"a":[{"a":null}]}}`, `{"a":[{"a":null}],"l":[1,2,3],"t":"x"}`, `{"a":[{"a":null}],"l":[1,2,3],"t":"x"}`},
		{"drops null where there is nothing", patch.MergeType, `{"spec":{"x":{"y":null}}}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x","x":{}}`, `{"a":{"b":1,"n":null},"l":[1,2,3],"t":"x","x":{}}`},
		{"removes null", patch.MergeType, `{"spec":{"a":{"n":null}}}`, `{"a":{"b":1},"l":[1,2,3],"t":"x"}`, `{"a":{"b":1},"l":[1,2,3],"t":"x"}`},
		{"takes no list", patch.MergeType, `[]`, "BadRequest", ""},
		{"takes no null", patch.MergeType, `null`, "BadRequest", ""},
		{"takes no text", patch.MergeType, `"a"`, "BadRequest", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := []byte(strings.ReplaceAll(test.body, "DOC", string(live)))
			s := specimen{c: c, path: url, live: live}
			a := s.send(t, http.MethodPatch, test.mediaType, body)
			said := string(encoded(t, a.object["spec"]))
			if a.err != nil {
				said = a.status.Reason
			}
			if said != test.spec {
				t.Errorf("the server has %s, %v; want %s", said, a.err, test.spec)
			}
			apply := patch.ApplyJSON
			if test.mediaType == patch.MergeType {
				apply = patch.ApplyMerge
			}
			got, err := apply(live, body)
			switch test.ours {
			case "not found", "malformed", "test failed":
				if kind := map[string]error{"not found": patch.ErrNotFound, "malformed": patch.ErrMalformed, "test failed": patch.ErrTestFailed}[test.ours]; !errors.Is(err, kind) {
					t.Errorf("here it is %s, %v; want that it is %v", got, err, kind)
				}
			case "": // a document that is no object
			default:
				var doc struct{ Spec json.RawMessage }
				if err != nil || json.Unmarshal(got, &doc) != nil || !bytes.Equal(encoded(t, decoded(t, doc.Spec)), encoded(t, decoded(t, []byte(strings.ReplaceAll(test.ours, "DOC", string(live)))))) {
					t.Errorf("here it is %s, %v; want %s", doc.Spec, err, test.ours)
				}
			}
		})
	}
}

// things installs a custom resource whose objects may have anything in them.
func things(t *testing.T, c *client.Client, group string) client.Resource[object] {
	t.Helper()
	text := strings.NewReplacer("knots", "things", "knot", "thing", "Knot", "Thing", `"kn"`, `"th"`).Replace(definition(group))
	obj := parse(t, text)
	for _, v := range nested[[]any](t, obj, "spec", "versions") {
		version := v.(map[string]any)
		delete(version, "subresources")
		version["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
			"spec": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}}
	}
	made := must(client.For(c, definitions).Create(t.Context(), obj))(t)
	must(client.WaitFor(t.Context(), client.For(c, definitions), meta.KeyOf(made), client.UntilReady()))(t)
	return client.For(c, client.Type[object]{Group: group, Version: "v1", Kind: "Thing", Resource: "things"})
}

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/patch"
)

// usualPatches is how many seeds each comparison of random patches tries if no flag asks for others.
const usualPatches = 60

// specimen is a live object on which patches are compared: what the server makes of one, and what package patch does. Nothing
// is stored, so that it stays what it is.
type specimen struct {
	c          *client.Client
	path       string
	live       []byte
	schemas    []patch.Schema // that of the Go type, and that of the server's document
	validation string         // of fields that the kind does not have
}

// answer is what the server says of a dry run.
type answer struct {
	object map[string]any // without what differs from write to write
	err    error
	status meta.Status
}

func (s *specimen) send(t *testing.T, method, mediaType string, body []byte) answer {
	t.Helper()
	resp, err := s.c.Raw(t.Context(), client.RawRequest{
		Method: method, Path: s.path, Query: url.Values{"dryRun": {"All"}, "fieldManager": {"e2e"}, "fieldValidation": {s.validation}},
		Header: http.Header{"Content-Type": {mediaType}}, Body: body,
	})
	if err != nil {
		var refused *apierrors.StatusError
		if !errors.As(err, &refused) {
			t.Fatalf("of %s\n%s returns %v", s.live, body, err)
		}
		return answer{err: err, status: refused.Status}
	}
	defer resp.Body.Close()
	text := must(io.ReadAll(resp.Body))(t)
	object := decoded(t, text).(map[string]any)
	metadata := asObject(object["metadata"])
	for _, name := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(metadata, name)
	}
	return answer{object: object}
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	return must(json.Marshal(v))(t)
}

// compare sends a patch, and writes what package patch makes of it in its place: the server must give one answer to both.
func (s *specimen) compare(t *testing.T, mediaType string, body, ours []byte) (refused bool) {
	t.Helper()
	a, b := s.send(t, http.MethodPatch, mediaType, body), s.send(t, http.MethodPut, "application/json", ours)
	switch {
	case a.err == nil && b.err == nil:
		if !reflect.DeepEqual(a.object, b.object) {
			t.Errorf("of %s\nthe patch %s\nmakes on the server %s\nand here %s,\nwhich is %s", s.live, body, encoded(t, a.object), ours, encoded(t, b.object))
		}
		return false
	case a.err == nil || b.err == nil:
		t.Errorf("of %s\nthe patch %s\nreturns %v\nand its result %s\nreturns %v", s.live, body, a.err, ours, b.err)
	case strings.Contains(b.status.Message, "cannot unmarshal") || strings.Contains(b.status.Message, "cannot be handled"): // said in other words
	case !slices.Equal(wordsOf(a.status), wordsOf(b.status)):
		t.Errorf("of %s\nthe patch %s\nreturns %v,\nand its result %v", s.live, body, a.err, b.err)
	}
	return true
}

// wordsOf returns what a refusal says, whose parts come in any order.
func wordsOf(status meta.Status) []string {
	words := strings.FieldsFunc(status.Message, func(c rune) bool { return strings.ContainsRune(" [],", c) })
	slices.Sort(words)
	return words
}

// served returns the schema of a kind from what the server publishes.
func served(t *testing.T, c *client.Client, path string, kind meta.GVK) patch.Schema {
	t.Helper()
	resp := must(c.Raw(t.Context(), client.RawRequest{Path: "/openapi/v3/" + path}))(t)
	defer resp.Body.Close()
	return must(patch.SchemaFromOpenAPI(must(io.ReadAll(resp.Body))(t), kind))(t)
}

// workshop makes specimens of one kind.
type workshop struct {
	resource client.Resource[object]
	specimen specimen
	head     map[string]any // apiVersion and kind
	make     func(chance) map[string]any
}

func deploymentsAt(t *testing.T) *workshop {
	c, ns := admin(t)
	return &workshop{
		client.For(c, deployments).In(ns),
		specimen{c: c, path: "/apis/apps/v1/namespaces/" + ns + "/deployments/", schemas: []patch.Schema{
			patch.SchemaOf[appsv1.Deployment](), served(t, c, "apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}),
		}},
		map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"},
		chance.deployment,
	}
}

func podsAt(t *testing.T) *workshop {
	c, ns := admin(t)
	return &workshop{
		client.For(c, pods).In(ns),
		specimen{c: c, path: "/api/v1/namespaces/" + ns + "/pods/", schemas: []patch.Schema{
			patch.SchemaOf[corev1.Pod](), served(t, c, "api/v1", meta.GVK{Version: "v1", Kind: "Pod"}),
		}},
		map[string]any{"apiVersion": "v1", "kind": "Pod"},
		chance.pod,
	}
}

// create makes a live object, which has then what the server adds to doc.
func (w *workshop) create(t *testing.T, name string, doc map[string]any) *specimen {
	t.Helper()
	made := must(w.resource.Create(t.Context(), parse(t, string(encoded(t, w.named(name, doc))))))(t)
	delete(asObject(made.Object["metadata"]), "managedFields") // what is written without them keeps them
	s := w.specimen
	s.path, s.live = s.path+name, encoded(t, made.Object)
	return &s
}

// named returns the document with its kind and a name.
func (w *workshop) named(name string, doc map[string]any) map[string]any {
	out := clone(doc).(map[string]any)
	for member, value := range w.head {
		out[member] = value
	}
	asObject(out["metadata"])["name"] = name
	return out
}

// eachSeed runs a test on random specimens of both kinds: of a pod the server lets little be changed, but it says what it was
// that a patch would have changed.
func eachSeed(t *testing.T, test func(t *testing.T, r chance, w *workshop, name string) (refused bool)) {
	for name, open := range map[string]func(*testing.T) *workshop{"deployments": deploymentsAt, "pods": podsAt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			refusals, seeds := 0, histories.Count(usualPatches)
			for seed := range histories.Seeds(usualPatches) {
				if test(t, newChance(seed), w, fmt.Sprint("seed-", seed)) {
					refusals++
				}
				if t.Failed() {
					t.Fatalf("seed %d; -first %[1]d -seeds 1 tries it alone", seed)
				}
			}
			t.Logf("of %d patches the server refused %d", seeds, refusals)
			if seeds > 10 && refusals > seeds*2/3 {
				t.Errorf("of %d patches the server refused %d, so that this says little", seeds, refusals)
			}
		})
	}
}

// body is a patch's, which must be the same by both schemas.
func (s *specimen) strategic(t *testing.T, make func(patch.Schema) (patch.Patch, error)) []byte {
	t.Helper()
	var all []string
	for _, schema := range s.schemas {
		all = append(all, string(must(must(make(schema))(t).Body())(t)))
	}
	if all[0] != all[1] {
		t.Fatalf("by the Go type the patch is %s\nby the server's document %s", all[0], all[1])
	}
	return []byte(all[0])
}

func (s *specimen) apply(t *testing.T, body []byte) ([]byte, error) {
	t.Helper()
	got, err := patch.ApplyStrategic(s.live, body, s.schemas[0])
	if other, otherErr := patch.ApplyStrategic(s.live, body, s.schemas[1]); !bytes.Equal(got, other) || fmt.Sprint(err) != fmt.Sprint(otherErr) {
		t.Fatalf("by the Go type the result is %s, %v\nby the server's document %s, %v", got, err, other, otherErr)
	}
	return got, err
}

// A three-way merge, sent to the server, does there what it does here, and it does what it is for. behaviours 320, 321, 322
func TestThreeWayMergesGiveTheServersResult(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, r chance, w *workshop, name string) bool {
		original := w.make(r)
		modified := w.named(name, r.changed(original, w.make(r)))
		s := w.create(t, name, r.changed(original, w.make(r)))
		original = w.named(name, original)
		s.validation = "Strict" // no directive is left where it means nothing
		body := s.strategic(t, func(schema patch.Schema) (patch.Patch, error) {
			return patch.ThreeWay(encoded(t, original), encoded(t, modified), s.live, schema, patch.ThreeWayOptions{})
		})
		got := must(s.apply(t, body))(t)
		was, want, live, is := decoded(t, encoded(t, original)), decoded(t, encoded(t, modified)), decoded(t, s.live), decoded(t, got)
		for _, broken := range slices.Concat(missing("", "", want, is), left("", "", was, want, is), lost("", "", live, was, want, is)) {
			t.Errorf("original %s\nmodified %s\nlive %s\npatch %s\nresult %s:\n%s", encoded(t, original), encoded(t, modified), s.live, body, got, broken)
		}
		return s.compare(t, patch.StrategicType, body, got)
	})
}

// The difference of two documents makes the one of the other, here and on the server. behaviours 321, 322
func TestStrategicDifferencesGiveTheServersResult(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, r chance, w *workshop, name string) bool {
		s := w.create(t, name, w.make(r))
		s.validation = "Strict"
		want := encoded(t, r.rewritten(decoded(t, s.live).(map[string]any), w.make(r)))
		body := s.strategic(t, func(schema patch.Schema) (patch.Patch, error) { return patch.DiffStrategic(s.live, want, schema) })
		got := must(s.apply(t, body))(t)
		if !reflect.DeepEqual(together("", decoded(t, got)), together("", decoded(t, want))) {
			t.Errorf("of %s\nthe patch %s\nmakes %s\nand not %s", s.live, body, got, want)
		}
		return s.compare(t, patch.StrategicType, body, got)
	})
}

// rewritten returns a live object after somebody has worked on it who sees all of it.
func (r chance) rewritten(live, other map[string]any) map[string]any {
	out := clone(live).(map[string]any)
	metadata, theirs := asObject(out["metadata"]), asObject(other["metadata"])
	for _, name := range []string{"annotations", "finalizers", "ownerReferences"} {
		mixed := r.mix(map[string]any{name: metadata[name]}, map[string]any{name: theirs[name]})
		if delete(metadata, name); mixed[name] != nil {
			metadata[name] = mixed[name]
		}
	}
	spec := asObject(live["spec"])
	if spec["template"] == nil && !r.one(4) {
		out["spec"] = r.changedPod(spec)
		return out
	}
	out["spec"] = r.mix(spec, asObject(other["spec"]))
	for _, name := range []string{"selector", "template", "nodeName"} {
		if spec[name] != nil && asObject(out["spec"])[name] == nil {
			asObject(out["spec"])[name] = spec[name]
		}
	}
	return repaired(out)
}

// Random patches with random directives do on the server what they do here. Where the server does not obey one but says
// nothing, here it is an error. behaviours 321, 323
func TestRandomDirectivesAreObeyedAsByTheServer(t *testing.T) {
	t.Parallel()
	strict, wrong := 0, 0
	t.Cleanup(func() { t.Logf("%d patches are errors on both sides, and %d here only", wrong, strict) })
	eachSeed(t, func(t *testing.T, r chance, w *workshop, name string) bool {
		s := w.create(t, name, w.make(r))
		body := encoded(t, r.directed(decoded(t, s.live).(map[string]any), w.make(r)))
		got, err := s.apply(t, body)
		if err == nil {
			return s.compare(t, patch.StrategicType, body, got)
		}
		if a := s.send(t, http.MethodPatch, patch.StrategicType, body); a.err == nil {
			strict++
			if !strings.Contains(err.Error(), "no directive may stand here") {
				t.Errorf("of %s\nthe patch %s\nis no error on the server, and here %v", s.live, body, err)
			}
		} else {
			wrong++
		}
		return true
	})
}

// directed returns a patch with directives, made of parts of other, for a live object.
func (r chance) directed(live, other map[string]any) map[string]any {
	metadata := r.directedPart(asObject(live["metadata"]), asObject(other["metadata"]))
	delete(metadata, "labels")
	for name := range metadata {
		if !slices.Contains([]string{"annotations", "finalizers", "ownerReferences"}, name[strings.LastIndex(name, "/")+1:]) {
			delete(metadata, name)
		}
	}
	spec, theirs := asObject(live["spec"]), asObject(other["spec"])
	out := map[string]any{"metadata": metadata}
	if template := asObject(asObject(spec["template"])["spec"]); len(template) > 0 {
		deployment := r.directedPart(map[string]any{"strategy": spec["strategy"]}, map[string]any{"strategy": theirs["strategy"]})
		deployment["template"] = map[string]any{"spec": r.directedPart(template, asObject(asObject(theirs["template"])["spec"]))}
		out["spec"] = deployment
		return out
	}
	if out["spec"] = r.directedPart(spec, theirs); !r.one(4) {
		changed := r.changedPod(map[string]any{"containers": spec["containers"], "schedulingGates": spec["schedulingGates"]})
		change := map[string]any{}
		r.directedList(change, "containers", "name", nil, asList(changed["containers"]))
		r.directedList(change, "schedulingGates", "name", asList(spec["schedulingGates"]), asList(changed["schedulingGates"]))
		out["spec"] = change
	}
	return out
}

func (r chance) directedPart(live, other map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range sortedNames(other) {
		if r.one(2) {
			r.directedMember(out, name, live[name], other[name])
		}
	}
	for _, name := range sortedNames(live) {
		if r.one(12) && name != "containers" {
			out[name] = nil
		}
	}
	switch r.IntN(30) {
	case 0:
		out["$patch"] = r.pick("replace", "delete")
	case 1:
		out["$retainKeys"] = asAnys(sortedNames(out))
	}
	return out
}

func (r chance) directedMember(out map[string]any, name string, live, value any) {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	key := keysOf[name]
	switch {
	case isObject && slices.Contains(unions, name):
		change := clone(object).(map[string]any)
		if r.one(2) {
			change["$retainKeys"] = asAnys(sortedNames(object))
		}
		out[name] = change
	case isObject && slices.Contains([]string{"annotations", "nodeSelector"}, name):
		out[name] = r.mix(object, asObject(live)) // a directive would be one more text in it, or an error
	case isObject:
		out[name] = r.directedPart(asObject(live), object)
	case isList && (key != "" || name == "finalizers"):
		r.directedList(out, name, key, asList(live), list)
	default:
		out[name] = clone(value)
	}
}

func (r chance) directedList(out map[string]any, name, key string, live, other []any) {
	var change, order, gone []any
	id := func(v any) any {
		if key == "" {
			return v
		}
		return map[string]any{key: v.(map[string]any)[key]}
	}
	for _, v := range other {
		if r.one(3) {
			continue
		}
		if item, ok := v.(map[string]any); ok {
			part := r.directedPart(nil, item)
			part[key] = item[key]
			isNew := !slices.ContainsFunc(live, func(l any) bool { return reflect.DeepEqual(id(l), id(v)) })
			if isNew && !r.one(8) || r.one(3) || slices.Contains(unions, name) {
				part = clone(item).(map[string]any)
			}
			if name == "volumes" && r.one(2) {
				part["$retainKeys"] = asAnys(sortedNames(part))
			}
			v = part
		}
		change, order = append(change, clone(v)), append(order, id(v))
	}
	for _, v := range live {
		switch r.IntN(4) {
		case 0:
			if key == "" && slices.Contains(change, v) {
				continue // a server adds or deletes it, by chance
			}
			if gone = append(gone, v); key != "" {
				change = append(change, map[string]any{key: v.(map[string]any)[key], "$patch": "delete"})
			}
		case 1:
			if !slices.ContainsFunc(order, func(o any) bool { return reflect.DeepEqual(o, id(v)) }) {
				order = slices.Insert(order, r.IntN(len(order)+1), id(v))
			}
		}
	}
	if key != "" && r.one(12) {
		change = append(change, map[string]any{"$patch": "replace"})
	}
	if len(change) > 0 || r.one(2) {
		out[name] = append([]any{}, change...)
	}
	if r.one(2) {
		if r.one(8) {
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		out["$setElementOrder/"+name] = append([]any{}, order...)
	}
	if key == "" && len(gone) > 0 {
		out["$deleteFromPrimitiveList/"+name] = gone
	}
}

func asAnys(names []string) []any {
	out := []any{}
	for _, name := range names {
		if !strings.HasPrefix(name, "$") {
			out = append(out, name)
		}
	}
	return out
}

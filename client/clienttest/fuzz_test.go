package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// fuzzWidget is a kind with every kind of list and map.
var fuzzWidget = clienttest.Resource{
	Group: "bowline.dev", Version: "v1", Kind: "Widget", Resource: "widgets", Status: true, Schema: json.RawMessage(`{"type":"object","properties":{
		"spec":{"type":"object","default":{"depth":1},"properties":{
			"color":{"type":"string","default":"red"},"depth":{"type":"integer"},"extent":{"type":"object","default":{"unit":"m"},"properties":{
				"unit":{"type":"string","default":"mm"},"amount":{"type":"number"}}},
			"tags":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
			"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name","side"],"items":{"type":"object",
				"required":["name"],"properties":{"name":{"type":"string"},"side":{"type":"string","default":"left"},"size":{"type":"integer"}}}},
			"whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
			"any":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
			"inner":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
			"counts":{"type":"object","additionalProperties":{"type":"integer","nullable":true}}}},
		"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`),
}

// fuzzThing is a kind of which nothing is known.
var fuzzThing = clienttest.Resource{Group: "bowline.dev", Version: "v1", Kind: "Thing", Resource: "things", Status: true}

// fuzzKinds are the paths of collections, with an object for each and their subresources.
var fuzzKinds = []struct {
	path, object string
	sub          []string
}{
	{"/api/v1/namespaces/default/configmaps", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","labels":{"a":"b"},"finalizers":["a/b"]},"data":{"a":"1","b":"2"}}`, nil},
	{
		"/api/v1/namespaces/default/pods", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"b",` +
			`"ports":[{"containerPort":80},{"containerPort":80,"protocol":"UDP"}],"env":[{"name":"A","value":"b"}],"resources":{"limits":{"cpu":1}}}],` +
			`"volumes":[{"name":"v","emptyDir":{}}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
		[]string{"status", "binding", "ephemeralcontainers", "eviction", "resize"},
	},
	{
		"/apis/apps/v1/namespaces/default/deployments", `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x","generation":3},"spec":{"replicas":3,` +
			`"selector":{"matchLabels":{"a":"b"}},"strategy":{"type":"Recreate"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"},{"name":"c","image":"d"}]}}}}`,
		[]string{"status", "scale"},
	},
	{"/api/v1/namespaces/default/services", `{"kind":"Service","apiVersion":"v1","metadata":{"name":"x"},"spec":{"ports":[{"name":"a","port":80,"protocol":"TCP"},{"name":"b","port":80,"protocol":"UDP"}],"selector":{"a":"b"}}}`, []string{"status"}},
	{"/api/v1/namespaces", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x"},"spec":{"finalizers":["kubernetes"]}}`, []string{"status", "finalize"}},
	{"/apis/bowline.dev/v1/namespaces/default/widgets", `{"kind":"Widget","apiVersion":"bowline.dev/v1","metadata":{"name":"x"},"spec":{"tags":["a","b"],"parts":[{"name":"a","size":1},` +
		`{"name":"b","side":"right"}],"whole":{"a":"1"},"any":{"x":[1,{"y":null}]},"inner":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"q"}},"counts":{"a":1,"b":2}}}`, []string{"status"}},
	{"/apis/bowline.dev/v1/namespaces/default/things", `{"kind":"Thing","apiVersion":"bowline.dev/v1","metadata":{"name":"x","annotations":{"k":"v"}},"spec":{"a":{"b":{"c":[1,2,{"d":null}]}},"e":1.50},"status":{"f":true}}`, []string{"status"}},
}

var fuzzMedia = []string{
	"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml",
}

// fuzzWords are values that a mutation puts somewhere.
var fuzzWords = []string{
	`null`, `{}`, `[]`, `""`, `"x"`, `"a"`, `0`, `-1`, `1.5`, `1e400`, `9007199254740993`, `true`, `[null]`, `[{}]`, `[[]]`, `{"a":null}`, `{"name":null}`, `[{"name":"a"},{"name":"a"}]`,
	`["a","a"]`, `{"$patch":"delete"}`, `[{"$patch":"replace"}]`, `[{"name":"a","$patch":"delete"}]`, `"\ud800"`, `{"":{}}`, `[{"name":{"a":1}}]`, `"2026-01-01T00:00:00Z"`, `[1,"1",1.0]`,
}

var fuzzNames = []string{
	"metadata", "spec", "status", "data", "name", "namespace", "uid", "labels", "annotations", "finalizers", "ownerReferences", "managedFields", "resourceVersion", "generation", "containers",
	"ports", "env", "volumes", "tags", "parts", "whole", "any", "inner", "counts", "a", "", "kind", "apiVersion", "deletionTimestamp", "creationTimestamp", "replicas", "template", "selector",
	"conditions", "side", "protocol", "containerPort", "$setElementOrder/containers", "$retainKeys", "$deleteFromPrimitiveList/finalizers", "Labels", "color", "extent", "resources", "unit",
}

// fuzzer makes requests.
type fuzzer struct {
	*rand.Rand
	body string
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// mutated changes some values of a document.
func (f *fuzzer) mutated(doc string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return doc
	}
	for range f.IntN(4) {
		v = f.mutate(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return doc
	}
	return string(b)
}

func (f *fuzzer) word() any {
	if f.IntN(8) == 0 && json.Valid([]byte(f.body)) {
		return json.RawMessage(f.body)
	}
	return json.RawMessage(pick(f.Rand, fuzzWords))
}

func (f *fuzzer) mutate(v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 || f.IntN(6) == 0 {
			v[pick(f.Rand, fuzzNames)] = f.word()
			return v
		}
		name := pick(f.Rand, names)
		if f.IntN(8) == 0 {
			delete(v, name)
			return v
		}
		v[name] = f.mutate(v[name])
		return v
	case []any:
		switch {
		case len(v) == 0 || f.IntN(6) == 0:
			return append(v, f.word())
		case f.IntN(6) == 0:
			return append(v, v[f.IntN(len(v))])
		case f.IntN(8) == 0:
			return v[1:]
		}
		i := f.IntN(len(v))
		v[i] = f.mutate(v[i])
		return v
	}
	return f.word()
}

func (f *fuzzer) pointer(doc string) string {
	var v any
	_ = json.Unmarshal([]byte(doc), &v)
	p := ""
	for range f.IntN(6) {
		switch w := v.(type) {
		case map[string]any:
			name := pick(f.Rand, fuzzNames)
			if f.IntN(8) > 0 && len(w) > 0 {
				name = pick(f.Rand, slices.Sorted(maps.Keys(w)))
			}
			p, v = p+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), w[name]
		case []any:
			i := f.IntN(len(w)+2) - 1
			if f.IntN(4) == 0 {
				return p + "/-"
			}
			p, v = p+fmt.Sprint("/", i), nil
			if i >= 0 && i < len(w) {
				v = w[i]
			}
		}
	}
	return p
}

func (f *fuzzer) jsonPatch(doc string) string {
	ops := []map[string]any{}
	for range 1 + f.IntN(4) {
		ops = append(ops, map[string]any{
			"op": pick(f.Rand, []string{"add", "add", "replace", "remove", "move", "copy", "test"}), "path": f.pointer(doc), "from": f.pointer(doc), "value": f.word(),
		})
	}
	b, err := json.Marshal(ops)
	if err != nil {
		return "[]"
	}
	return string(b)
}

// request returns a write.
func (f *fuzzer) request(live map[string]string) *http.Request {
	kind := pick(f.Rand, fuzzKinds)
	path := kind.path + "/x"
	doc := live[path]
	if doc == "" || f.IntN(3) == 0 {
		doc = kind.object
	}
	method, media := http.MethodPut, "application/json"
	switch f.IntN(8) {
	case 0:
		method, path = http.MethodPost, kind.path
	case 1, 2:
	case 3:
		if f.IntN(3) == 0 {
			method = http.MethodDelete
		}
	default:
		method, media = http.MethodPatch, pick(f.Rand, fuzzMedia)
	}
	if len(kind.sub) > 0 && f.IntN(3) == 0 && path != kind.path {
		sub := pick(f.Rand, kind.sub)
		path += "/" + sub
		if sub == "binding" || sub == "eviction" {
			method, media = http.MethodPost, "application/json"
		}
		switch sub {
		case "scale":
			doc = `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"x"},"spec":{"replicas":5}}`
		case "binding":
			doc = `{"kind":"Binding","apiVersion":"v1","metadata":{"name":"x"},"target":{"kind":"Node","name":"n"}}`
		case "eviction":
			doc = `{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"x"}}`
		}
	}
	body := f.mutated(doc)
	if media == fuzzMedia[3] && strings.Contains(body, "managedFields") && f.IntN(8) > 0 {
		body = f.mutated(kind.object)
	}
	if media == fuzzMedia[0] {
		body = f.jsonPatch(doc)
	}
	if f.IntN(8) == 0 {
		body = f.body
	}
	if method == http.MethodDelete {
		body = ""
	}
	query := ""
	for _, q := range []string{
		"dryRun=All", "fieldValidation=Strict", "fieldValidation=Ignore", "force=true", "fieldManager=one", "fieldManager=two", "fieldManager=kubectl",
		"fieldManager=three", "fieldValidation=nonsense",
	} {
		if f.IntN(6) == 0 {
			query += "&" + q
		}
	}
	if media == fuzzMedia[3] {
		query += "&fieldManager=" + pick(f.Rand, []string{"a", "b", "kubectl"})
		if f.IntN(2) == 0 {
			query += "&force=true"
		}
	}
	req := httptest.NewRequest(method, path+"?"+query, strings.NewReader(body))
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "fuzz/1")
	return req
}

// fuzzAllowed are the starts of what a real server says with the code 500 as well.
var fuzzAllowed = []string{
	"resourceVersion should not be set on objects to be created", "strconv.ParseUint:", "failed to create typed patch object", "failed to convert new object",
	"failed to decode managed fields", "target.name: Required value",
}

// Whatever is written, the server says what is wrong with it or does it whole: a get, a list and a watch show the same, the
// resource version moves with a change and with nothing else, and nobody owns a field that is not there.
func FuzzWrite(f *testing.F) {
	for seed := range histories.Seeds(24) {
		f.Add(seed, []string{`{"a":1}`, `[`, `- a`, "a: &a [b]\nc: *a", `{"metadata":{"name":"x"}}`, `"x"`}[seed%6])
	}
	f.Fuzz(func(t *testing.T, seed uint64, body string) {
		synctest.Test(t, func(t *testing.T) { fuzzWrites(t, seed, body) })
	})
}

func fuzzWrites(t *testing.T, seed uint64, body string) {
	server := clienttest.Start(t, clienttest.Options{
		Resources: []clienttest.Resource{fuzzWidget, fuzzThing},
		Lenient:   seed%2 == 0, // it takes more of the writes
	})
	f := &fuzzer{rand.New(rand.NewPCG(seed, 1)), body}
	ctx, cancel := context.WithCancel(t.Context())
	serve := func(r *http.Request) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	get := func(path string) string {
		w := serve(httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			return ""
		}
		return w.Body.String()
	}
	watched := map[string]*httptest.ResponseRecorder{}
	live := map[string]string{}
	brought := map[string]bool{} // managedFields came from outside
	defer synctest.Wait()
	defer cancel()
	for _, k := range fuzzKinds {
		w := httptest.NewRecorder()
		watched[k.path] = w
		go server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, k.path+"?watch=true", nil).WithContext(ctx))
		r := httptest.NewRequest(http.MethodPost, k.path+"?fieldManager=maker", strings.NewReader(k.object))
		r.Header.Set("Content-Type", "application/json")
		if w := serve(r); w.Code != http.StatusCreated {
			t.Fatalf("%s: %s", k.path, w.Body)
		}
		live[k.path+"/x"] = get(k.path + "/x")
	}
	for range 12 {
		r := f.request(live)
		var sent bytes.Buffer
		_, _ = sent.ReadFrom(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent.Bytes()))
		what := fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), sent.Bytes())
		w := serve(r)
		message := at(w.Body.String(), "message")
		allowed := r.Header.Get("Content-Type") == fuzzMedia[2] && !strings.Contains(message, "panic") || // it says 500 of what it cannot merge
			slices.ContainsFunc(fuzzAllowed, func(s string) bool { return strings.HasPrefix(message, s) })
		if w.Code >= 500 && !allowed {
			t.Fatalf("%s: %s", what, w.Body)
		}
		synctest.Wait()
		for _, k := range fuzzKinds {
			path := k.path + "/x"
			now := get(path)
			what := what + "\nwas " + live[path] + "\nis " + now
			if was := live[path]; was != "" && now != "" {
				moved := at(was, "metadata", "resourceVersion") != at(now, "metadata", "resourceVersion")
				if changed := withoutVersion(was) != withoutVersion(now); moved != changed {
					t.Fatalf("%s\nmoved: %v, changed: %v", what, moved, changed)
				}
			}
			if strings.Contains(sent.String(), "managedFields") && live[path] != now {
				brought[path] = true
			}
			if now == "" {
				delete(brought, path)
			}
			live[path] = now
			listed := ""
			var list struct{ Items []json.RawMessage }
			if err := json.Unmarshal([]byte(get(k.path)), &list); err != nil {
				t.Fatal(err)
			}
			for _, item := range list.Items {
				if at(string(item), "metadata", "name") == "x" {
					listed = string(item)
				}
			}
			if !sameObject(now, listed) {
				t.Fatalf("%s\nlisted %s", what, listed)
			}
			if seen := lastWatched(t, watched[k.path].Body.String()); !sameObject(now, seen) {
				t.Fatalf("%s\nwatched %s", what, seen)
			}
			// Compiled-in types always write some members of spec, and their owners have them; this server leaves them out.
			complete := strings.Contains(path, fuzzWidget.Group) || !strings.Contains(now, `"f:spec"`)
			if now != "" && complete && !brought[path] {
				if wrong := strayOwners(now); wrong != "" {
					t.Fatalf("%s\n%s", what, wrong)
				}
			}
		}
	}
}

// Every kind of write at once, for the race detector: schemas, defaults and stored objects are shared.
func TestWritesAtOnceShareNoMemory(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{fuzzWidget}})
	widgets, deployments := fuzzKinds[5].path, fuzzKinds[2].path
	h.must(t, http.MethodPost, widgets, fuzzKinds[5].object)
	h.must(t, http.MethodPost, deployments, fuzzKinds[2].object)
	const widget = `{"apiVersion":"bowline.dev/v1","kind":"Widget","metadata":{"name":%q}`
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				for _, w := range []struct{ method, path, media, body string }{
					{http.MethodPost, widgets, "application/json", fmt.Sprintf(widget+"}", fmt.Sprintf("x%d-%d", i, j))},
					{http.MethodPatch, widgets + "/x", fuzzMedia[1], fmt.Sprintf(`{"metadata":{"labels":{"a":"%d"}},"spec":null}`, j)},
					{http.MethodPatch, fmt.Sprintf("%s/x?force=true&fieldManager=m%d", widgets, i), fuzzMedia[3], fmt.Sprintf(widget+`,"spec":{"depth":%d}}`, "x", j)},
					{http.MethodPatch, deployments + "/x", fuzzMedia[2], fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"%d"}]}}}}`, j)},
					{http.MethodPatch, deployments + "/x/scale", fuzzMedia[0], fmt.Sprintf(`[{"op":"add","path":"/spec/replicas","value":%d}]`, j)},
				} {
					if a := h.do(t, w.method, w.path, w.body, "Content-Type", w.media); a.code >= 300 {
						t.Errorf("%s %s: %s", w.method, w.path, a.body)
					}
				}
			}
		})
	}
	wg.Wait()
}

// withoutVersion is an object without its version.
func withoutVersion(object string) string {
	var m map[string]any
	_ = json.Unmarshal([]byte(object), &m)
	delete(m["metadata"].(map[string]any), "resourceVersion")
	b, _ := json.Marshal(m)
	return string(b)
}

// sameObject compares objects without what lists leave out.
func sameObject(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	for _, m := range []map[string]any{x, y} {
		delete(m, "kind")
		delete(m, "apiVersion")
	}
	return reflect.DeepEqual(x, y)
}

// lastWatched returns the last state of x in a watch.
func lastWatched(t *testing.T, stream string) string {
	last := ""
	for d := json.NewDecoder(strings.NewReader(stream)); d.More(); {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if at(string(e.Object), "metadata", "name") != "x" {
			continue
		}
		if last = string(e.Object); e.Type == "DELETED" {
			last = ""
		}
	}
	return last
}

// strayOwners returns what managedFields name that the object does not have.
func strayOwners(object string) string {
	var o struct {
		Metadata struct {
			ManagedFields []struct {
				Manager  string
				FieldsV1 *fieldset.Set
			}
		}
	}
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		return err.Error()
	}
	var v any
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	_ = d.Decode(&v)
	for _, e := range o.Metadata.ManagedFields {
		for path := range e.FieldsV1.Paths() {
			if !leadsSomewhere(v, path) {
				return fmt.Sprintf("%s owns %s", e.Manager, fieldset.Path(path))
			}
		}
	}
	return ""
}

func leadsSomewhere(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	key := path[0]
	if name, ok := strings.CutPrefix(key, "f:"); ok {
		m, _ := v.(map[string]any)
		inner, found := m[name]
		return found && leadsSomewhere(inner, path[1:])
	}
	list, _ := v.([]any)
	for _, e := range list {
		if want, ok := fieldset.Element(key); ok && fmt.Sprint(want) == fmt.Sprint(e) {
			return true
		}
		want, _ := fieldset.Members(key)
		m, isObject := e.(map[string]any)
		matches := isObject && want != nil
		for name, value := range want {
			if has, found := m[name]; found && fmt.Sprint(has) != fmt.Sprint(value) {
				matches = false
			}
		}
		if matches && leadsSomewhere(e, path[1:]) {
			return true
		}
	}
	return false
}

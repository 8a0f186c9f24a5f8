package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Each directive, on the server and here. behaviours 321, 323
func TestDirectivesDoTheSameHereAsOnTheServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	w := &workshop{
		client.For(c, deployments).In(ns),
		specimen{c: c, path: "/apis/apps/v1/namespaces/" + ns + "/deployments/", schemas: []patch.Schema{
			patch.SchemaOf[appsv1.Deployment](), served(t, c, "apis/apps/v1", meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}),
		}},
		map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"},
		nil,
	}
	s := w.create(t, "web", decoded(t, []byte(`{
		"metadata": {"annotations": {"a": "1", "b": "2"}, "finalizers": ["example.invalid/a", "example.invalid/b", "example.invalid/c"]},
		"spec": {"selector": {"matchLabels": {"app": "web"}}, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
			"template": {"metadata": {"labels": {"app": "web"}}, "spec": {
				"containers": [
					{"name": "a", "image": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}], "ports": [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}, {"containerPort": 80}], "args": ["-a"]},
					{"name": "b", "image": "b"}, {"name": "c", "image": "c"}
				],
				"tolerations": [{"key": "a", "operator": "Exists"}], "nodeSelector": {"a": "1", "b": "2"},
				"volumes": [{"name": "v", "emptyDir": {}}]
			}}}
	}`)).(map[string]any))
	podSpec := func(part string) string { return `{"spec":{"template":{"spec":` + part + `}}}` }
	const refused, ignored = "refused", "ignored" // by the server, which takes it for a member, while here it is an error
	for _, test := range []struct{ name, body, pointer, want string }{
		{"an item is merged by its key", podSpec(`{"containers":[{"name":"b","image":"x"}]}`), "/spec/template/spec/containers/1/image", `"x"`},
		{"a new item goes before the others", podSpec(`{"containers":[{"name":"d","image":"d"}]}`), "/spec/template/spec/containers/0/name", `"d"`},
		{"delete of an item", podSpec(`{"containers":[{"name":"b","$patch":"delete"}]}`), "/spec/template/spec/containers/1/name", `"c"`},
		{"delete of an item that is not there", podSpec(`{"containers":[{"name":"z","$patch":"delete"}]}`), "/spec/template/spec/containers/1/name", `"b"`},
		{"delete of an item of an item", podSpec(`{"containers":[{"name":"a","env":[{"name":"X","$patch":"delete"}]}]}`), "/spec/template/spec/containers/0/env", `[{"name":"Y","value":"2"}]`},
		{"delete of both items of one key", podSpec(`{"containers":[{"name":"a","ports":[{"containerPort":53,"$patch":"delete"}]}]}`), "/spec/template/spec/containers/0/ports", `[{"containerPort":80,"protocol":"TCP"}]`},
		{"delete in an object", podSpec(`{"nodeSelector":{"$patch":"delete"}}`), "/spec/template/spec/nodeSelector", ""},
		{"delete in an object drops what is beside it", podSpec(`{"nodeSelector":{"$patch":"delete","c":"3"}}`), "/spec/template/spec/nodeSelector", ""},
		{"delete in an object that is not there", podSpec(`{"affinity":{"$patch":"delete"}}`), "/spec/template/spec/affinity", ""},
		{"replace of a list", podSpec(`{"containers":[{"name":"b","image":"x"},{"$patch":"replace"}]}`), "/spec/template/spec/containers/0/image", `"x"`},
		{"replace of a list drops the others", podSpec(`{"containers":[{"$patch":"replace"},{"name":"b","image":"x"}]}`), "/spec/template/spec/containers/1", ""},
		{"replace in an object", podSpec(`{"nodeSelector":{"$patch":"replace","c":"3"}}`), "/spec/template/spec/nodeSelector", `{"c":"3"}`},
		{"replace in an item", podSpec(`{"containers":[{"name":"b","image":"x","$patch":"replace"}]}`), "", refused}, // no item is left
		{"merge", podSpec(`{"containers":[{"name":"b","image":"x","$patch":"merge"}]}`), "", refused},
		{"merge in an object", podSpec(`{"nodeSelector":{"c":"3","$patch":"merge"}}`), "", refused},
		{"an unknown one", podSpec(`{"nodeSelector":{"$patch":"spam"}}`), "", refused},
		{"what is retained", `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, "/spec/strategy", `{"type":"Recreate"}`},
		{"what is not retained and set", `{"spec":{"strategy":{"$retainKeys":["rollingUpdate"],"type":"Recreate"}}}`, "", refused},
		{"a union without retaining", podSpec(`{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}`), "", refused},
		{"a union that retains", podSpec(`{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/x"}}]}`), "/spec/template/spec/volumes/0", `{"hostPath":{"path":"/x","type":""},"name":"v"}`},
		{"retaining that is no list", `{"spec":{"strategy":{"$retainKeys":"type","type":"Recreate"}}}`, "", refused},
		{"an order", podSpec(`{"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}]}`), "/spec/template/spec/containers/0/name", `"c"`},
		{"an order of scalars", `{"metadata":{"$setElementOrder/finalizers":["example.invalid/c","example.invalid/a"]}}`, "/metadata/finalizers", `["example.invalid/b","example.invalid/c","example.invalid/a"]`},
		{"an order that lacks what is set", podSpec(`{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b","image":"x"}]}`), "", refused},
		{"an order of nothing", podSpec(`{"$setElementOrder/initContainers":[{"name":"a"}],"initContainers":[]}`), "", refused},
		{"an order of what is not there", podSpec(`{"$setElementOrder/initContainers":[{"name":"a"}]}`), "/spec/template/spec/initContainers", ""},
		{"an order without keys", podSpec(`{"$setElementOrder/containers":[{"image":"a"}]}`), "", refused},
		{"a new scalar goes before the others", `{"metadata":{"finalizers":["example.invalid/d"]}}`, "/metadata/finalizers", `["example.invalid/d","example.invalid/a","example.invalid/b","example.invalid/c"]`},
		{"scalars are deleted", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.invalid/b","example.invalid/z"]}}`, "/metadata/finalizers", `["example.invalid/a","example.invalid/c"]`},
		{"scalars to delete that are no list", `{"metadata":{"$deleteFromPrimitiveList/finalizers":"example.invalid/b"}}`, "", ignored},
		{"a list that is not merged is replaced", podSpec(`{"tolerations":[{"key":"b","operator":"Exists"}]}`), "/spec/template/spec/tolerations", `[{"key":"b","operator":"Exists"}]`},
		{"an item without its key", podSpec(`{"containers":[{"image":"x"}]}`), "", refused},
		{"a directive in an item that is new", podSpec(`{"containers":[{"name":"d","image":"d","env":[{"name":"X","$patch":"delete"}]}]}`), "", ignored},
		{"a directive in what replaces", podSpec(`{"containers":[{"name":"a","image":"a","resources":{"$retainKeys":[]}},{"$patch":"replace"}]}`), "", ignored},
		{"null removes", `{"metadata":{"annotations":{"a":null}}}`, "/metadata/annotations", `{"b":"2"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := []byte(test.body)
			a := s.send(t, http.MethodPatch, patch.StrategicType, body)
			got, err := s.apply(t, body)
			if test.want == refused {
				// What the server's validation refuses after the merge is no matter of the patch.
				if a.err == nil || err == nil && !s.compare(t, patch.StrategicType, body, got) {
					t.Errorf("the server returns %v, and here it is %v; want that both refuse it", a.err, err)
				}
				return
			}
			if test.want == ignored {
				if a.err != nil || err == nil {
					t.Errorf("the server returns %v, and here it is %v; want that only this is an error", a.err, err)
				}
				return
			}
			if a.err != nil || err != nil {
				t.Fatalf("the server returns %v, and here it is %v", a.err, err)
			}
			value, ok := at(a.object, test.pointer)
			if said := string(encoded(t, value)); ok && said != test.want || !ok && test.want != "" {
				t.Errorf("the server has %s, want %s", said, test.want)
			}
			s.compare(t, patch.StrategicType, body, got)
		})
	}
}

// What the server keeps of a number in a custom resource, and that package patch sends it digit by digit.
func TestPatchesSendNumbersDigitByDigit(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := things(t, c, "numbers.e2e.bowline.example").In(ns)
	made := create(t, r, ns, `{"metadata": {"name": "a"}, "spec": {"n": 9007199254740992}}`)
	key, live := meta.KeyOf(made), encoded(t, made.Object)
	for _, test := range []struct{ number, kept string }{
		{"9007199254740993", "9007199254740993"},         // 2^53+1
		{"9223372036854775807", "9223372036854775807"},   // 2^63-1
		{"-9223372036854775808", "-9223372036854775808"}, // -2^63
		{"9223372036854775808", "9223372036854776000"},   // 2^63 is a float64 to the server
		{"1.0", "1"},
		{"1e3", "1000"},
		{"0.1", "0.1"},
		{"0.1000000000000000055", "0.1"},
		{"-0", "0"},
		{"1e-7", "1e-7"},
	} {
		new := json.RawMessage(strings.Replace(string(live), "9007199254740992", test.number, 1))
		for name, p := range map[string]patch.Patch{
			"JSON patch":  patch.JSON(patch.Replace("/spec/n", json.Number(test.number))),
			"merge patch": patch.Merge(json.RawMessage(`{"spec":{"n":` + test.number + `}}`)),
			"Diff":        patch.Diff(json.RawMessage(live), new),
			"DiffJSON":    patch.DiffJSON(json.RawMessage(live), new),
			"DiffGuarded": patch.DiffGuarded(json.RawMessage(live), new),
		} {
			if body := must(p.Body())(t); !strings.Contains(string(body), test.number) {
				t.Errorf("%s of %s is %s", name, test.number, body)
			}
			var got struct{ Spec struct{ N json.RawMessage } }
			answered, err := dryRun(r).Patch(t.Context(), key, p)
			if err != nil {
				t.Errorf("%s of %s: %v", name, test.number, err)
				continue
			}
			if err := json.Unmarshal(encoded(t, answered.Object), &got); err != nil || string(got.Spec.N) != test.kept {
				t.Errorf("%s of %s: the server keeps %s, want %s", name, test.number, got.Spec.N, test.kept)
			}
		}
	}
}

// A patch for one version is refused in another: of a JSON patch the server says Invalid, of any other Conflict. behaviour 319
func TestAPatchHoldsForItsVersion(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	things := things(t, c, "versions.patch.e2e.bowline.example").In(ns)
	for name, r := range map[string]client.Resource[object]{"deployment": client.For(c, deployments).In(ns), "thing": things} {
		text := deployment
		if name == "thing" {
			text = `{"metadata": {"name": "web"}, "spec": {"replicas": 1}}`
		}
		older := create(t, r, ns, text)
		key := meta.KeyOf(older)
		replicas := func(n int) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }
		newer := must(r.Patch(t.Context(), key, patch.Merge(replicas(2))))(t)
		kinds := map[string]patch.Patch{
			"JSON patch": patch.JSON(patch.Replace("/spec/replicas", 3)), "merge patch": patch.Merge(replicas(3)),
			"strategic patch": patch.Strategic(replicas(3)),
			"Diff":            patch.Diff(older, changedReplicas(t, older)), "DiffJSON": patch.DiffJSON(older, changedReplicas(t, older)),
		}
		if name == "thing" {
			_, err := r.Patch(t.Context(), key, kinds["strategic patch"])
			wantReason(t, err, apierrors.UnsupportedMediaType)
			delete(kinds, "strategic patch")
		}
		for kind, p := range kinds {
			want := apierrors.Conflict
			if p.MediaType() == patch.JSONType {
				want = apierrors.Invalid
			}
			if _, err := r.Patch(t.Context(), key, p.WithResourceVersion(older.GetResourceVersion())); !errors.Is(err, want) {
				t.Errorf("%s of a %s: error is %v, want %s", kind, name, err, want)
			}
			if _, err := dryRun(r).Patch(t.Context(), key, p.WithResourceVersion(newer.GetResourceVersion())); err != nil {
				t.Errorf("%s of a %s in its version: %v", kind, name, err)
			}
		}
		equal(t, "the version", must(r.Get(t.Context(), key))(t).GetResourceVersion(), newer.GetResourceVersion())
	}
}

func changedReplicas(t *testing.T, obj object) object {
	t.Helper()
	obj = obj.DeepCopy()
	if err := meta.SetNested(obj, int64(3), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	return obj
}

// What the server says of a patch that would make the object another one, and that the client does not send what cannot be
// right. The uid it does not know.
func TestAPatchMustNotChangeTheIdentity(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	w := deploymentsAt(t)
	s := w.create(t, "web", decoded(t, []byte(deployment)).(map[string]any))
	ours := client.For(c, deployments).In(ns)
	key := meta.KeyOf(create(t, ours, ns, deployment))
	uid := asObject(asObject(decoded(t, s.live))["metadata"])["uid"].(string)
	for _, test := range []struct {
		metadata, want string
		unsent         bool
	}{
		{`{"name":"other"}`, "BadRequest", true},
		{`{"name":null}`, "BadRequest", true},
		{`{"namespace":"other"}`, "BadRequest", true},
		{`{"namespace":null}`, "", false},
		{`{"uid":"other"}`, "Invalid", false},
		{`{"uid":null}`, "", false},
		{`{"uid":""}`, "", false},
		{`{"uid":1}`, "Invalid", true},
		{`{"uid":"` + uid + `"}`, "", false},
		{`{"creationTimestamp":null}`, "", false},
		{`{"generation":7}`, "", false},
		{`{"deletionTimestamp":"2020-01-01T00:00:00Z"}`, "Invalid", false},
		{`{"resourceVersion":"1"}`, "Conflict", false},
		{`{"resourceVersion":null}`, "", false},
		{`{"resourceVersion":""}`, "", false},
		{`null`, "BadRequest", true},
	} {
		body := []byte(`{"metadata":` + test.metadata + `}`)
		for _, mediaType := range []string{patch.MergeType, patch.StrategicType} {
			a := s.send(t, http.MethodPatch, mediaType, body)
			if a.status.Reason != test.want {
				t.Errorf("%s of %s: error is %v, want %q", mediaType, test.metadata, a.err, test.want)
			}
			if a.err == nil && asObject(a.object["metadata"])["uid"] != uid {
				t.Errorf("%s of %s: the uid is another", mediaType, test.metadata)
			}
		}
		usage := (*client.UsageError)(nil)
		if _, err := dryRun(ours).Patch(t.Context(), key, patch.Merge(json.RawMessage(body))); errors.As(err, &usage) != test.unsent {
			t.Errorf("%s: the client returns %v", test.metadata, err)
		}
	}
}

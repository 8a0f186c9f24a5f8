package conformance

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

func testDeleteCollection(t *testing.T, s suite) {
	ns := s.namespace(t)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(t, ns, name, map[string]string{"name": name})
	}
	names := func() string {
		var all []string
		for _, c := range must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, LabelSelector: "name"})).Items {
			all = append(all, c.Name)
		}
		return strings.Join(all, " ")
	}
	remove := func(r client.Resource[*ConfigMap], sel client.Selection) {
		t.Helper()
		if err := r.In(ns).DeleteCollection(t.Context(), sel, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove(s.configMaps.With(client.WriteOptions{DryRun: true}), client.Selection{LabelSelector: "name"})
	equal(t, "what a dry run leaves", names(), "a b c")
	remove(s.configMaps, client.Selection{LabelSelector: "name in (a, x)"})
	equal(t, "what a label selector leaves", names(), "b c")
	remove(s.configMaps, client.Selection{FieldSelector: "metadata.name=c"})
	equal(t, "what a field selector leaves", names(), "b")
	remove(s.configMaps, client.Selection{Everything: true})
	equal(t, "what nothing leaves", names(), "")
	err := s.configMaps.In(ns).DeleteCollection(t.Context(), client.Selection{FieldSelector: "data.k=v"}, client.DeleteOptions{})
	wantReason(t, err, apierrors.BadRequest, 400)
	wantReason(t, s.namespaces.DeleteCollection(t.Context(), client.Selection{LabelSelector: "no=such"}, client.DeleteOptions{}),
		apierrors.MethodNotAllowed, 405)
}

// testVersions is the table of lists in the API concepts, as far as its rows can be distinguished.
func testVersions(t *testing.T, s suite) {
	ns := s.namespace(t)
	first := s.configMap(t, ns, "a", nil)
	second := s.configMap(t, ns, "b", nil)
	size := func(o client.ListOptions) (int, string) {
		t.Helper()
		o.Namespace, o.LabelSelector = ns, "!absent"
		o.FieldSelector = "metadata.name!=kube-root-ca.crt"
		list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), o))
		return len(list.Items), list.ResourceVersion
	}
	for _, pages := range []int{-1, 1} {
		n, version := size(client.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: client.Exact, PageSize: pages})
		equal(t, "objects at exactly the first version", n, 1)
		equal(t, "version", version, first.ResourceVersion)
		n, version = size(client.ListOptions{ResourceVersion: second.ResourceVersion, ResourceVersionMatch: client.Exact, PageSize: pages})
		equal(t, "objects at exactly the second version", n, 2)
		equal(t, "version", version, second.ResourceVersion)
		for _, match := range []client.ResourceVersionMatch{"", client.NotOlderThan} {
			n, _ = size(client.ListOptions{ResourceVersion: second.ResourceVersion, ResourceVersionMatch: match, PageSize: pages})
			equal(t, "objects that are not older than the second version", n, 2)
		}
		n, _ = size(client.ListOptions{PageSize: pages})
		equal(t, "objects at present", n, 2)
	}
}

func testScale(t *testing.T, s suite) {
	ns := s.namespace(t)
	key := meta.KeyOf(must[*Deployment](t)(s.deployments.Create(t.Context(), newDeployment(ns, "a"))))
	scales := client.ScaleOf(s.deployments.In(ns))
	got := must[*client.Scale](t)(scales.Modify(t.Context(), meta.Key{Name: "a"}, func(s *client.Scale) error {
		s.Spec.Replicas = 3
		return nil
	}))
	equal(t, "wanted", got.Spec.Replicas, 3)
	d := must[*Deployment](t)(s.deployments.Get(t.Context(), key))
	equal(t, "replicas of the deployment", d.Spec.Replicas, 3)
	equal(t, "version of the scale", got.ResourceVersion, d.ResourceVersion)
	equal(t, "uid of the scale", got.UID, d.UID)
	equal(t, "generation of the deployment", d.Generation, 2)
	if !strings.Contains(got.Status.Selector, "=") {
		t.Errorf("the selector is %q", got.Status.Selector)
	}
	patched := must[*client.Scale](t)(scales.Patch(t.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{"replicas": 0}})))
	equal(t, "wanted after a patch", patched.Spec.Replicas, 0)
	dry := client.ScaleOf(s.deployments.With(client.WriteOptions{DryRun: true}))
	patched.Spec.Replicas = 9
	equal(t, "answer of a dry run", must[*client.Scale](t)(dry.Update(t.Context(), patched)).Spec.Replicas, 9)
	equal(t, "wanted after a dry run", must[*client.Scale](t)(scales.Get(t.Context(), key)).Spec.Replicas, 0)

	_, err := scales.Update(t.Context(), got) // an old version
	wantReason(t, err, apierrors.Conflict, 409)
	patched.Spec.Replicas = -1
	_, err = scales.Update(t.Context(), patched)
	wantReason(t, err, apierrors.Invalid, 422)
	_, err = scales.Get(t.Context(), meta.Key{Name: "absent"})
	wantReason(t, err, apierrors.NotFound, 404)
	_, err = client.ScaleOf(s.configMaps).Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound, 404)
}

// Pod has the fields that a server requires.
type Pod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		NodeName            string      `json:"nodeName,omitempty"`
		Containers          []Container `json:"containers"`
		EphemeralContainers []Container `json:"ephemeralContainers,omitempty"`
	} `json:"spec"`
}

var (
	pods        = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
	dynamicPods = client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"}
	accounts    = client.Type[*Namespace]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"}
)

func (s suite) pod(t *testing.T, namespace, name string) *Pod {
	t.Helper()
	p := &Pod{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.Containers = []Container{{Name: "main", Image: "example.com/main:1"}}
	return must[*Pod](t)(client.For(s.client, pods).Create(t.Context(), p))
}

func testEviction(t *testing.T, s suite) {
	ns := s.namespace(t)
	r := client.For(s.client, pods).In(ns)
	a := s.pod(t, ns, "a")
	wantReason(t, client.Evict(t.Context(), r, meta.KeyOf(a), client.DeleteOptions{UID: "other"}), apierrors.Conflict, 409)
	if err := client.Evict(t.Context(), r.With(client.WriteOptions{DryRun: true}), meta.KeyOf(a), client.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	must[*Pod](t)(r.Get(t.Context(), meta.KeyOf(a)))
	if err := client.Evict(t.Context(), r, meta.KeyOf(a), client.DeleteOptions{UID: a.UID, GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Get(t.Context(), meta.KeyOf(a))
	wantReason(t, err, apierrors.NotFound, 404)
	wantReason(t, client.Evict(t.Context(), r, meta.KeyOf(a), client.DeleteOptions{}), apierrors.NotFound, 404)
	_, err = r.Sub("eviction").Get(t.Context(), meta.KeyOf(a))
	wantReason(t, err, apierrors.MethodNotAllowed, 405)
}

func testBinding(t *testing.T, s suite) {
	ns := s.namespace(t)
	r := client.For(s.client, pods).In(ns)
	key := meta.KeyOf(s.pod(t, ns, "a"))
	if err := client.Bind(t.Context(), r.With(client.WriteOptions{DryRun: true}), key, "n0"); err != nil {
		t.Error(err)
	}
	if err := client.Bind(t.Context(), r, key, "n1"); err != nil {
		t.Fatal(err)
	}
	equal(t, "node", must[*Pod](t)(r.Get(t.Context(), key)).Spec.NodeName, "n1")
	err := client.Bind(t.Context(), r, key, "n2")
	wantReason(t, err, apierrors.Conflict, 409)
	if !strings.Contains(err.Error(), `pod a is already assigned to node "n1"`) {
		t.Errorf("error is %v", err)
	}
	wantReason(t, client.Bind(t.Context(), r, meta.Key{Name: "absent"}, "n1"), apierrors.NotFound, 404)
	s.pod(t, ns, "b")
	for _, e := range []exchange{
		{name: "a binding in its namespace", path: "POST {core}/bindings", body: `{"metadata":{"name":"b"},"target":{"name":"n1"}}`, code: 201},
		refused("another one", "POST {core}/bindings", "", `{"metadata":{"name":"b"},"target":{"name":"n2"}}`, 409, apierrors.Conflict,
			`pod b is already assigned to node "n1"`),
		refused("no pod", "POST {core}/bindings", "", `{"metadata":{"name":"absent"},"target":{"name":"n2"}}`, 404, apierrors.NotFound, ""),
		refused("all bindings", "GET {core}/bindings", "", "", 405, apierrors.MethodNotAllowed, ""),
	} {
		e.run(t, s, paths(ns))
	}
	changed := must[*Pod](t)(r.Sub("ephemeralcontainers").Patch(t.Context(), key, patch.Merge(map[string]any{
		"spec": map[string]any{"ephemeralContainers": []any{map[string]any{"name": "debugger", "image": "example.com/debugger:1"}}},
	})))
	equal(t, "ephemeral containers", len(changed.Spec.EphemeralContainers), 1)
	_, err = r.Sub("absent").Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound, 404)
}

func testResize(t *testing.T, s suite) {
	key := meta.Key{Namespace: s.namespace(t), Name: "a"}
	r := client.For(s.client, dynamicPods)
	container := func(image, cpu string) map[string]any {
		return map[string]any{"name": "main", "image": image, "resources": map[string]any{"requests": map[string]any{"cpu": cpu}}}
	}
	with := func(c map[string]any) *meta.Unstructured {
		u := &meta.Unstructured{Object: map[string]any{"spec": map[string]any{"containers": []any{c}}}}
		u.SetNamespace(key.Namespace)
		u.SetName(key.Name)
		return u
	}
	requested := func(u *meta.Unstructured) any {
		spec, _ := u.Object["spec"].(map[string]any)
		list, _ := spec["containers"].([]any)
		c, _ := list[0].(map[string]any)
		resources, _ := c["resources"].(map[string]any)
		requests, _ := resources["requests"].(map[string]any)
		return requests["cpu"]
	}
	must[*meta.Unstructured](t)(r.Create(t.Context(), with(container("example.com/main:1", "1"))))
	resized := must[*meta.Unstructured](t)(r.Sub("resize").Modify(t.Context(), key, func(u *meta.Unstructured) error {
		spec, _ := u.Object["spec"].(map[string]any)
		list, _ := spec["containers"].([]any)
		c, _ := list[0].(map[string]any)
		c["resources"] = map[string]any{"requests": map[string]any{"cpu": "2"}}
		return nil
	}))
	equal(t, "cpu", requested(resized), any("2"))
	equal(t, "cpu of the pod", requested(must[*meta.Unstructured](t)(r.Get(t.Context(), key))), any("2"))
	_, err := r.Sub("resize").Create(t.Context(), key, resized)
	wantReason(t, err, apierrors.MethodNotAllowed, 405)
}

func testFinalize(t *testing.T, s suite) {
	key := meta.Key{Name: s.namespace(t)}
	finalize := s.namespaces.Sub("finalize")
	_, err := finalize.Get(t.Context(), key)
	wantReason(t, err, apierrors.MethodNotAllowed, 405)
	_, err = finalize.Patch(t.Context(), key, patch.Merge(map[string]any{}))
	wantReason(t, err, apierrors.MethodNotAllowed, 405)
}

package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

func testCreate(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", map[string]string{"x": "y"})
	if made.UID == "" || made.ResourceVersion == "" || made.CreationTimestamp.IsZero() || made.Labels["x"] != "y" || made.Data["k"] != "v" {
		t.Errorf("created %+v, want uid, version, creation time and what was sent", made)
	}
	equal(t, "generation of a ConfigMap", made.Generation, 0)

	_, err := s.configMaps.Create(t.Context(), newConfigMap(ns, "a", nil))
	wantReason(t, err, apierrors.AlreadyExists, 409)

	generated := newConfigMap(ns, "", nil)
	generated.GenerateName = "made-"
	one := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), generated))
	two := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), generated))
	for _, c := range []*ConfigMap{one, two} {
		if !regexp.MustCompile(`^made-[a-z0-9]{5}$`).MatchString(c.Name) {
			t.Errorf("the generated name is %q, want made- and 5 characters", c.Name)
		}
	}
	if one.Name == two.Name {
		t.Errorf("both generated names are %q", one.Name)
	}

	binary := newConfigMap(ns, "binary", nil)
	binary.Data = map[string]string{"unicode": "\u2028 é 😀 <&>"}
	binary.BinaryData = map[string][]byte{"b": {0, 255, 1}}
	stored := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), binary))
	equal(t, "unicode", stored.Data["unicode"], binary.Data["unicode"])
	equal(t, "binary", string(stored.BinaryData["b"]), "\x00\xff\x01")

	lease := &Lease{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "lease"}}
	lease.Spec.RenewTime = meta.MicroTime{Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
	held := must[*Lease](t)(s.leases.Create(t.Context(), lease))
	if !held.Spec.RenewTime.Equal(lease.Spec.RenewTime.Time) {
		t.Errorf("the time is %v, want %v", held.Spec.RenewTime, lease.Spec.RenewTime)
	}

	for _, test := range []struct {
		name   string
		change func(*ConfigMap)
		reason apierrors.Reason
		code   int
	}{
		{"no name", func(c *ConfigMap) { c.Name = "" }, apierrors.Invalid, 422},
		{"a name with capitals", func(c *ConfigMap) { c.Name = "Big" }, apierrors.Invalid, 422},
		{"a bad label", func(c *ConfigMap) { c.Labels = map[string]string{"a b": "c"} }, apierrors.Invalid, 422},
		{"a namespace that is not there", func(c *ConfigMap) { c.Namespace = "conformance-absent" }, apierrors.NotFound, 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newConfigMap(ns, "bad", nil)
			test.change(c)
			_, err := s.configMaps.Create(t.Context(), c)
			wantReason(t, err, test.reason, test.code)
		})
	}
}

func testUpdate(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", nil)
	made.Data["k"] = "w"
	updated := must[*ConfigMap](t)(s.configMaps.Update(t.Context(), made))
	equal(t, "data", updated.Data["k"], "w")
	if updated.ResourceVersion == made.ResourceVersion || updated.UID != made.UID || !updated.CreationTimestamp.Equal(made.CreationTimestamp.Time) {
		t.Errorf("updated %+v, want a new version of the same object", updated.ObjectMeta)
	}
	same := must[*ConfigMap](t)(s.configMaps.Update(t.Context(), updated))
	equal(t, "version after an update that changes nothing", same.ResourceVersion, updated.ResourceVersion)

	made.Data["k"] = "late"
	_, err := s.configMaps.Update(t.Context(), made)
	wantReason(t, err, apierrors.Conflict, 409)
	if errors.Is(err, apierrors.AlreadyExists) {
		t.Error("a conflict is AlreadyExists too")
	}

	unconditional := newConfigMap(ns, "a", nil)
	unconditional.Data["k"] = "whatever"
	equal(t, "data", must[*ConfigMap](t)(s.configMaps.Update(t.Context(), unconditional)).Data["k"], "whatever")

	other := newConfigMap(ns, "a", nil)
	other.UID = "00000000-0000-0000-0000-000000000000"
	_, err = s.configMaps.Update(t.Context(), other)
	wantReason(t, err, apierrors.Conflict, 409)

	_, err = s.configMaps.Update(t.Context(), newConfigMap(ns, "absent", nil))
	wantReason(t, err, apierrors.NotFound, 404)
}

func testModify(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := newConfigMap(ns, "counter", nil)
	made.Data = map[string]string{"n": "0", "other": "stays"}
	made.BinaryData = map[string][]byte{"unseen": {1}}
	made = must[*ConfigMap](t)(s.configMaps.Create(t.Context(), made))
	key := meta.KeyOf(made)

	view := client.For(s.client, ConfigMapViews)
	same := must[*ConfigMapNames](t)(view.Modify(t.Context(), key, func(*ConfigMapNames) error { return nil }))
	equal(t, "version after a change of nothing", same.ResourceVersion, made.ResourceVersion)

	var wg sync.WaitGroup
	const writers = 8
	for range writers {
		wg.Go(func() {
			_, err := view.Modify(t.Context(), key, func(c *ConfigMapNames) error {
				n, err := strconv.Atoi(c.Data["n"])
				c.Data["n"] = strconv.Itoa(n + 1)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key))
	equal(t, "counter", got.Data["n"], strconv.Itoa(writers))
	equal(t, "the other member", got.Data["other"], "stays")
	equal(t, "what the projection does not name", string(got.BinaryData["unseen"]), "\x01")
}

func testPatch(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", map[string]string{"x": "1", "y": "2"})
	key := meta.KeyOf(made)
	change := patch.Merge(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"x": nil, "z": "3"}},
		"data":     map[string]any{"new": "value"},
	})
	got := must[*ConfigMap](t)(s.configMaps.Patch(t.Context(), key, change))
	if fmt.Sprint(got.Labels) != "map[y:2 z:3]" || fmt.Sprint(got.Data) != "map[k:v new:value]" {
		t.Errorf("patched to labels %v and data %v", got.Labels, got.Data)
	}
	again := must[*ConfigMap](t)(s.configMaps.Patch(t.Context(), key, change))
	equal(t, "version after a patch that changes nothing", again.ResourceVersion, got.ResourceVersion)

	stale := patch.Merge(map[string]any{"metadata": map[string]any{"resourceVersion": made.ResourceVersion}, "data": map[string]any{"n": "1"}})
	_, err := s.configMaps.Patch(t.Context(), key, stale)
	wantReason(t, err, apierrors.Conflict, 409)
	_, err = s.configMaps.Patch(t.Context(), meta.Key{Namespace: ns, Name: "absent"}, change)
	wantReason(t, err, apierrors.NotFound, 404)
	_, err = s.configMaps.Patch(t.Context(), key, patch.Merge(json.RawMessage(`{"data":{"k":{"not":"a string"}}}`)))
	if !errors.Is(err, apierrors.BadRequest) && !errors.Is(err, apierrors.Invalid) {
		t.Errorf("a patch of the wrong type gives %v, want BadRequest or Invalid", err)
	}
}

func testDelete(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := s.configMap(t, ns, "a", nil)
	key := meta.KeyOf(made)
	for _, o := range []client.DeleteOptions{{UID: "other"}, {ResourceVersion: "1"}} {
		wantReason(t, s.configMaps.Delete(t.Context(), key, o), apierrors.Conflict, 409)
	}
	if err := s.configMaps.Delete(t.Context(), key, client.DeleteOptions{
		UID: made.UID, ResourceVersion: made.ResourceVersion, Propagation: client.Background, GracePeriod: client.NoGracePeriod,
	}); err != nil {
		t.Fatal(err)
	}
	_, err := s.configMaps.Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound, 404)
	wantReason(t, s.configMaps.Delete(t.Context(), key, client.DeleteOptions{}), apierrors.NotFound, 404)
}

func testFinalizers(t *testing.T, s suite) {
	ns := s.namespace(t)
	c := newConfigMap(ns, "a", nil)
	c.Finalizers = []string{"bowline.dev/hold"}
	made := must[*ConfigMap](t)(s.configMaps.Create(t.Context(), c))
	key := meta.KeyOf(made)
	for range 2 { // the second deletion finds it deleted already
		if err := s.configMaps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	held := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), key))
	if !meta.IsDeleting(held) || held.DeletionGracePeriodSeconds == nil || *held.DeletionGracePeriodSeconds != 0 {
		t.Errorf("the object is %+v, want it to be deleting with a grace period of 0", held.ObjectMeta)
	}
	if _, err := s.configMaps.Modify(t.Context(), key, func(c *ConfigMap) error {
		c.Finalizers = append(c.Finalizers, "bowline.dev/more")
		return nil
	}); !errors.Is(err, apierrors.Invalid) && !errors.Is(err, apierrors.Forbidden) {
		t.Errorf("a finalizer on a deleting object gives %v, want it refused", err)
	}
	must[*ConfigMap](t)(s.configMaps.Modify(t.Context(), key, func(c *ConfigMap) error {
		c.Finalizers = nil
		return nil
	}))
	_, err := s.configMaps.Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound, 404)
}

func testStatus(t *testing.T, s suite) {
	ns := s.namespace(t)
	d := newDeployment(ns, "a")
	d.Status.Replicas = 7
	made := must[*Deployment](t)(s.deployments.Create(t.Context(), d))
	equal(t, "generation", made.Generation, 1)
	equal(t, "status of a new object", made.Status.Replicas, 0)

	made.Status.Replicas, made.Spec.Replicas = 3, 9
	reported := must[*Deployment](t)(s.deployments.Status().Update(t.Context(), made))
	equal(t, "status", reported.Status.Replicas, 3)
	equal(t, "spec after a status update", reported.Spec.Replicas, 0)
	equal(t, "generation after a status update", reported.Generation, 1)

	key := meta.KeyOf(made)
	whole := client.For(s.client, client.Type[*meta.Unstructured]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
	both := must[*meta.Unstructured](t)(whole.Get(t.Context(), key))
	if err := errors.Join(meta.SetNested(both.Object, 5, "status", "replicas"), meta.SetNested(both.Object, 2, "spec", "replicas")); err != nil {
		t.Fatal(err)
	}
	must[*meta.Unstructured](t)(whole.Update(t.Context(), both))
	changed := must[*Deployment](t)(s.deployments.Get(t.Context(), key))
	equal(t, "status after an update", changed.Status.Replicas, 3)
	equal(t, "spec", changed.Spec.Replicas, 2)
	equal(t, "generation after a change of spec", changed.Generation, 2)

	patched := must[*Deployment](t)(s.deployments.Status().Patch(t.Context(), key, patch.Merge(map[string]any{
		"status": map[string]any{"replicas": 4}, "spec": map[string]any{"replicas": 8},
	})))
	equal(t, "status after a status patch", patched.Status.Replicas, 4)
	equal(t, "spec after a status patch", patched.Spec.Replicas, 2)
	relabelled := must[*Deployment](t)(s.deployments.Modify(t.Context(), key, func(d *Deployment) error {
		d.Labels = map[string]string{"new": "label"}
		return nil
	}))
	equal(t, "generation after a change of labels", relabelled.Generation, 2)
	equal(t, "status read through the subresource", must[*Deployment](t)(s.deployments.Status().Get(t.Context(), key)).Status.Replicas, 4)

	_, err := client.For(s.client, ConfigMaps).Status().Get(t.Context(), meta.Key{Namespace: ns, Name: "a"})
	wantReason(t, err, apierrors.NotFound, 404)
}

// testMetadataOfASubresource checks which metadata a write of a subresource changes. This differs from kind to kind.
func testMetadataOfASubresource(t *testing.T, s suite) {
	ns := s.namespace(t)
	const pod = `{"containers":[{"name":"a","image":"a"}]}`
	const selected = `"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":` + pod + `}`
	for _, test := range []struct {
		group, version, kind, resource, subresource string
		content                                     string
		want                                        []string
	}{
		{
			"", "v1", "Service", "services", "status", `"spec":{"ports":[{"port":80}]}`,
			[]string{"labels", "annotations", "finalizers", "ownerReferences"},
		},
		{"", "v1", "Pod", "pods", "status", `"spec":` + pod, []string{"labels", "annotations", "finalizers"}},
		{"", "v1", "Pod", "pods", "ephemeralcontainers", `"spec":` + pod, nil},
		{
			"apps", "v1", "Deployment", "deployments", "status", `"spec":{` + selected + `}`,
			[]string{"annotations", "finalizers", "ownerReferences"},
		},
		{Widgets.Group, Widgets.Version, Widgets.Kind, Widgets.Resource, "status", `"spec":{}`, nil},
	} {
		whole := client.For(s.client, client.Type[*meta.Unstructured]{
			Group: test.group, Version: test.version, Kind: test.kind, Resource: test.resource,
		})
		made := &meta.Unstructured{}
		text := fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q},%s}`, ns, "through-"+test.subresource, test.content)
		if err := json.Unmarshal([]byte(text), &made.Object); err != nil {
			t.Fatal(err)
		}
		key := meta.KeyOf(must[*meta.Unstructured](t)(whole.Create(t.Context(), made)))
		got := must[*meta.Unstructured](t)(whole.Sub(test.subresource).Patch(t.Context(), key, patch.Merge(map[string]any{
			"metadata": map[string]any{
				"labels":      map[string]any{"through": "yes"},
				"annotations": map[string]any{"through": "yes"},
				"finalizers":  []any{"conformance.example/through"},
				"ownerReferences": []any{
					map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "a"},
				},
			},
		})))
		var through []string
		for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
			if _, found, err := meta.Nested[any](got.Object, "metadata", name); err != nil || found {
				through = append(through, name)
			}
		}
		equal(t, "the metadata that the "+test.subresource+" of "+test.resource+" lets through", fmt.Sprint(through), fmt.Sprint(test.want))
		must[*meta.Unstructured](t)(whole.Patch(t.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"finalizers": nil}})))
	}
}

func testDryRun(t *testing.T, s suite) {
	ns := s.namespace(t)
	dry := s.configMaps.With(client.WriteOptions{DryRun: true})
	made := must[*ConfigMap](t)(dry.Create(t.Context(), newConfigMap(ns, "a", nil)))
	equal(t, "name", made.Name, "a")
	_, err := s.configMaps.Get(t.Context(), meta.KeyOf(made))
	wantReason(t, err, apierrors.NotFound, 404)

	real := s.configMap(t, ns, "a", nil)
	changed := must[*ConfigMap](t)(dry.Modify(t.Context(), meta.KeyOf(real), func(c *ConfigMap) error { c.Data["k"] = "dry"; return nil }))
	equal(t, "the answer's data", changed.Data["k"], "dry")
	if err := dry.Delete(t.Context(), meta.KeyOf(real), client.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	stored := must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.KeyOf(real)))
	equal(t, "the stored data", stored.Data["k"], "v")
	equal(t, "the version", stored.ResourceVersion, real.ResourceVersion)
}

func testManagedFields(t *testing.T, s suite) {
	ns := s.namespace(t)
	made := must[*ConfigMap](t)(s.configMaps.With(client.WriteOptions{FieldManager: "tester"}).Create(t.Context(), newConfigMap(ns, "a", nil)))
	if len(made.ManagedFields) != 1 || made.ManagedFields[0].Manager != "tester" || made.ManagedFields[0].Operation != "Update" {
		t.Fatalf("managedFields are %+v, want one entry of tester", made.ManagedFields)
	}
	if !strings.Contains(string(made.ManagedFields[0].FieldsV1), `"f:data"`) {
		t.Errorf("the entry's fields are %s, want f:data in them", made.ManagedFields[0].FieldsV1)
	}
	for _, keep := range []bool{false, true} {
		list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, KeepManagedFields: keep}))
		if got := len(list.Items[0].ManagedFields) > 0; got != keep {
			t.Errorf("with KeepManagedFields %v the list has managedFields: %v", keep, got)
		}
	}
	// An update with an object that has no managedFields leaves the server's managedFields in place.
	list := must[meta.List[*ConfigMap]](t)(s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns}))
	list.Items[0].Data["k"] = "changed"
	updated := must[*ConfigMap](t)(s.configMaps.With(client.WriteOptions{FieldManager: "other"}).Update(t.Context(), list.Items[0]))
	var managers []string
	for _, m := range updated.ManagedFields {
		managers = append(managers, m.Manager)
	}
	if len(managers) == 0 {
		t.Error("the update has removed managedFields")
	}
}

func testBadRequests(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	wrongKind := client.For(s.client, client.Type[*Deployment]{Version: "v1", Kind: "Secret", Resource: "configmaps"})
	_, err := wrongKind.Create(t.Context(), newDeployment(ns, "b"))
	wantReason(t, err, apierrors.BadRequest, 400)
	_, err = wrongKind.Get(t.Context(), meta.Key{Namespace: ns, Name: "a"})
	if answer := (*client.AnswerError)(nil); !errors.As(err, &answer) || answer.Reason != client.WrongKind || answer.Got != "v1 ConfigMap" {
		t.Errorf("reading a ConfigMap as a Secret gives %v, want WrongKind", err)
	}
	_, err = wrongKind.List(t.Context(), client.ListOptions{Namespace: ns})
	if answer := (*client.AnswerError)(nil); !errors.As(err, &answer) || answer.Reason != client.WrongKind || answer.Got != "v1 ConfigMapList" {
		t.Errorf("listing ConfigMaps as Secrets gives %v, want WrongKind", err)
	}
	_, err = s.configMaps.List(t.Context(), client.ListOptions{Namespace: ns, ResourceVersion: "many"})
	if !errors.Is(err, apierrors.BadRequest) && !errors.Is(err, apierrors.Invalid) {
		t.Errorf("a list at the version %q gives %v, want BadRequest or Invalid", "many", err)
	}
}

// If an object has a name and a generateName, the name is the caller's, but the server's errors treat it as one that
// the server has made.
func testGeneratedNames(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.configMap(t, ns, "a", nil)
	const taken = `configmaps "a" already exists, the server was not able to generate a unique name for the object`
	for _, e := range []exchange{
		refused("a name beside a prefix", "POST {core}/configmaps", "", `{"metadata":{"name":"a","generateName":"a-"}}`, 409, apierrors.AlreadyExists, taken),
		refused("a dry run", "POST {core}/configmaps?dryRun=All", "", `{"metadata":{"name":"a","generateName":"a-"}}`, 409, apierrors.AlreadyExists, taken),
		refused("a name alone", "POST {core}/configmaps", "", `{"metadata":{"name":"a"}}`, 409, apierrors.AlreadyExists, `configmaps "a" already exists`),
	} {
		e.run(t, s, names)
	}
	_, err := s.client.Raw(t.Context(), client.RawRequest{
		Method: http.MethodPost, Path: "/api/v1/namespaces/" + ns + "/configmaps", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"metadata":{"name":"a","generateName":"a-"}}`),
	})
	if _, asked := apierrors.RetryAfter(err); !asked {
		t.Errorf("no time to wait in %v", err)
	}
}

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/patch"
)

// applied is a deployment as an applier would have it: with keyed lists, one of which has a default in its key, an atomic list, an
// object that is owned whole, an empty object, a map and a set.
const applied = `{"metadata": {"labels": {"app": "web", "tier": "front"}, "finalizers": ["example.com/a", "example.com/b"]}, "spec": {
	"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
	"template": {"metadata": {"labels": {"app": "web"}}, "spec": {
		"volumes": [{"name": "tmp", "emptyDir": {}}],
		"containers": [
			{"name": "web", "image": "web:1", "args": ["a", "b"], "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
			 "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
			 "volumeMounts": [{"mountPath": "/tmp", "name": "tmp"}]},
			{"name": "log", "image": "log:1"}
		]
	}}
}}`

// slimDeployment is a projection: a struct with a few members of deployments, whose zeros do not vanish.
type slimDeployment struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas int  `json:"replicas"`
		Paused   bool `json:"paused,omitempty"`
		Template struct {
			Spec struct {
				Containers []struct {
					Name  string `json:"name"`
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// as returns the handle of a field manager.
func as[T meta.Object](r client.Resource[T], manager string) client.Resource[T] {
	return r.With(client.WriteOptions{FieldManager: manager})
}

// ownedBy returns the paths of what a manager owns by an operation.
func ownedBy(t *testing.T, entries []meta.ManagedFields, manager, operation, subresource string) []string {
	t.Helper()
	paths := []string{}
	for _, e := range entries {
		if e.Manager == manager && e.Operation == operation && e.Subresource == subresource {
			for keys := range must(fieldset.Parse(e.FieldsV1))(t).Paths() {
				paths = append(paths, fieldset.Path(keys))
			}
		}
	}
	return paths
}

func managedFields(t *testing.T, obj object) []meta.ManagedFields {
	t.Helper()
	text := must(json.Marshal(obj))(t)
	var o struct {
		Metadata struct{ ManagedFields []meta.ManagedFields }
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.ManagedFields
}

func wantPaths(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnAppliedProjectionOwnsItsPathsAndNoOthers(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	full := client.For(c, deployments)
	create(t, full, ns, deployment)
	slims := client.Type[*slimDeployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	r := as(client.For(c, slims), "projection")
	key := meta.Key{Namespace: ns, Name: "web"}

	obj := must(r.Get(t.Context(), key))(t)
	obj.Spec.Paused = false
	obj.Spec.Replicas = 0
	obj.Labels = map[string]string{"projected": ""}
	config := patch.Apply(obj, "/spec/replicas", "/spec/paused", "/metadata/labels")
	first := must(r.Apply(t.Context(), key, config, client.ApplyOptions{Force: true}))(t)
	wantPaths(t, "the fields", ownedBy(t, first.ManagedFields, "projection", "Apply", ""),
		".metadata.labels.projected", ".spec.paused", ".spec.replicas")
	equal(t, "replicas", first.Spec.Replicas, 0)
	for range 5 {
		again := must(r.Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
		equal(t, "the version after the same apply", again.ResourceVersion, first.ResourceVersion)
	}
	again := must(r.Patch(t.Context(), key, config))(t) // behaviour 325: never by force
	equal(t, "the version after the same apply as a patch", again.ResourceVersion, first.ResourceVersion)
}

// behaviour 325
func TestConflictsAreTyped(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	key := meta.Key{Namespace: ns, Name: "web"}
	must(as(r, "one").Apply(t.Context(), key, json.RawMessage(applied), client.ApplyOptions{}))(t)
	image := func(image string, replicas int) map[string]any {
		return map[string]any{"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "web", "image": image}},
		}}}}
	}
	const path = `.spec.template.spec.containers[name="web"].image`
	_, err := as(r, "two").Apply(t.Context(), key, image("web:2", 2), client.ApplyOptions{})
	wantReason(t, err, apierrors.Conflict)
	got := apierrors.FieldConflicts(err)
	if len(got) != 1 || got[0].Field != path || got[0].Manager != "one" || got[0].Operation != "Apply" || got[0].APIVersion != "" {
		t.Errorf("the conflicts are %+v", got)
	}

	// What kubectl edit and others do: an update.
	must(as(r, "kubectl-edit").Modify(t.Context(), key, func(o object) error {
		return meta.SetNested(o.Object, int64(7), "spec", "replicas")
	}))(t)
	must(as(r.With(client.WriteOptions{}), "reporter").Status().Patch(t.Context(), key, patch.Merge(map[string]any{"status": map[string]any{"replicas": 3}})))(t)
	_, err = as(r, "two").Apply(t.Context(), key, image("web:2", 3), client.ApplyOptions{})
	got = apierrors.FieldConflicts(err)
	if len(got) != 2 || got[1].Field != path || got[0].Field != ".spec.replicas" || got[0].Manager != "kubectl-edit" ||
		got[0].Operation != "Update" || got[0].APIVersion != "apps/v1" {
		t.Errorf("the conflicts are %+v", got)
	}
	_, err = as(r, "two").Status().Apply(t.Context(), key, map[string]any{"status": map[string]any{"replicas": 4}}, client.ApplyOptions{})
	got = apierrors.FieldConflicts(err)
	if len(got) != 1 || got[0].Field != ".status.replicas" || got[0].Manager != "reporter" || got[0].Subresource != "status" || got[0].Operation != "Update" {
		t.Errorf("the conflicts are %+v of %v", got, err)
	}

	forced := must(as(r, "two").Apply(t.Context(), key, image("web:2", 3), client.ApplyOptions{Force: true}))(t)
	if owned := ownedBy(t, managedFields(t, forced), "one", "Apply", ""); slices.Contains(owned, path) {
		t.Errorf("after a forced apply the first manager owns %s still", path)
	}
	_, err = as(r, "one").Apply(t.Context(), key, json.RawMessage(applied), client.ApplyOptions{})
	if got = apierrors.FieldConflicts(err); len(got) != 2 || got[0].Manager != "two" || got[1].Manager != "two" {
		t.Errorf("the conflicts are %+v", got)
	}
}

// behaviour 325: what the client refuses, the server does, too.
func TestTheServerRefusesInvalidApplies(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	send := func(query, body string) error {
		resp, err := c.Raw(t.Context(), client.RawRequest{
			Method: "PATCH", Path: "/apis/apps/v1/namespaces/" + ns + "/deployments/web", Query: must(url.ParseQuery(query))(t),
			Header: map[string][]string{"Content-Type": {patch.ApplyType}}, Body: []byte(body),
		})
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	const managed = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","managedFields":[{"manager":"a"}]}}`
	wantReason(t, send("fieldManager=a", managed), apierrors.BadRequest)
	wantReason(t, send("", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`), apierrors.Invalid)
	create(t, client.For(c, deployments), ns, deployment)
	merge := client.RawRequest{
		Method: "PATCH", Path: "/apis/apps/v1/namespaces/" + ns + "/deployments/web", Query: url.Values{"force": {"true"}},
		Header: map[string][]string{"Content-Type": {patch.MergeType}}, Body: []byte("{}"),
	}
	_, err := c.Raw(t.Context(), merge) // force is for an apply only
	wantReason(t, err, apierrors.Invalid)
}

func TestFieldsThatAreLeftOutAreRemoved(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	key := meta.Key{Namespace: ns, Name: "web"}
	first := must(as(r, "one").Apply(t.Context(), key, json.RawMessage(applied), client.ApplyOptions{}))(t)
	config := must(patch.Extract(first, patch.FieldManager{Name: "one"}))(t)
	u := parse(t, string(config))
	containers := nested[[]any](t, u, "spec", "template", "spec", "containers")
	delete(containers[0].(map[string]any), "args")
	if err := meta.SetNested(u.Object, containers[:1], "spec", "template", "spec", "containers"); err != nil {
		t.Fatal(err)
	}
	delete(nested[map[string]any](t, u, "metadata", "labels"), "tier")
	got := must(as(r, "one").Apply(t.Context(), key, u, client.ApplyOptions{}))(t)
	containers = nested[[]any](t, got, "spec", "template", "spec", "containers")
	if _, found := containers[0].(map[string]any)["args"]; found || len(containers) != 1 || len(got.GetLabels()) != 1 {
		t.Errorf("the object is %v, want the fields gone that were left out", got.Object)
	}
}

// Extract gives back what was applied, and applying that changes nothing.
func TestExtractReturnsTheAppliedConfiguration(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := as(client.For(c, deployments), "one")
	key := meta.Key{Namespace: ns, Name: "web"}
	got := must(r.Apply(t.Context(), key, json.RawMessage(applied), client.ApplyOptions{}))(t)
	record(t, "deployment-applied.json", got)
	config := must(patch.Extract(got, patch.FieldManager{Name: "one"}))(t)
	var want, is map[string]any
	if err := json.Unmarshal([]byte(applied), &want); err != nil {
		t.Fatal(err)
	}
	want["apiVersion"], want["kind"] = "apps/v1", "Deployment"
	want["metadata"].(map[string]any)["name"], want["metadata"].(map[string]any)["namespace"] = key.Name, key.Namespace
	if err := json.Unmarshal(config, &is); err != nil {
		t.Fatal(err)
	}
	if a, b := must(json.Marshal(is))(t), must(json.Marshal(want))(t); string(a) != string(b) {
		t.Errorf("what is extracted is\n%s\nwant\n%s", a, b)
	}
	again := must(r.Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
	equal(t, "the version after an apply of what was extracted", again.GetResourceVersion(), got.GetResourceVersion())
	if !patch.Apply(config).IsApplied(got, patch.FieldManager{Name: "one"}) {
		t.Error("what is extracted is not known to be applied")
	}

	// Others write what they like; ours stays what it is.
	must(as(client.For(c, deployments), "two").Apply(t.Context(), key, json.RawMessage(`{"spec": {"template": {"spec": {
		"containers": [{"name": "web", "imagePullPolicy": "Always"}, {"name": "side", "image": "side:1"}],
		"volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}]
	}}}}`), client.ApplyOptions{}))(t)
	shared := must(r.Get(t.Context(), key))(t)
	record(t, "deployment-shared.json", shared)
	if now := must(patch.Extract(shared, patch.FieldManager{Name: "one"}))(t); string(now) != string(config) {
		t.Errorf("what is extracted is\n%s\nwant\n%s", now, config)
	}
	theirs := must(patch.Extract(shared, patch.FieldManager{Name: "two"}))(t)
	again = must(as(client.For(c, deployments), "two").Apply(t.Context(), key, theirs, client.ApplyOptions{}))(t)
	equal(t, "the version after an apply of what was extracted for another", again.GetResourceVersion(), shared.GetResourceVersion())
	none := must(patch.Extract(shared, patch.FieldManager{Name: "nobody"}))(t)
	equal(t, "what is extracted for nobody", string(none),
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"`+ns+`"}}`)
}

func TestAnAppliedStatusIsOwnedThroughItsSubresource(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := as(client.For(c, deployments), "one")
	key := meta.Key{Namespace: ns, Name: "web"}
	must(r.Apply(t.Context(), key, json.RawMessage(applied), client.ApplyOptions{}))(t)
	config := json.RawMessage(`{"status": {"replicas": 3, "conditions": [{"type": "Available", "status": "True"}]}}`)
	got := must(r.Status().Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
	wantPaths(t, "the fields", ownedBy(t, managedFields(t, got), "one", "Apply", "status"),
		`.status.conditions[type="Available"]`, `.status.conditions[type="Available"].status`, `.status.conditions[type="Available"].type`,
		".status.replicas")
	record(t, "deployment-status.json", got)
	status := patch.FieldManager{Name: "one", Subresource: "status"}
	again := must(r.Status().Apply(t.Context(), key, must(patch.Extract(got, status))(t), client.ApplyOptions{}))(t)
	equal(t, "the version after an apply of what was extracted", again.GetResourceVersion(), got.GetResourceVersion())
	if !patch.Apply(config).IsApplied(got, status) || patch.Apply(config).IsApplied(got, patch.FieldManager{Name: "one"}) {
		t.Error("the status is not known to be applied, or known to be applied to the object")
	}
	withStatus := json.RawMessage(`{"status": {"replicas": 9}, ` + strings.TrimPrefix(applied, "{"))
	// An apply of the object with a status that is named is the object's: the server takes no notice of it.
	must(r.Apply(t.Context(), key, patch.Apply(withStatus, "/metadata", "/spec", "/status"), client.ApplyOptions{}))(t)
	equal(t, "status.replicas", fmt.Sprint(nested[any](t, must(r.Get(t.Context(), key))(t), "status", "replicas")), "3")
}

// behaviour 326
func TestFieldsOfClientSideApplyMoveToServerSideApply(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	key := meta.Key{Namespace: ns, Name: "web"}
	old := parse(t, applied)
	old.SetNamespace(ns)
	old.SetName("web")
	must(old, meta.SetNested(old, "{}", "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"))(t)
	must(as(r, "kubectl-client-side-apply").Create(t.Context(), old))(t)
	must(as(r, "kubectl-edit").Patch(t.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{"minReadySeconds": 5}})))(t)

	config := parse(t, applied)
	config.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"] = []any{
		map[string]any{"name": "web", "image": "web:2"},
	}
	before := must(r.Get(t.Context(), key))(t)
	record(t, "deployment-csa.json", before)
	to := patch.FieldManager{Name: "mine"}
	stale := patch.MigrateFields(before, to, "kubectl-client-side-apply", "kubectl-edit")
	must(as(r, "other").Patch(t.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{"other": "x"}}})))(t)
	_, err := r.Patch(t.Context(), key, stale)
	wantReason(t, err, apierrors.Conflict)
	if len(apierrors.FieldConflicts(err)) != 0 {
		t.Errorf("a conflict of versions has the field conflicts %v", apierrors.FieldConflicts(err))
	}

	before = must(r.Get(t.Context(), key))(t)
	p := patch.MigrateFields(before, to, "kubectl-client-side-apply", "kubectl-edit")
	migrated := must(as(r, "mine").Patch(t.Context(), key, p))(t)
	record(t, "deployment-migrated.json", migrated)
	if again := patch.MigrateFields(migrated, to, "kubectl-client-side-apply", "kubectl-edit"); !again.IsEmpty() {
		body, err := again.Body()
		t.Errorf("the second migration is %s, %v", body, err)
	}
	for _, manager := range []string{"kubectl-client-side-apply", "kubectl-edit"} {
		wantPaths(t, "the fields of "+manager, ownedBy(t, managedFields(t, migrated), manager, "Update", ""))
	}
	wantPaths(t, "the fields of another", ownedBy(t, managedFields(t, migrated), "other", "Update", ""), ".metadata.labels.other")

	got := must(as(r, "mine").Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
	containers := nested[[]any](t, got, "spec", "template", "spec", "containers")
	if len(containers) != 1 || containers[0].(map[string]any)["image"] != "web:2" || containers[0].(map[string]any)["args"] != nil {
		t.Errorf("the containers are %v, want what was left out to be gone", containers)
	}
	if nested[any](t, got, "spec", "minReadySeconds") != nil || len(got.GetAnnotations()) != 0 {
		t.Errorf("the object is %v, want what was left out to be gone", got.Object)
	}
	equal(t, "the label of another", got.GetLabels()["other"], "x")
	same := must(as(r, "mine").Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
	equal(t, "the version after the same apply", same.GetResourceVersion(), got.GetResourceVersion())

	// Migrating to a manager that has applied already merges both.
	must(as(r, "kubectl-client-side-apply").Patch(t.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{"minReadySeconds": 6}})))(t)
	before = must(r.Get(t.Context(), key))(t)
	must(r.Patch(t.Context(), key, patch.MigrateFields(before, to, "kubectl-client-side-apply")))(t)
	got = must(as(r, "mine").Apply(t.Context(), key, config, client.ApplyOptions{}))(t)
	if nested[any](t, got, "spec", "minReadySeconds") != nil {
		t.Error("what client-side apply has set since is there still")
	}
}

// record keeps an object as the server sent it, for the tests of package patch, if BOWLINE_RECORD says so.
func record(t *testing.T, name string, obj object) {
	t.Helper()
	if os.Getenv("BOWLINE_RECORD") == "" {
		return
	}
	obj = meta.Clone(obj)
	obj.SetNamespace("web")
	text := must(json.MarshalIndent(obj, "", " "))(t)
	path := filepath.Join("..", "..", "patch", "testdata", name)
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Whenever an object is known to have a configuration applied, the server finds so, too; and where nothing but that configuration
// was applied, it is known. behaviour 325.
func TestIsAppliedAgreesWithTheServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	seed := uint64(5)
	if text := os.Getenv("BOWLINE_SEED"); text != "" {
		seed = must(strconv.ParseUint(text, 10, 64))(t)
	}
	t.Logf("the seed is %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	known, sent, unchanged := 0, 0, 0
	for round := range 24 {
		key := meta.Key{Namespace: ns, Name: fmt.Sprint("d-", round)}
		last := map[string]json.RawMessage{}
		for range 14 {
			manager := []string{"one", "two"}[rnd.IntN(2)]
			config := randomConfig(t, rnd, last[manager])
			obj, err := r.Get(t.Context(), key)
			if err != nil {
				wantReason(t, err, apierrors.NotFound)
			}
			p := patch.Apply(config)
			applied := err == nil && p.IsApplied(obj, patch.FieldManager{Name: manager})
			got, err := as(r, manager).Apply(t.Context(), key, p, client.ApplyOptions{Force: rnd.IntN(3) > 0})
			switch {
			case err != nil:
				if applied {
					t.Fatalf("%s of %s is known to be applied, and the server says %v; the object is %s", config, manager, err, must(json.Marshal(obj))(t))
				}
			case applied:
				known++
				if got.GetResourceVersion() != obj.GetResourceVersion() {
					t.Fatalf("%s of %s is known to be applied, and changes\n%s\nto\n%s", config, manager, must(json.Marshal(obj))(t), must(json.Marshal(got))(t))
				}
			case obj != nil && got.GetResourceVersion() == obj.GetResourceVersion():
				unchanged++
			default:
				sent++
			}
			if err == nil {
				last[manager] = config
			}
		}
	}
	t.Logf("%d applies were known to change nothing, %d changed something, and %d changed nothing without being known", known, sent, unchanged)
	if known < 10 || sent < 10 {
		t.Errorf("%d applies were known to change nothing, and %d changed something: the test says too little", known, sent)
	}
}

// randomConfig makes a configuration: the last one as it is, or with another choice of fields.
func randomConfig(t *testing.T, r *rand.Rand, last json.RawMessage) json.RawMessage {
	t.Helper()
	if last != nil && r.IntN(3) == 0 {
		return last
	}
	some := func(object map[string]any, name string, values ...any) {
		if i := r.IntN(len(values) + 1); i < len(values) {
			object[name] = values[i]
		}
	}
	container := func(name string) map[string]any {
		c := map[string]any{"name": name, "image": "i:1"}
		some(c, "args", rarely(r, []any{}, []any{"c"}), []any{"a"}, []any{"a", "b"}, []any{"b", "a"})
		some(c, "resources", map[string]any{}, map[string]any{"limits": map[string]any{"cpu": "500m"}}, rarely(r, map[string]any{"limits": map[string]any{"cpu": "0.5"}}, nil))
		some(c, "ports", rarely(r, []any{}, nil), []any{map[string]any{"containerPort": 80}}, []any{map[string]any{"containerPort": 80, "protocol": "TCP"}},
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
	some(spec, "strategy", rarely(r, map[string]any{}, nil), map[string]any{"type": "RollingUpdate"},
		map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}})
	some(spec, "replicas", 1, 0, 2)
	some(spec, "paused", false, true)
	metadata := map[string]any{}
	some(metadata, "labels", map[string]any{}, map[string]any{"a": ""}, map[string]any{"a": "", "b": "1"})
	some(metadata, "annotations", map[string]any{"n": "1", "e": ""})
	some(metadata, "finalizers", rarely(r, []any{}, nil), []any{"example.com/a"}, []any{"example.com/b", "example.com/a"}, []any{"example.com/a", "example.com/b"})
	some(metadata, "ownerReferences", []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}},
		[]any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": false}})
	return must(json.Marshal(map[string]any{"metadata": metadata, "spec": spec}))(t)
}

// rarely returns what is seldom chosen, or else the other.
func rarely(r *rand.Rand, seldom, other any) any {
	if r.IntN(8) == 0 {
		return seldom
	}
	return other
}

// The objects that are taken to be owned whole wherever they are in a built-in kind are so in everything that the server serves.
func TestTheSameNamesAreOwnedWholeEverywhere(t *testing.T) {
	t.Parallel()
	c := open(t, adminConfig())
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(document(t, c, "/openapi/v3", ""), &index); err != nil {
		t.Fatal(err)
	}
	whole := 0
	for path, p := range index.Paths {
		version := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
		if !fieldset.OwnedWhole(version, "selector") {
			continue // not of a group that Kubernetes itself serves
		}
		where, query, _ := strings.Cut(p.ServerRelativeURL, "?")
		var doc struct {
			Components struct {
				Schemas map[string]schemaOf
			}
		}
		if err := json.Unmarshal(document(t, c, where, query), &doc); err != nil {
			t.Fatal(err)
		}
		for kind, s := range doc.Components.Schemas {
			for name, m := range s.Properties {
				if !fieldset.OwnedWhole(version, name) {
					continue
				}
				target := m
				for _, ref := range append(m.AllOf, m) {
					if ref.Ref != "" {
						target = doc.Components.Schemas[strings.TrimPrefix(ref.Ref, "#/components/schemas/")]
					}
				}
				switch {
				case target.Type != "object":
				case m.MapType == "atomic" || target.MapType == "atomic":
					whole++
				default:
					t.Errorf("%s: %s of %s is not owned whole", path, name, kind)
				}
			}
		}
	}
	if whole < 50 {
		t.Errorf("only %d members are owned whole: the test says too little", whole)
	}
}

type schemaOf struct {
	Type       string
	Ref        string `json:"$ref"`
	MapType    string `json:"x-kubernetes-map-type"`
	AllOf      []schemaOf
	Properties map[string]schemaOf
}

// document returns what the server has at a path.
func document(t *testing.T, c *client.Client, path, query string) []byte {
	t.Helper()
	resp := must(c.Raw(t.Context(), client.RawRequest{Path: path, Query: must(url.ParseQuery(query))(t)}))(t)
	defer func() { _ = resp.Body.Close() }()
	return must(io.ReadAll(resp.Body))(t)
}

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/conformance"
	"github.com/bowline-go/bowline/patch"
)

const (
	deployment = `{"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
		"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
		"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "example.invalid/main:1"}]}}
	}}`
	pod = `{"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
		"automountServiceAccountToken": false, "containers": [{"name": "main", "image": "example.invalid/main:1", "ports": [{"containerPort": 8080}]}]
	}}`
)

// dryRun returns the handle as one whose writes are not stored.
func dryRun(r client.Resource[object]) client.Resource[object] {
	return r.With(client.WriteOptions{DryRun: true, FieldManager: "e2e"})
}

// Each verb answers as it would, and nothing is stored. behaviour 22
func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	before := create(t, r, ns, deployment)
	key := meta.KeyOf(before)
	other := parse(t, strings.ReplaceAll(deployment, `"name": "web"`, `"name": "other"`))
	other.SetNamespace(ns)
	changed := before.DeepCopy()
	must(changed, meta.SetNested(changed, "label", "metadata", "labels", "new"))(t)
	scale := client.ScaleOf(dryRun(r))

	for name, write := range map[string]func() (object, error){
		"update": func() (object, error) { return dryRun(r).Update(t.Context(), changed) },
		"modify": func() (object, error) {
			return dryRun(r).Modify(t.Context(), key, func(o object) error {
				return meta.SetNested(o, changed.GetLabels(), "metadata", "labels")
			})
		},
		"patch": func() (object, error) {
			return dryRun(r).Patch(t.Context(), key, patch.Merge(map[string]any{"metadata": map[string]any{"labels": changed.GetLabels()}}))
		},
		"apply": func() (object, error) {
			return dryRun(r).Apply(t.Context(), key, map[string]any{"metadata": map[string]any{"labels": changed.GetLabels()}},
				client.ApplyOptions{Force: true})
		},
	} {
		if got := must(write())(t).GetLabels()["new"]; got != "label" {
			t.Errorf("%s: the answer has the label %q, want what it would be", name, got)
		}
	}
	if got := must(dryRun(r).Create(t.Context(), other))(t); got.GetUID() == "" {
		t.Error("create: the answer has no uid")
	}
	scaled := must(scale.Modify(t.Context(), key, func(s *client.Scale) error {
		s.Spec.Replicas = 5
		return nil
	}))(t)
	equal(t, "replicas in the answer", scaled.Spec.Replicas, 5)
	for name, err := range map[string]error{
		"delete":           dryRun(r).Delete(t.Context(), key, client.DeleteOptions{}),
		"deletecollection": dryRun(r).DeleteCollection(t.Context(), client.Selection{Namespace: ns, LabelSelector: "app=web"}, client.DeleteOptions{}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	list := must(r.List(t.Context(), client.ListOptions{Namespace: ns}))(t)
	if len(list.Items) != 1 || list.Items[0].GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("afterwards there are %d deployments, want the one, unchanged", len(list.Items))
	}
}

// A dry run of the calls that have no body of the resource. behaviour 22
func TestADryRunOfASubresourceStoresNothing(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, pods)
	key := meta.KeyOf(create(t, r, ns, pod))
	for name, err := range map[string]error{
		"binding":  client.Bind(t.Context(), dryRun(r), key, "node-1"),
		"eviction": client.Evict(t.Context(), dryRun(r), key, client.DeleteOptions{}),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if node := nested[string](t, must(r.Get(t.Context(), key))(t), "spec", "nodeName"); node != "" {
		t.Errorf("the pod is bound to %q, want that it is not", node)
	}
}

// behaviour 22, 31
func TestFieldValidation(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var warnings []string
	cfg := adminConfig()
	type asked struct{}
	cfg.Hooks.Warning = func(ctx context.Context, w client.Warning) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, fmt.Sprintf("%v: %s", ctx.Value(asked{}), w.Text))
	}
	_, ns := admin(t)
	c := open(t, cfg)
	base := client.For(c, deployments)
	key := meta.Key{Namespace: ns, Name: "web"}

	// withUnknown has a field that no deployment has, named so that each warning is a new one.
	withUnknown := func(name string) object {
		obj := parse(t, deployment)
		obj.SetNamespace(ns)
		if err := meta.SetNested(obj, "x", "spec", name); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	with := func(v client.FieldValidation) client.Resource[object] {
		return base.With(client.WriteOptions{FieldValidation: v, FieldManager: "e2e"})
	}
	must(base.Create(t.Context(), withUnknown("unknownDefault")))(t)
	writes := map[string]func(context.Context, client.Resource[object], string) error{
		"update": func(ctx context.Context, r client.Resource[object], field string) error {
			_, err := r.Update(ctx, withUnknown(field))
			return err
		},
		"patch": func(ctx context.Context, r client.Resource[object], field string) error {
			_, err := r.Patch(ctx, key, patch.Merge(map[string]any{"spec": map[string]any{field: "x"}}))
			return err
		},
	}
	refusals := map[string]apierrors.Reason{"update": apierrors.BadRequest, "patch": apierrors.Invalid}
	for verb, write := range writes {
		field := "unknown" + strings.ToUpper(verb[:1]) + verb[1:]
		ctx := context.WithValue(t.Context(), asked{}, verb)
		err := write(ctx, with(client.ValidateStrict), field)
		wantReason(t, err, refusals[verb])
		if err == nil || !strings.Contains(err.Error(), `unknown field "spec.`+field+`"`) {
			t.Errorf("%s: error is %v, want that it names the field", verb, err)
		}
		if err := write(ctx, with(client.ValidateIgnore), field); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		mu.Lock()
		if n := len(warnings); n > 1 {
			t.Errorf("%s: warnings are %q, want none where they are not wanted", verb, warnings[1:])
		}
		mu.Unlock()
		if err := write(ctx, with(client.ValidateWarn), field); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		mu.Lock()
		if want := verb + `: unknown field "spec.` + field + `"`; !slices.Contains(warnings, want) {
			t.Errorf("warnings are %q, want %q", warnings, want)
		}
		warnings = warnings[:1]
		mu.Unlock()
	}
	if len(warnings) != 1 || warnings[0] != `<nil>: unknown field "spec.unknownDefault"` {
		t.Errorf("without a wish the warnings are %q, want one", warnings)
	}

	// The server merges what is applied by its own schema, before it validates, and fails whatever it was told.
	for _, v := range []client.FieldValidation{client.ValidateStrict, client.ValidateWarn, client.ValidateIgnore} {
		_, err := with(v).Apply(t.Context(), key, map[string]any{"spec": map[string]any{"unknown": "x"}}, client.ApplyOptions{})
		wantReason(t, err, apierrors.InternalError)
		if err == nil || !strings.Contains(err.Error(), ".spec.unknown: field not declared in schema") {
			t.Errorf("error is %v, want that it names the field", err)
		}
	}
}

// owners returns who owns fields of an object: managers and what they did, with the subresource.
func owners(t *testing.T, obj object) []string {
	t.Helper()
	var names []string
	for _, entry := range nested[[]any](t, obj, "metadata", "managedFields") {
		text := must(json.Marshal(entry))(t)
		var e struct{ Manager, Operation, Subresource string }
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimSuffix(e.Manager+" "+e.Operation+" "+e.Subresource, " "))
	}
	return names
}

// behaviour 22
func TestTheServerRecordsTheFieldManager(t *testing.T) {
	t.Parallel()
	_, ns := admin(t)
	cfg := adminConfig()
	cfg.UserAgent = "gardener/1.0"
	r := client.For(open(t, cfg), deployments)
	as := func(manager string) client.Resource[object] {
		return r.With(client.WriteOptions{FieldManager: manager})
	}
	obj := create(t, r, ns, deployment)
	key := meta.KeyOf(obj)
	label := func(name string) patch.Patch {
		return patch.Merge(map[string]any{"metadata": map[string]any{"labels": map[string]any{name: "x"}}})
	}
	must(as("patcher").Patch(t.Context(), key, label("patched")))(t)
	must(as("applier").Apply(t.Context(), key, map[string]any{"metadata": map[string]any{"labels": map[string]any{"applied": "x"}}}, client.ApplyOptions{}))(t)
	must(as("status-writer").Status().Patch(t.Context(), key, patch.Merge(map[string]any{"status": map[string]any{"replicas": 1}})))(t)
	must(as("modifier").Modify(t.Context(), key, func(o object) error {
		return meta.SetNested(o, "x", "metadata", "annotations", "modified")
	}))(t)
	must(client.ScaleOf(as("scaler")).Modify(t.Context(), key, func(s *client.Scale) error {
		s.Spec.Replicas = 3
		return nil
	}))(t)
	got := owners(t, must(r.Get(t.Context(), key))(t))
	for _, want := range []string{
		"gardener Update", "patcher Update", "applier Apply", "status-writer Update status", "modifier Update", "scaler Update scale",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the owners are %q, want %q among them", got, want)
		}
	}
}

// behaviour 325
func TestAnApplyThatConflictsNamesTheOwner(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, conformance.ConfigMaps)
	as := func(manager string) client.Resource[*conformance.ConfigMap] {
		return r.With(client.WriteOptions{FieldManager: manager})
	}
	key := meta.Key{Namespace: ns, Name: "a"}
	data := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return map[string]any{"data": m}
	}
	must(as("one").Apply(t.Context(), key, data("k", "one", "own", "x"), client.ApplyOptions{}))(t) // which creates it
	_, err := as("two").Apply(t.Context(), key, data("k", "two"), client.ApplyOptions{})
	wantReason(t, err, apierrors.Conflict)
	cause, found := apierrors.Cause(err, apierrors.CauseFieldManagerConflict)
	if !found || cause.Field != ".data.k" || !strings.Contains(cause.Message, `conflict with "one"`) {
		t.Errorf("the cause is %+v, want that it names the field and its owner; error is %v", cause, err)
	}
	got := must(as("two").Apply(t.Context(), key, data("k", "two"), client.ApplyOptions{Force: true}))(t)
	equal(t, "after the forced apply k", got.Data["k"], "two")
	equal(t, "after the forced apply own", got.Data["own"], "x")
	got = must(as("one").Apply(t.Context(), key, data(), client.ApplyOptions{}))(t)
	if _, found := got.Data["own"]; found || got.Data["k"] != "two" {
		t.Errorf("data is %v, want that what the first manager does not apply any more is gone, and nothing else", got.Data)
	}
}

// behaviour 24
func TestDeleteOptionsReachTheServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	made := func(name string) object {
		t.Helper()
		return create(t, r, ns, strings.ReplaceAll(deployment, `"name": "web"`, `"name": "`+name+`"`))
	}
	for policy, finalizer := range map[client.Propagation]string{client.Foreground: "foregroundDeletion", client.Orphan: "orphan"} {
		obj := made(strings.ToLower(string(policy)))
		if err := r.Delete(t.Context(), meta.KeyOf(obj), client.DeleteOptions{Propagation: policy}); err != nil {
			t.Fatal(err)
		}
		got := must(r.Get(t.Context(), meta.KeyOf(obj)))(t)
		if !slices.Equal(got.GetFinalizers(), []string{finalizer}) || got.GetDeletionTimestamp() == nil {
			t.Errorf("after a deletion with %s the finalizers are %q", policy, got.GetFinalizers())
		}
	}
	gone := func(obj object) {
		t.Helper()
		_, err := r.Get(t.Context(), meta.KeyOf(obj))
		wantReason(t, err, apierrors.NotFound)
	}
	obj := made("background")
	if err := r.Delete(t.Context(), meta.KeyOf(obj), client.DeleteOptions{Propagation: client.Background}); err != nil {
		t.Fatal(err)
	}
	gone(obj)

	obj = made("conditional")
	for name, o := range map[string]client.DeleteOptions{
		"of another uid":     {UID: "11111111-1111-1111-1111-111111111111"},
		"of another version": {UID: obj.GetUID(), ResourceVersion: "1"},
	} {
		if err := r.Delete(t.Context(), meta.KeyOf(obj), o); !errors.Is(err, apierrors.Conflict) {
			t.Errorf("a deletion %s returns %v, want Conflict", name, err)
		}
	}
	if err := r.Delete(t.Context(), meta.KeyOf(obj), client.DeleteOptions{UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion()}); err != nil {
		t.Fatal(err)
	}
	gone(obj)
}

// A pod on a node ends in its own time, unless it is told otherwise.
func TestAGracePeriodReachesTheServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, pods)
	key := meta.KeyOf(create(t, r, ns, pod))
	if err := client.Bind(t.Context(), r, key, "node-1"); err != nil {
		t.Fatal(err)
	}
	got := must(r.Get(t.Context(), key))(t)
	equal(t, "the node", nested[string](t, got, "spec", "nodeName"), "node-1")
	wantReason(t, client.Bind(t.Context(), r, key, "node-2"), apierrors.Conflict)

	if err := r.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: 17 * time.Second}); err != nil {
		t.Fatal(err)
	}
	got = must(r.Get(t.Context(), key))(t)
	equal(t, "the grace period", nested[int64](t, got, "metadata", "deletionGracePeriodSeconds"), 17)
	if err := r.Delete(t.Context(), key, client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound)
}

func TestACollectionIsDeletedAsSelected(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	_, elsewhere := admin(t)
	r := client.For(c, conformance.ConfigMaps)
	for _, namespace := range []string{ns, elsewhere} {
		for i, color := range []string{"red", "red", "blue", ""} {
			obj := &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("c", i)}}
			if color != "" {
				obj.Labels = map[string]string{"color": color}
			}
			must(r.Create(t.Context(), obj))(t)
		}
	}
	left := func() (names []string) {
		for obj, err := range r.All(t.Context(), client.ListOptions{Namespace: ns}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, obj.Name)
		}
		return names
	}
	for _, step := range []struct {
		selection client.Selection
		left      []string
	}{
		{client.Selection{Namespace: ns, LabelSelector: "color=red"}, []string{"c2", "c3"}},
		{client.Selection{Namespace: ns, FieldSelector: "metadata.name=c3"}, []string{"c2"}},
		{client.Selection{Namespace: ns, LabelSelector: "color=none"}, []string{"c2"}},
		{client.Selection{Namespace: ns, Everything: true}, nil},
	} {
		if err := r.DeleteCollection(t.Context(), step.selection, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := left(); !slices.Equal(got, step.left) {
			t.Errorf("after the deletion of %+v there are %q, want %q", step.selection, got, step.left)
		}
	}
	list := must(r.List(t.Context(), client.ListOptions{Namespace: elsewhere}))(t)
	equal(t, "the number of config maps elsewhere", len(list.Items), 4)
	outsider := adminConfig()
	outsider.BearerToken = client.Secret(plane.OutsiderToken)
	wantReason(t, client.For(open(t, outsider), conformance.ConfigMaps).DeleteCollection(t.Context(),
		client.Selection{Namespace: elsewhere, Everything: true}, client.DeleteOptions{}), apierrors.Forbidden)
}

// behaviour 24
func TestSubresourcesChangeTheirOwnPart(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, deployments)
	obj := create(t, r, ns, deployment)
	key := meta.KeyOf(obj)
	set := func(o object, value int64) error {
		if err := meta.SetNested(o, value, "spec", "replicas"); err != nil {
			return err
		}
		return meta.SetNested(o, value, "status", "replicas")
	}
	replicas := func(o object) [2]int64 {
		return [2]int64{nested[int64](t, o, "spec", "replicas"), nested[int64](t, o, "status", "replicas")}
	}
	leavesOut := func(err error, field string) {
		t.Helper()
		if err == nil || !errors.As(err, new(*client.UsageError)) || !strings.Contains(err.Error(), "server ignored the change of "+field+", which") {
			t.Errorf("error is %v, want that %s has been left out", err, field)
		}
	}
	_, err := r.Status().Modify(t.Context(), key, func(o object) error { return set(o, 4) })
	leavesOut(err, "spec")
	equal(t, "after a write of the status", replicas(must(r.Get(t.Context(), key))(t)), [2]int64{1, 4})
	_, err = r.Modify(t.Context(), key, func(o object) error { return set(o, 6) })
	leavesOut(err, "status")
	equal(t, "after a write of the rest", replicas(must(r.Get(t.Context(), key))(t)), [2]int64{6, 4})
	equal(t, "through the subresource", replicas(must(r.Status().Get(t.Context(), key))(t)), [2]int64{6, 4})

	scale := must(client.ScaleOf(r).Get(t.Context(), key))(t)
	if scale.Spec.Replicas != 6 || scale.Status.Replicas != 4 || scale.Status.Selector != "app=web" || scale.Name != "web" {
		t.Errorf("the scale is %+v, want 6, 4 and the selector", scale)
	}
	scale.Spec.Replicas = 2
	scale = must(client.ScaleOf(r).Update(t.Context(), scale))(t)
	equal(t, "replicas after an update", scale.Spec.Replicas, 2)
	stale := *scale
	stale.ResourceVersion = obj.GetResourceVersion()
	stale.Spec.Replicas = 3
	_, err = client.ScaleOf(r).Update(t.Context(), &stale)
	wantReason(t, err, apierrors.Conflict)
	scale = must(client.ScaleOf(r).Patch(t.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{"replicas": 8}})))(t)
	equal(t, "replicas after a patch", scale.Spec.Replicas, 8)

	_, err = client.ScaleOf(r).Get(t.Context(), meta.Key{Namespace: ns, Name: "absent"})
	wantReason(t, err, apierrors.NotFound)
	_, err = client.For(c, conformance.ConfigMaps).Status().Get(t.Context(), key)
	wantReason(t, err, apierrors.NotFound)
}

func TestSubresourcesOfPodsAreServed(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, pods)
	key := meta.KeyOf(create(t, r, ns, pod))
	got := must(r.Sub("ephemeralcontainers").Patch(t.Context(), key, patch.Merge(map[string]any{"spec": map[string]any{
		"ephemeralContainers": []any{map[string]any{"name": "debugger", "image": "example.invalid/debugger:1"}},
	}})))(t)
	if containers := nested[[]any](t, got, "spec", "ephemeralContainers"); len(containers) != 1 {
		t.Errorf("the ephemeral containers are %v, want one", containers)
	}
	must(r.Sub("resize").Get(t.Context(), key))(t)
}

// A handle that is bound to a namespace writes there, whatever the object says or leaves out. behaviour 23, guarantee S22
func TestAHandleStaysInItsNamespace(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, conformance.ConfigMaps).In(ns)
	made := must(r.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a"}}))(t)
	equal(t, "namespace", made.Namespace, ns)
	must(r.Get(t.Context(), meta.Key{Name: "a"}))(t)
	list := must(r.List(t.Context(), client.ListOptions{}))(t)
	equal(t, "the number of objects", len(list.Items), 1)
	must(r.With(client.WriteOptions{FieldManager: "e2e"}).Apply(t.Context(), meta.Key{Name: "b"}, map[string]any{}, client.ApplyOptions{}))(t)
	if err := r.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	usage := (*client.UsageError)(nil)
	if _, err := r.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}); !errors.As(err, &usage) {
		t.Errorf("error is %v, want a *client.UsageError", err)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// metadata and template make the parts that the objects of the tests share.
func metadata(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "default", Name: name, Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{"example.com/html": `<a href="x">&</a>`},
	}
}

func podSpec() corev1.PodSpec {
	grace := int64(30)
	return corev1.PodSpec{
		NodeName: "node-a", TerminationGracePeriodSeconds: &grace,
		Containers: []corev1.Container{{
			Name: "web", Image: "nginx",
			Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("64Mi")},
				Limits:   corev1.ResourceList{"cpu": resource.MustParse("1.5"), "memory": resource.MustParse("1Gi")},
			},
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/live", Port: intstr.FromString("http")},
			}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(8080)},
			}},
		}},
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	surge := intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: metadata(name),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge},
			},
		},
	}
}

// A subject is a resource with what the test of the verbs has to know of it.
type subject[T meta.Object] struct {
	resource client.Type[T]
	object   func(name string) T
	// change makes a change of the object, and changed says whether it is there.
	change  func(obj T)
	changed func(obj T) bool
	// status makes a change of the object's status, and statusSet says whether it is there. Both are nil where there is none.
	status    func(obj T)
	statusSet func(obj T) bool
	// patch makes the same change as change.
	patch patch.Patch
}

func TestEveryVerbOnPods(t *testing.T) {
	testVerbs(t, subject[*corev1.Pod]{
		resource:  pods,
		object:    func(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metadata(name), Spec: podSpec()} },
		change:    func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:2" },
		changed:   func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "nginx:2" },
		status:    func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning },
		statusSet: func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning },
		patch:     patch.Strategic(corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:2"}}}}),
	})
}

func TestEveryVerbOnDeployments(t *testing.T) {
	three := int32(3)
	testVerbs(t, subject[*appsv1.Deployment]{
		resource:  deployments,
		object:    deployment,
		change:    func(d *appsv1.Deployment) { d.Spec.Replicas = &three },
		changed:   func(d *appsv1.Deployment) bool { return d.Spec.Replicas != nil && *d.Spec.Replicas == 3 },
		status:    func(d *appsv1.Deployment) { d.Status.Replicas, d.Status.ReadyReplicas = 2, 2 },
		statusSet: func(d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 2 },
		patch:     patch.Merge(json.RawMessage(`{"spec":{"replicas":3}}`)),
	})
}

func TestEveryVerbOnConfigMaps(t *testing.T) {
	testVerbs(t, subject[*corev1.ConfigMap]{
		resource: configMaps,
		object: func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{
				ObjectMeta: metadata(name), Data: map[string]string{"k": "<v>"}, BinaryData: map[string][]byte{"b": {0, 255}},
			}
		},
		change:  func(c *corev1.ConfigMap) { c.Data["k"] = "w" },
		changed: func(c *corev1.ConfigMap) bool { return c.Data["k"] == "w" },
		patch:   patch.Merge(corev1.ConfigMap{Data: map[string]string{"k": "w"}}),
	})
}

func TestEveryVerbOnSecrets(t *testing.T) {
	testVerbs(t, subject[*corev1.Secret]{
		resource: secrets,
		object: func(name string) *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metadata(name), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"k": {0, 1, 254, 255}},
			}
		},
		change:  func(s *corev1.Secret) { s.Data["k"] = []byte("w") },
		changed: func(s *corev1.Secret) bool { return string(s.Data["k"]) == "w" },
		patch:   patch.Merge(corev1.Secret{Data: map[string][]byte{"k": []byte("w")}}),
	})
}

// deletable is an object that can be asked for its deletion, as every type of k8s.io/api can.
type deletable interface {
	meta.Object
	GetDeletionTimestamp() *metav1.Time
}

// testVerbs uses every verb on one resource; each step starts where the one before has ended.
func testVerbs[T deletable](t *testing.T, s subject[T]) {
	c, _ := connect(t)
	ctx := t.Context()
	r := client.For(c, s.resource)
	must := must[T](t)

	created := must(r.Create(ctx, s.object("a")))
	// The answer has what was sent, and what the server adds: metadata, a status and defaults. So the answer stays the same
	// if what was sent is written over it.
	sent, err := json.Marshal(withServers(t, s.object("a"), created))
	if err != nil {
		t.Fatal(err)
	}
	want := meta.Clone(created)
	if err := json.Unmarshal(sent, want); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(want, created) {
		t.Errorf("create returned\n%+v, want\n%+v", created, want)
	}
	if created.GetResourceVersion() == "" {
		t.Error("created object has no resource version")
	}
	if _, err := r.Create(ctx, s.object("a")); !errors.Is(err, apierrors.AlreadyExists) {
		t.Errorf("second create: got %v, want AlreadyExists", err)
	}

	got := must(r.Get(ctx, key("a")))
	if !equality.Semantic.DeepEqual(got, created) {
		t.Errorf("get returned\n%+v, want\n%+v", got, created)
	}

	list, err := r.List(ctx, client.ListOptions{Namespace: "default", LabelSelector: "app=web"})
	if err != nil || len(list.Items) != 1 || meta.KeyOf(list.Items[0]) != key("a") {
		t.Errorf("list returned %+v, %v", list, err)
	}

	s.change(got)
	updated := must(r.Update(ctx, got))
	if !s.changed(updated) || updated.GetResourceVersion() == created.GetResourceVersion() {
		t.Errorf("update returned %+v", updated)
	}
	if _, err := r.Update(ctx, created); !errors.Is(err, apierrors.Conflict) {
		t.Errorf("update of an old state: got %v, want Conflict", err)
	}

	must(r.Create(ctx, s.object("b")))
	modified := must(r.Modify(ctx, key("b"), func(obj T) error { s.change(obj); return nil }))
	if !s.changed(modified) {
		t.Errorf("modify returned %+v", modified)
	}
	// Modify changes the server's JSON. What it makes of these types must still be what Update makes.
	if want := withServers(t, updated, modified); !equality.Semantic.DeepEqual(want, modified) {
		t.Errorf("modify returned\n%+v, want as update\n%+v", modified, want)
	}

	must(r.Create(ctx, s.object("c")))
	if patched := must(r.Patch(ctx, key("c"), s.patch)); !s.changed(patched) {
		t.Errorf("patch returned %+v", patched)
	}

	if s.status != nil {
		testStatus(t, r, s)
	}
	testWatch(t, r, s, list.ResourceVersion)

	if err := r.Delete(ctx, key("a"), client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Error(err)
	}
	if _, err := r.Get(ctx, key("a")); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("get after delete: got %v, want NotFound", err)
	}
}

func testStatus[T meta.Object](t *testing.T, r client.Resource[T], s subject[T]) {
	must := must[T](t)
	obj := must(r.Create(t.Context(), s.object("status")))
	s.status(obj)
	obj = must(r.Status().Update(t.Context(), obj))
	if !s.statusSet(obj) {
		t.Errorf("status update returned %+v", obj)
	}
	s.change(obj)
	if obj = must(r.Update(t.Context(), obj)); !s.statusSet(obj) {
		t.Errorf("update lost the status: %+v", obj)
	}
	if err := r.Delete(t.Context(), key("status"), client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Error(err)
	}
}

// testWatch replays what happened after version, deletes "b", and wants the events and their objects.
func testWatch[T deletable](t *testing.T, r client.Resource[T], s subject[T], version string) {
	if err := r.Delete(t.Context(), key("b"), client.DeleteOptions{GracePeriod: client.NoGracePeriod}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type step struct {
		Type client.EventType
		Name string
	}
	var got []step
	for event, err := range r.Watch(ctx, client.WatchOptions{Namespace: "default", ResourceVersion: version}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Object.GetResourceVersion() != event.Identity.ResourceVersion {
			t.Errorf("event of %+v carries version %q", event.Identity, event.Object.GetResourceVersion())
		}
		if event.Identity.Name == "status" || event.Type == client.Modified && meta.IsDeleting(event.Object) {
			continue // a pod is told to end before it goes
		}
		got = append(got, step{event.Type, event.Identity.Name})
		if event.Type == client.Deleted {
			if !s.changed(event.Object) {
				t.Errorf("deleted event has not the last state: %+v", event.Object)
			}
			break
		}
	}
	want := []step{
		{client.Modified, "a"},
		{client.Added, "b"},
		{client.Modified, "b"},
		{client.Added, "c"},
		{client.Modified, "c"},
		{client.Deleted, "b"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("watch brought %v, want %v", got, want)
	}
}

// withServers returns a copy of obj that has, of what the server sets, what from has: kind, metadata and status.
func withServers[T meta.Object](t *testing.T, obj, from T) T {
	t.Helper()
	obj = meta.Clone(obj)
	to, source := reflect.ValueOf(obj).Elem(), reflect.ValueOf(meta.Clone(from)).Elem()
	for _, name := range []string{"TypeMeta", "ObjectMeta", "Status"} {
		if field := to.FieldByName(name); field.IsValid() {
			field.Set(source.FieldByName(name))
		}
	}
	return obj
}

package main

import (
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

var _ meta.Object = (*corev1.Pod)(nil)

func TestAccessorsReadTheTypesOfApimachinery(t *testing.T) {
	yes := true
	pod := &corev1.Pod{ObjectMeta: metadata("a")}
	pod.UID = types.UID("0a1b")
	pod.ResourceVersion = "12"
	pod.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "2", Controller: &yes, BlockOwnerDeletion: &yes},
	}

	if got := meta.KeyOf(pod); got != key("a") {
		t.Errorf("KeyOf: got %v", got)
	}
	if got := meta.UID(pod); got != "0a1b" {
		t.Errorf("UID: got %q", got)
	}
	want := []meta.OwnerReference{
		{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"},
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "2", Controller: &yes, BlockOwnerDeletion: &yes},
	}
	if got := meta.Owners(pod); !reflect.DeepEqual(got, want) {
		t.Errorf("Owners: got %+v, want %+v", got, want)
	}
	if got, found := meta.ControllerOf(pod); !found || got.Name != "r" {
		t.Errorf("ControllerOf: got %+v, %v", got, found)
	}
	if meta.IsDeleting(pod) {
		t.Error("IsDeleting: got true before deletion")
	}
	now := metav1.NewTime(time.Unix(1, 0))
	pod.DeletionTimestamp = &now
	if !meta.IsDeleting(pod) {
		t.Error("IsDeleting: got false for an object with a deletionTimestamp")
	}
	if got := meta.Owners(&corev1.Pod{}); len(got) != 0 {
		t.Errorf("Owners of nothing: got %+v", got)
	}
}

func TestIsDeletingSeesWhatTheServerSets(t *testing.T) {
	c, _ := connect(t)
	r := client.For(c, configMaps)
	obj := &corev1.ConfigMap{ObjectMeta: metadata("a")}
	obj.Finalizers = []string{"example.com/hold"}
	must := must[*corev1.ConfigMap](t)
	must(r.Create(t.Context(), obj))
	if err := r.Delete(t.Context(), key("a"), client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := must(r.Get(t.Context(), key("a"))); !meta.IsDeleting(got) {
		t.Errorf("got %+v, want an object that is being deleted", got)
	}
}

func TestClonesAreEqualAndIndependent(t *testing.T) {
	for seed := range int64(20) {
		pod := random[*corev1.Pod](seed)
		clone := meta.Clone(pod)
		if clone == pod || !equality.Semantic.DeepEqual(clone, pod) {
			t.Fatalf("seed %d: the clone differs", seed)
		}
		before := pod.DeepCopy()
		scribble(reflect.ValueOf(clone).Elem())
		if !equality.Semantic.DeepEqual(pod, before) {
			t.Fatalf("seed %d: a change of the clone shows in the original", seed)
		}
	}
	type small struct {
		Pods []*corev1.Pod
		Spec map[string]corev1.PodSpec
	}
	original := &small{Pods: []*corev1.Pod{random[*corev1.Pod](1)}, Spec: map[string]corev1.PodSpec{"a": podSpec()}}
	clone := meta.Clone(original) // by the plan: small has no DeepCopy, and what it contains is not asked for one
	if !equality.Semantic.DeepEqual(clone, original) {
		t.Error("the clone of a struct of these types differs")
	}
	before := original.Pods[0].DeepCopy()
	scribble(reflect.ValueOf(clone).Elem())
	if !equality.Semantic.DeepEqual(original.Pods[0], before) {
		t.Error("a change of the clone of a struct of these types shows in the original")
	}
}

// scribble overwrites every string that can be reached from v.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString("scribble")
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Len() > 0 && v.CanSet() {
			v.Index(0).SetUint(v.Index(0).Uint() + 1)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(k))
			scribble(value)
			if v.CanInterface() {
				v.SetMapIndex(k, value)
			}
		}
	}
}

// SetController sets apimachinery's references on the API's types, with the kind that the owner's descriptor says.
func TestSetControllerSetsReferencesOfApimachinery(t *testing.T) {
	deployments := client.Type[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	owner := &appsv1.Deployment{ObjectMeta: metadata("owner")}
	owner.UID = "0a1b"
	pod := &corev1.Pod{ObjectMeta: metadata("a")}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"}}
	before := pod.OwnerReferences
	yes := true
	want := []metav1.OwnerReference{before[0], {APIVersion: "apps/v1", Kind: "Deployment", Name: "owner", UID: "0a1b", Controller: &yes, BlockOwnerDeletion: &yes}}
	for range 2 {
		if err := client.SetController(pod, client.OwnerOf(deployments, owner)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(pod.OwnerReferences, want) {
			t.Errorf("owners are %+v, want %+v", pod.OwnerReferences, want)
		}
	}
	if !metav1.IsControlledBy(pod, owner) || len(before) != 1 {
		t.Errorf("apimachinery does not see it: %+v", pod.OwnerReferences)
	}
	other := &appsv1.Deployment{ObjectMeta: metadata("other")}
	other.UID = "2c3d"
	if err := client.SetController(pod, client.OwnerOf(deployments, other)); err == nil {
		t.Error("a second controller is accepted")
	}
	if err := client.RemoveOwner(pod, client.OwnerOf(deployments, owner)); err != nil || len(pod.OwnerReferences) != 1 {
		t.Errorf("owners are %+v, %v", pod.OwnerReferences, err)
	}
}

// The API's own types say much that nobody means, and it makes no difference.
func TestEnsureSendsNothingTwiceForTheTypesOfTheAPI(t *testing.T) {
	c, _ := connect(t)
	deployments := client.For(c, client.Type[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"})
	want := &appsv1.Deployment{ObjectMeta: metadata("web")}
	want.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	want.Spec.Template.Labels = want.Spec.Selector.MatchLabels
	want.Spec.Template.Spec = podSpec()
	for i, outcome := range []client.Outcome{client.Created, client.Unchanged, client.Updated, client.Unchanged} {
		if i == 2 {
			want.Labels = map[string]string{"a": "b"}
		}
		_, got, err := deployments.Ensure(t.Context(), want, client.EnsureOptions{})
		if err != nil || got.Outcome != outcome {
			t.Errorf("call %d: %v, %v, want %v", i, got, err, outcome)
		}
	}
}

// A condition of the API's own type is set as one of meta's: its time stays while its status does.
func TestConditionsOfTheAPI(t *testing.T) {
	var conditions []metav1.Condition
	for range 2 {
		if err := meta.SetCondition(&conditions, 3, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Done"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(conditions) != 1 || conditions[0].ObservedGeneration != 3 || conditions[0].LastTransitionTime.IsZero() || !meta.IsConditionTrue(conditions, "Ready") {
		t.Errorf("conditions are %+v", conditions)
	}
	pod := &corev1.Pod{}
	if err := meta.SetCondition(&pod.Status.Conditions, 1, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}); err != nil ||
		!meta.IsConditionTrue(pod.Status.Conditions, "Ready") || pod.Status.Conditions[0].LastTransitionTime.IsZero() {
		t.Errorf("conditions of the pod are %+v, %v", pod.Status.Conditions, err)
	}
}

package meta_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

var (
	_ meta.Object = meta.Identity{}
	_ meta.Object = (*meta.Identity)(nil)
	_ meta.Object = (*meta.ObjectMeta)(nil)
)

// The text has every field of the API's ObjectMeta.
const fullMeta = `{"name":"n","generateName":"n-","namespace":"ns","selfLink":"/x","uid":"u","resourceVersion":"12",` +
	`"generation":3,"creationTimestamp":"2024-05-06T07:08:09Z","deletionTimestamp":"2024-05-06T07:08:10Z",` +
	`"deletionGracePeriodSeconds":0,"labels":{"a":"1"},"annotations":{"b":"2"},"ownerReferences":[{"apiVersion":"v1",` +
	`"kind":"Pod","name":"o","uid":"ou","controller":true,"blockOwnerDeletion":false}],"finalizers":["f"],"managedFields":[` +
	`{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2024-05-06T07:08:11Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:data":{}},"subresource":"status"}]}`

func TestObjectMetaOnTheWire(t *testing.T) {
	var m meta.ObjectMeta
	if err := json.Unmarshal([]byte(fullMeta), &m); err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(m); err != nil || string(out) != fullMeta {
		t.Errorf("encoded %s, %v; want %s", out, err, fullMeta)
	}
	if out, err := json.Marshal(meta.ObjectMeta{}); err != nil || string(out) != `{}` {
		t.Errorf("the zero ObjectMeta encodes to %s, %v", out, err)
	}
	want := meta.Identity{Namespace: "ns", Name: "n", UID: "u", ResourceVersion: "12"}
	if m.Identity() != want || m.Key() != meta.KeyOf(&m) || m.Key() != want.Key() {
		t.Errorf("identity %v, key %v", m.Identity(), m.Key())
	}
	if m.GetLabels()["a"] != "1" || m.GetAnnotations()["b"] != "2" || m.GetFinalizers()[0] != "f" || m.GetGeneration() != 3 ||
		m.GetOwnerReferences()[0].UID != "ou" || m.GetDeletionTimestamp().Second() != 10 {
		t.Errorf("getters of %+v", m)
	}
}

// metadata is what generic code needs of an object. Both ObjectMeta and Unstructured have it.
type metadata interface {
	meta.Object
	GetUID() string
	GetLabels() map[string]string
	GetAnnotations() map[string]string
	GetFinalizers() []string
	GetOwnerReferences() []meta.OwnerReference
	GetDeletionTimestamp() *meta.Time
	GetGeneration() int64
	SetOwnerReferences([]meta.OwnerReference)
}

func TestObjectMetaAndUnstructuredReadAlike(t *testing.T) {
	owners := []meta.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "o", UID: "ou"}}
	own := &meta.ObjectMeta{
		Namespace: "ns", Name: "n", ResourceVersion: "12", Finalizers: []string{"f"},
		Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"},
	}
	generic := &meta.Unstructured{}
	if err := meta.SetNested(generic, own, "metadata"); err != nil {
		t.Fatal(err)
	}
	for _, m := range []metadata{own, generic} {
		m.SetOwnerReferences(owners)
		if m.GetNamespace() != "ns" || m.GetName() != "n" || m.GetResourceVersion() != "12" || m.GetLabels()["a"] != "1" ||
			m.GetAnnotations()["b"] != "2" || !slices.Equal(m.GetFinalizers(), []string{"f"}) ||
			!reflect.DeepEqual(m.GetOwnerReferences(), owners) {
			t.Errorf("%T set reads as %+v", m, m)
		}
	}
}

func TestIdentityOnTheWire(t *testing.T) {
	var pod smallPod
	if err := json.Unmarshal([]byte(`{"kind":"Pod","metadata":`+fullMeta+`}`), &pod); err != nil {
		t.Fatal(err)
	}
	if pod.Key() != (meta.Key{Namespace: "ns", Name: "n"}) || pod.GetUID() != "u" || pod.GetResourceVersion() != "12" ||
		pod.GetNamespace() != "ns" || pod.GetName() != "n" {
		t.Errorf("identity %+v", pod)
	}
	const want = `{"metadata":{"namespace":"ns","name":"n","uid":"u","resourceVersion":"12"}}`
	if out, err := json.Marshal(pod); err != nil || string(out) != want {
		t.Errorf("encoded %s, %v", out, err)
	}
}

// A type that is embedded under a tag decodes, and its methods promote, also where its own name is not exported.
func TestFieldsBesideAnIdentity(t *testing.T) {
	var pod leanPod
	if err := json.Unmarshal([]byte(`{"metadata":`+fullMeta+`}`), &pod); err != nil {
		t.Fatal(err)
	}
	if meta.KeyOf(&pod) != (meta.Key{Namespace: "ns", Name: "n"}) || pod.Labels["a"] != "1" || !meta.IsDeleting(&pod) ||
		len(meta.Owners(&pod)) != 1 {
		t.Errorf("decoded %+v", pod)
	}
}

func TestKey(t *testing.T) {
	keys := []meta.Key{{Namespace: "b", Name: "a"}, {Name: "z"}, {Namespace: "a", Name: "b"}, {Namespace: "a", Name: "a"}}
	slices.SortFunc(keys, meta.Key.Compare)
	var got []string
	for _, k := range keys {
		got = append(got, k.String())
	}
	if want := []string{"z", "a/a", "a/b", "b/a"}; !slices.Equal(got, want) {
		t.Errorf("sorted %v, want %v", got, want)
	}
	if (meta.Key{Name: "a"}).Compare(meta.Key{Name: "a"}) != 0 {
		t.Error("equal keys must compare as equal")
	}
}

func TestKindsAndResources(t *testing.T) {
	tests := []struct{ group, version, apiVersion, kind, resource string }{
		{"", "v1", "v1", "Pod.v1", "pods.v1"},
		{"apps", "v1", "apps/v1", "Pod.apps/v1", "pods.apps/v1"},
		{"", "", "", "Pod", "pods"},
	}
	for _, tt := range tests {
		gvk := meta.GVK{Group: tt.group, Version: tt.version, Kind: "Pod"}
		gvr := meta.GVR{Group: tt.group, Version: tt.version, Resource: "pods"}
		if gvk.APIVersion() != tt.apiVersion || gvr.APIVersion() != tt.apiVersion ||
			gvk.String() != tt.kind || gvr.String() != tt.resource {
			t.Errorf("%+v: apiVersion %q and %q, kind %q, resource %q", tt, gvk.APIVersion(), gvr.APIVersion(), gvk, gvr)
		}
		var typ meta.TypeMeta
		typ.SetTypeMeta(gvk.APIVersion(), gvk.Kind)
		if typ.GVK() != gvk {
			t.Errorf("%+v reads back as %+v", gvk, typ.GVK())
		}
	}
	if meta.Namespaced.String() != "Namespaced" || meta.Cluster.String() != "Cluster" || meta.Scope(0) != meta.Namespaced {
		t.Error("the words for scopes")
	}
}

func TestListOnTheWire(t *testing.T) {
	const text = `{"metadata":{"resourceVersion":"5","continue":"c","remainingItemCount":3,"shardInfo":{"selector":"s"}},"items":[{"metadata":{"name":"a"}}]}`
	var list meta.List[smallPod]
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	if list.ResourceVersion != "5" || list.Continue != "c" || *list.RemainingItemCount != 3 || list.ShardInfo.Selector != "s" || list.Items[0].Name != "a" {
		t.Errorf("decoded %+v", list)
	}
	if out, err := json.Marshal(list); err != nil || string(out) != text {
		t.Errorf("encoded %s, %v", out, err)
	}
	if out, err := json.Marshal(meta.List[smallPod]{}); err != nil || string(out) != `{"metadata":{},"items":null}` {
		t.Errorf("encoded %s, %v", out, err)
	}
}

func TestCreationTimestampIsLeftOutWhenZero(t *testing.T) {
	out, err := json.Marshal(ownPod{meta.ObjectMeta{Name: "a", CreationTimestamp: meta.Time{Time: time.Unix(0, 0)}}})
	if err != nil || string(out) != `{"metadata":{"name":"a","creationTimestamp":"1970-01-01T00:00:00Z"}}` {
		t.Errorf("encoded %s, %v", out, err)
	}
	out, err = json.Marshal(ownPod{})
	if err != nil || string(out) != `{"metadata":{}}` {
		t.Errorf("encoded %s, %v", out, err)
	}
}

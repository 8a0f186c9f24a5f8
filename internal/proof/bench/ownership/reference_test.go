package ownership_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// reference is one object that the field manager of kube-apiserver writes, without a server around it.
type reference struct {
	fields *managedfields.FieldManager
	live   *unstructured.Unstructured
}

var kind = schema.GroupVersionKind{Group: "ownership.bowline.example", Version: "v1", Kind: "Thing"}

func newReference(t *testing.T) *reference {
	t.Helper()
	var model spec.Schema
	whole := fmt.Sprintf(`{"type": "object",
		"x-kubernetes-group-version-kind": [{"group": %q, "version": %q, "kind": %q}],
		"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": %s, "spec": %s}}`,
		kind.Group, kind.Version, kind.Kind, metadataSchema, specSchema)
	if err := json.Unmarshal([]byte(whole), &model); err != nil {
		t.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"example.bowline.Thing": &model}, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{fields: managedfieldstest.NewFakeFieldManager(types, kind), live: &unstructured.Unstructured{Object: map[string]any{}}}
	r.live.SetGroupVersionKind(kind)
	return r
}

// do does a write, and returns whether it changed anything.
func (r *reference) do(w write) (changed bool, err error) {
	obj := &unstructured.Unstructured{Object: plain(w.object).(map[string]any)}
	obj.SetGroupVersionKind(kind)
	obj.SetName(name)
	var out any
	if w.how == update {
		obj.SetNamespace(r.live.GetNamespace())
		obj.SetUID(r.live.GetUID())
		obj.SetCreationTimestamp(r.live.GetCreationTimestamp())
		complete(obj)
		out, err = r.fields.Update(r.live.DeepCopy(), obj, w.by)
	} else {
		out, err = r.fields.Apply(r.live.DeepCopy(), obj, w.by, w.how == force)
	}
	if err != nil {
		return false, err
	}
	next := out.(*unstructured.Unstructured)
	complete(next)
	next.SetUID("uid") // a live object has one
	changed = !reflect.DeepEqual(timeless(next), timeless(r.live))
	if changed {
		r.live = next
	}
	return changed, nil
}

// timeless returns an object without the times of its managedFields.
func timeless(obj *unstructured.Unstructured) map[string]any {
	obj = obj.DeepCopy()
	entries := obj.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	obj.SetManagedFields(entries)
	return obj.Object
}

// complete adds the default that the schema has, and drops what metadata does not keep.
func complete(obj *unstructured.Unstructured) {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "finalizers"} {
		if v := reflect.ValueOf(metadata[name]); !v.IsValid() || v.Len() == 0 {
			delete(metadata, name)
		}
	}
	spec, _ := obj.Object["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		port := p.(map[string]any)
		if _, found := port["protocol"]; !found {
			port["protocol"] = "TCP"
		}
	}
}

// entriesOf returns managedFields as text.
func entriesOf(entries []metav1.ManagedFieldsEntry) []string {
	var out []string
	for _, e := range entries {
		fields := "{}"
		if e.FieldsV1 != nil {
			fields = e.FieldsV1.GetRawString()
		}
		out = append(out, fmt.Sprintf("%s %s %s at %v: %s", e.Manager, e.Operation, e.APIVersion, e.Time, fields))
	}
	return out
}

// saidOf returns what an error says: of conflicts each by itself.
func saidOf(err error) []string {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return []string{err.Error()}
	}
	if status.ErrStatus.Details == nil {
		return []string{status.ErrStatus.Message}
	}
	var out []string
	for _, c := range status.ErrStatus.Details.Causes {
		out = append(out, fmt.Sprintf("%s: %s: %s", c.Type, c.Field, c.Message))
	}
	slices.Sort(out)
	return out
}

// plain returns a deep copy of a JSON value with the numbers that unstructured objects have.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case int:
		return int64(v)
	}
	return v
}

package meta

import (
	"reflect"
	"sync"
)

// Labels returns the labels of obj. It reads them through a method GetLabels() map[string]string, as [ObjectMeta] and the
// types of k8s.io/api have it, and otherwise from the field labels in the field metadata, found by their json tags once
// per type, as [Owners] finds the owners. An object whose type has neither has no labels.
//
// The result may be the object's own memory: treat it as read-only.
func Labels(obj Object) map[string]string {
	switch o := obj.(type) {
	case nil:
		return nil
	case interface{ GetLabels() map[string]string }:
		return o.GetLabels()
	}
	v := reflect.ValueOf(obj)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.Map {
		if !v.CanConvert(reflect.TypeFor[map[string]any]()) {
			return nil
		}
		return (&Unstructured{Object: toMap(v)}).GetLabels()
	}
	way, found := labelWays.Load(v.Type())
	if !found {
		way, _ = labelWays.LoadOrStore(v.Type(), compileLabels(v.Type()))
	}
	labels, ok := follow(v, way.([]int))
	if !ok {
		return nil
	}
	if labels.Kind() == reflect.Pointer {
		if labels.IsNil() {
			return nil
		}
		labels = labels.Elem()
	}
	return labels.Convert(reflect.TypeFor[map[string]string]()).Interface().(map[string]string)
}

// labelWays keeps the way from an object of each type to its labels, which never changes: nil where it has none. What it
// can hold is bounded by the types of the program.
var labelWays sync.Map // reflect.Type -> []int

func compileLabels(t reflect.Type) []int {
	metadata, metadataType := jsonField(t, "metadata")
	if metadata == nil {
		return nil
	}
	way, labels := jsonField(metadataType, "labels")
	if way == nil {
		return nil
	}
	if labels.Kind() == reflect.Pointer {
		labels = labels.Elem()
	}
	if !labels.ConvertibleTo(reflect.TypeFor[map[string]string]()) {
		return nil
	}
	return concat(metadata, way)
}

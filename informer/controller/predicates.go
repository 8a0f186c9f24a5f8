// Predicates of updates, for Changed.

package controller

import (
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// GenerationChanged reports whether metadata.generation differs, for [Changed]. A new generation means a change of the
// desired state, mostly the spec, or a request for deletion: the server increments the generation of an object when its
// deletion begins. A change of labels, annotations, finalizers or status does not count. For an object whose kind has
// no generation, such as a ConfigMap, it is always true.
//
// T must have a method GetGeneration, as the types of k8s.io/api have and every struct that embeds meta.ObjectMeta.
func GenerationChanged[T interface{ GetGeneration() int64 }](old, new T) bool {
	generation := new.GetGeneration()
	return generation == 0 || generation != old.GetGeneration()
}

// LabelsChanged reports whether the labels differ, for [Changed].
//
// T must have a method GetLabels, as every struct that embeds meta.ObjectMeta or meta.LabelMeta has.
func LabelsChanged[T meta.Labelled](old, new T) bool {
	return !maps.Equal(old.GetLabels(), new.GetLabels())
}

// AnnotationsChanged reports whether the annotations differ, for [Changed].
//
// T must have a method GetAnnotations, as every struct that embeds meta.ObjectMeta has.
func AnnotationsChanged[T interface{ GetAnnotations() map[string]string }](old, new T) bool {
	return !maps.Equal(old.GetAnnotations(), new.GetAnnotations())
}

// FinalizersChanged reports whether the finalizers or their order differ, for [Changed].
//
// T must have a method GetFinalizers, as every struct that embeds meta.ObjectMeta or meta.DeletionMeta has.
func FinalizersChanged[T interface{ GetFinalizers() []string }](old, new T) bool {
	return !slices.Equal(old.GetFinalizers(), new.GetFinalizers())
}

// DeletionBegan reports whether deletion has been requested since the old state, for [Changed]. It is false for further
// updates of an object that is being deleted. The disappearance of an object is not an update, and always passes.
//
// T must have a method GetDeletionTimestamp, as every struct that embeds meta.ObjectMeta or meta.DeletionMeta has.
func DeletionBegan[T meta.Deletable[D], D meta.Timestamp](old, new T) bool {
	return meta.IsDeleting(new) && !meta.IsDeleting(old)
}

// VersionChanged reports whether the resource versions differ, for [Changed]. A cache delivers no update of an object
// whose version is the same, except after a server was rolled back to an older state. VersionChanged is true if T does
// not keep the version.
func VersionChanged[T meta.Object](old, new T) bool {
	version := new.GetResourceVersion()
	return version == "" || version != old.GetResourceVersion()
}

// Or returns a predicate that is true if one of matters is. It calls them in order until one is true. Without any, it
// is false; nil functions are left out. Name the type of the objects at least once, so that the compiler can infer it:
//
//	controller.Or(controller.GenerationChanged[*Site], controller.LabelsChanged)
func Or[T any](matters ...func(old, new T) bool) func(old, new T) bool {
	matters = withoutNil(matters)
	return func(old, new T) bool {
		return slices.ContainsFunc(matters, func(f func(old, new T) bool) bool { return f(old, new) })
	}
}

// And returns a predicate that is true if all of matters are. It calls them in order until one is false. Without any,
// it is true; nil functions are left out.
func And[T any](matters ...func(old, new T) bool) func(old, new T) bool {
	matters = withoutNil(matters)
	return func(old, new T) bool {
		return !slices.ContainsFunc(matters, func(f func(old, new T) bool) bool { return !f(old, new) })
	}
}

// Not returns a predicate that is true if matters is false, or nil.
func Not[T any](matters func(old, new T) bool) func(old, new T) bool {
	return func(old, new T) bool { return matters == nil || !matters(old, new) }
}

func withoutNil[T any](matters []func(old, new T) bool) []func(old, new T) bool {
	return slices.DeleteFunc(slices.Clone(matters), func(f func(old, new T) bool) bool { return f == nil })
}

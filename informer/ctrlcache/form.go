package ctrlcache

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Form is how the objects of a kind are held. Each form has its own cache, as in controller-runtime.
type Form int

const (
	// Typed objects have the Go type of the scheme.
	Typed Form = iota
	// Unstructured objects are *unstructured.Unstructured.
	Unstructured
	// Metadata objects are *metav1.PartialObjectMetadata.
	Metadata
)

// String returns one word.
func (f Form) String() string {
	switch f {
	case Typed:
		return "typed"
	case Unstructured:
		return "unstructured"
	case Metadata:
		return "metadata"
	}
	return fmt.Sprintf("Form(%d)", int(f))
}

// kind names what one entry of a cache holds.
type kind struct {
	form Form
	gvk  schema.GroupVersionKind
}

// kindOf returns the kind of an object, or of the objects of a list.
func kindOf(obj runtime.Object, scheme *runtime.Scheme) (kind, error) {
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return kind{}, err
	}
	if _, list := obj.(metav1.ListInterface); list {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	return kind{formOf(obj), gvk}, nil
}

func formOf(obj runtime.Object) Form {
	switch obj.(type) {
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return Metadata
	case runtime.Unstructured:
		return Unstructured
	}
	return Typed
}

// goType returns the Go type of the objects.
func (k kind) goType(scheme *runtime.Scheme) (reflect.Type, error) {
	switch k.form {
	case Unstructured:
		return reflect.TypeFor[*unstructured.Unstructured](), nil
	case Metadata:
		return reflect.TypeFor[*metav1.PartialObjectMetadata](), nil
	}
	obj, err := scheme.New(k.gvk)
	if err != nil {
		return nil, err
	}
	if _, ok := obj.(object); !ok {
		return nil, fmt.Errorf("scheme type %T of %v must implement client.Object", obj, k.gvk)
	}
	return reflect.TypeOf(obj), nil
}

func (k kind) String() string { return k.form.String() + " " + k.gvk.String() }

package ctrlcache

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/codec"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// projection says which members the typed objects of a kind have in the cache.
type projection struct {
	paths         []string // as the user has named them, sorted
	only          *codec.Projection
	managedFields bool // managedFields are among the paths
}

const managedFields = "metadata.managedFields"

// named returns a copy of the paths; nil if the objects are whole.
func (p *projection) named() []string {
	if p == nil {
		return nil
	}
	return slices.Clone(p.paths)
}

// newProjections checks Options.Fields, and makes the projections.
func newProjections(o Options, scheme *runtime.Scheme) (map[schema.GroupVersionKind]*projection, error) {
	all := make(map[schema.GroupVersionKind]*projection, len(o.Fields))
	for obj, paths := range o.Fields {
		gvk, p, err := o.projectionOf(obj, paths, scheme)
		if err == nil && all[gvk] != nil {
			err = errors.New("the kind has two entries")
		}
		if err != nil {
			return nil, fmt.Errorf("ctrlcache.Options: Fields: %s: %w", keyOf(gvk, obj), err)
		}
		all[gvk] = p
	}
	return all, nil
}

// keyOf names an entry of Options.Fields by its kind, if that is known.
func keyOf(gvk schema.GroupVersionKind, obj object) string {
	if gvk.Empty() {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.String()
}

func (o Options) projectionOf(obj object, paths []string, scheme *runtime.Scheme) (gvk schema.GroupVersionKind, p *projection, err error) {
	switch {
	case isNil(obj):
		return gvk, nil, errors.New("the key must not be nil")
	case formOf(obj) != Typed:
		return gvk, nil, errors.New("the key must be of a Go type of the scheme, such as &corev1.Pod{}: " +
			"only typed objects can lack fields")
	}
	if gvk, err = apiutil.GVKForObject(obj, scheme); err != nil {
		return gvk, nil, err
	}
	if len(paths) == 0 {
		return gvk, nil, errors.New("there must be a path; leave out the kind to cache whole objects")
	}
	goType, err := kind{Typed, gvk}.goType(scheme)
	if err != nil {
		return gvk, nil, err
	}
	p = &projection{paths: slices.Sorted(slices.Values(paths))}
	decoded := []string{"metadata"} // managedFields are removed before objects are decoded
	for _, path := range p.paths {
		switch first, _, _ := strings.Cut(path, "."); {
		case path == managedFields && o.StripManagedFields:
			return gvk, nil, fmt.Errorf("%q and StripManagedFields exclude each other", path)
		case path == managedFields && p.managedFields:
			return gvk, nil, fmt.Errorf("%q is named twice", path)
		case path == managedFields:
			p.managedFields = true
		case first == "metadata", first == "kind", first == "apiVersion":
			return gvk, nil, fmt.Errorf("%q must not be named: kind, apiVersion and metadata are always there, except %s", path, managedFields)
		default:
			decoded = append(decoded, path)
		}
	}
	p.only, err = codec.Project(goType, decoded)
	return gvk, p, err
}

package ctrlcache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// Get reads an object from the cache, and copies it, unless an option says otherwise.
func (c *caches) Get(ctx context.Context, key crclient.ObjectKey, out object, opts ...crclient.GetOption) error {
	unknown := func() error { return fmt.Errorf("unable to get: %v because of unknown namespace for the cache", key) }
	e, err := c.readable(ctx, out, func(k kind) error { return c.hasNamespace(k, key.Namespace, unknown) }, nil)
	if err != nil {
		return err
	}
	if !e.namespaced {
		key.Namespace = ""
	}
	p := e.partOf(key.Namespace)
	if p == nil {
		return unknown()
	}
	obj, found := p.Reader().Get(meta.Key{Namespace: key.Namespace, Name: key.Name})
	if !found {
		return kerrors.NewNotFound(schema.GroupResource{Group: e.gvk.Group, Resource: e.gvk.Kind}, key.Name)
	}
	var o crclient.GetOptions
	o.ApplyOptions(opts)
	shared := e.isShared(key.Namespace) || o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
	if !shared && c.own.Compact == nil { // a compact cache returns a new object for each read
		obj = obj.DeepCopyObject().(object)
	}
	from, to := reflect.ValueOf(obj), reflect.ValueOf(out)
	if !from.Type().AssignableTo(to.Type()) {
		return fmt.Errorf("cache had type %s, but %s was asked for", from.Type(), to.Type())
	}
	to.Elem().Set(from.Elem())
	if !shared {
		out.GetObjectKind().SetGroupVersionKind(e.gvk)
	}
	return nil
}

// List reads objects from the cache, in no particular order, and copies them, unless an option says otherwise.
func (c *caches) List(ctx context.Context, out crclient.ObjectList, opts ...crclient.ListOption) error {
	var o crclient.ListOptions
	o.ApplyOptions(opts)
	unknown := func() error {
		return fmt.Errorf("unable to list: %v because of unknown namespace for the cache", o.Namespace)
	}
	continued := func() error {
		if o.Continue != "" {
			return errors.New("continue list option is not supported by the cache")
		}
		return nil
	}
	e, err := c.readable(ctx, out, func(k kind) error {
		if err := continued(); err != nil || o.Namespace == "" {
			return err
		}
		return c.hasNamespace(k, o.Namespace, unknown)
	}, continued)
	if err != nil {
		return err
	}
	parts := e.parts
	if o.Namespace != "" && e.namespaced {
		p := e.partOf(o.Namespace)
		if p == nil {
			return unknown()
		}
		parts = []*part{p}
	}
	var all []runtime.Object
	for _, p := range parts {
		objs, n, err := p.selected(&o)
		if err != nil {
			return err
		}
		if n = min(n, limited64(o.Limit)-len(all)); o.LabelSelector == nil {
			all = slices.Grow(all, n)
		}
		for obj := range objs {
			if o.Limit > 0 && int64(len(all)) >= o.Limit {
				break
			}
			if o.LabelSelector == nil || o.LabelSelector.Matches(labelsOf(obj)) {
				all = append(all, e.handed(obj, &o, c.own.Compact != nil))
			}
		}
	}
	if err := apimeta.SetList(out, all); err != nil {
		return err
	}
	out.SetContinue("continue-not-supported")
	return nil
}

// limited64 returns a limit as an int to count with.
func limited64(limit int64) int {
	if limit <= 0 {
		return int(^uint(0) >> 1)
	}
	return int(limit)
}

// labelSet is a labels.Labels that reads the map that GetLabels has returned, without another copy.
type labelSet map[string]string

func (s labelSet) Has(label string) bool              { _, ok := s[label]; return ok }
func (s labelSet) Get(label string) string            { return s[label] }
func (s labelSet) Lookup(label string) (string, bool) { v, ok := s[label]; return v, ok }

func labelsOf(obj object) labelSet { return obj.GetLabels() }

// handed returns an object in the form in which List passes it to its caller. fresh says that no other code has the
// object.
func (e *entry) handed(obj object, o *crclient.ListOptions, fresh bool) runtime.Object {
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy || e.isShared(obj.GetNamespace()) {
		return obj
	}
	handed := runtime.Object(obj)
	if !fresh {
		handed = obj.DeepCopyObject()
	}
	handed.GetObjectKind().SetGroupVersionKind(e.gvk)
	return handed
}

// selected returns the objects of the namespace and with the fields that the options ask for, and for how many objects
// List should make room.
func (p *part) selected(o *crclient.ListOptions) (iter.Seq[object], int, error) {
	r := p.Reader()
	switch {
	case o.FieldSelector != nil:
		return p.withFields(o.FieldSelector, o.Namespace)
	case o.Namespace != "":
		return r.Namespace(o.Namespace), 0, nil
	}
	return r.All(), r.Len(), nil
}

// withFields returns the objects with the values that a field selector asks for. It starts with the index entry that
// has the fewest objects.
func (p *part) withFields(selector fields.Selector, namespace string) (iter.Seq[object], int, error) {
	var (
		objs   iter.Seq[object]
		fewest int
	)
	requirements := selector.Requirements()
	if len(requirements) == 0 || slices.ContainsFunc(requirements, func(r fields.Requirement) bool { return !isExact(r.Operator) }) {
		return nil, 0, errors.New("non-exact field matches are not supported by the cache")
	}
	type condition struct {
		f     toolscache.IndexFunc
		value string
	}
	rest := make([]condition, 0, len(requirements))
	for i, r := range requirements {
		name, value := indexName(r.Field), indexValue(namespace, r.Value)
		ix, f, err := p.indexer.index(name)
		switch {
		case err != nil:
			return nil, 0, err
		case i == 0 || ix.Len(value) < fewest:
			objs, fewest = ix.Get(value), ix.Len(value)
		}
		rest = append(rest, condition{f, value})
	}
	if len(rest) == 1 {
		return objs, fewest, nil
	}
	return func(yield func(object) bool) {
		for obj := range objs {
			if !slices.ContainsFunc(rest, func(c condition) bool { return !slices.Contains(valuesOf("", c.f, obj), c.value) }) && !yield(obj) {
				return
			}
		}
	}, fewest, nil
}

func isExact(op selection.Operator) bool {
	return op == selection.Equals || op == selection.DoubleEquals
}

// readable returns the complete entry of the kind and form of an object or a list. The functions first and last check
// the call; last may be nil. If several things are wrong, readable returns the error that controller-runtime would:
// it calls first before it looks for the informer, if the kind has configured namespaces, and last afterwards.
func (c *caches) readable(ctx context.Context, obj runtime.Object, first func(kind) error, last func() error) (*entry, error) {
	k, err := kindOf(obj, c.scheme)
	if err != nil {
		return nil, err
	}
	if c.hasNamespaces(k.gvk) {
		if err := first(k); err != nil {
			return nil, err
		}
	}
	if c.opts.ReaderFailOnMissingInformer {
		if e, _ := c.find(k); e == nil {
			return nil, &cache.ErrResourceNotCached{GVK: k.gvk}
		}
	}
	e, started, err := c.entryOf(ctx, k, obj, true)
	switch {
	case err != nil:
		return nil, err
	case !started:
		return nil, &cache.ErrCacheNotStarted{}
	case last != nil:
		if err := last(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// hasNamespace returns an error if a kind is namespaced, and this namespace of it is not cached.
func (c *caches) hasNamespace(k kind, namespace string, unknown func() error) error {
	e, _ := c.find(k)
	namespaced := e != nil && e.namespaced
	if e == nil {
		mapping, err := c.mapper.RESTMapping(k.gvk.GroupKind(), k.gvk.Version)
		if err != nil {
			return err
		}
		namespaced = mapping.Scope.Name() == apimeta.RESTScopeNameNamespace
	}
	configs := c.configs(k.gvk, namespaced)
	_, named := configs[namespace]
	if _, all := configs[""]; all || named {
		return nil
	}
	return unknown()
}

// IndexField makes an index of a field, for the field selectors of List. It may be called while the cache runs.
func (c *caches) IndexField(ctx context.Context, obj object, field string, extract crclient.IndexerFunc) error {
	informer, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	return informer.AddIndexers(toolscache.Indexers{indexName(field): func(obj any) ([]string, error) {
		o, ok := obj.(object)
		if !ok {
			return nil, fmt.Errorf("object of type %T is not an Object", obj)
		}
		ns, raw := o.GetNamespace(), extract(o)
		values := make([]string, 0, 2*len(raw))
		for _, value := range raw {
			if values = append(values, indexValue(ns, value)); ns != metav1.NamespaceNone {
				values = append(values, indexValue("", value))
			}
		}
		return values, nil
	}})
}

// indexName and indexValue give an index of a field the name and the values that controller-runtime uses, for programs
// that read the index through the informer.
func indexName(field string) string { return "field:" + field }

func indexValue(namespace, value string) string {
	if namespace == "" {
		namespace = "__all_namespaces"
	}
	return namespace + "/" + value
}

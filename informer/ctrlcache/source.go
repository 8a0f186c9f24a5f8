package ctrlcache

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/packed"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// object is the type parameter of the informers in this package: the Go types of a scheme are known only at run time.
type object = crclient.Object

// source lists and watches one kind, each namespace with its own selectors and transform.
type source struct {
	informer.Source[object]
	configs map[string]crcache.Config
	typed   bool // the objects have no apiVersion and kind, like those that client-go decodes
}

// Inside implements handle.Carrier. The objects share parts, and carry their texts, unless a transform may change them.
func (s *source) Inside() handle.Source {
	in := handle.Of(s.Source)
	share, pack := in.Sharing, in.Packing
	in.Sharing, in.Packing = nil, nil
	in.Clone = func(obj object) object { return obj.DeepCopyObject().(object) }
	if unpack, ok := in.Unpacking().(func(packed.Text) (object, error)); ok {
		in.Unpacking = func() any {
			return func(text packed.Text) (object, error) {
				obj, err := unpack(text)
				if err != nil {
					return nil, err
				}
				return s.bare(obj), nil
			}
		}
	}
	for _, c := range s.configs {
		if c.Transform != nil {
			return in
		}
	}
	with := func(inner any) *source {
		changed := *s
		changed.Source = inner.(informer.Source[object])
		return &changed
	}
	in.Sharing = func() any { return with(share()) }
	in.Packing = func(by packed.Packer) any { return with(pack(by)) }
	return in
}

func (s *source) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (object, bool), fn func(client.Item[object]) error,
) (meta.ListMeta, error) {
	c := s.configs[o.Namespace]
	o.LabelSelector, o.FieldSelector = selectors(c)
	return s.Source.ListEach(ctx, o, reuse, func(item client.Item[object]) error {
		if item.Err == nil && !item.Reused {
			item.Object, item.Err = transformed(c.Transform, item.Identity, s.bare(item.Object))
		}
		return fn(item)
	})
}

func (s *source) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (object, bool), fn func(client.Event[object]) error,
) error {
	c := s.configs[o.Namespace]
	o.LabelSelector, o.FieldSelector = selectors(c)
	if c.EnableWatchBookmarks != nil && !*c.EnableWatchBookmarks {
		o.Bookmarks = false // a streaming list needs bookmarks, so streaming lists are not used then
	}
	return s.Source.WatchEach(ctx, o, reuse, func(e client.Event[object]) error {
		if e.Err == nil && !e.Reused && e.Type != client.Bookmark && e.Object != nil {
			if e.Object, e.Err = transformed(c.Transform, e.Identity, s.bare(e.Object)); e.Err == nil && e.Type == client.Deleted {
				// The new event has no packed text, because unpacking it would not return a *deleted.
				e = client.Event[object]{Type: e.Type, Identity: e.Identity, Object: &deleted{e.Object}}
			}
		}
		return fn(e)
	})
}

// bare removes apiVersion and kind from a typed object.
func (s *source) bare(obj object) object {
	if s.typed {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return obj
}

// deleted is the final state of an object, as a watch has reported it. Handlers get a tombstone instead of any other
// state.
type deleted struct{ object }

func selectors(c crcache.Config) (labels, fields string) {
	if c.LabelSelector != nil {
		labels = c.LabelSelector.String()
	}
	if c.FieldSelector != nil {
		fields = c.FieldSelector.String()
	}
	return labels, fields
}

// transformed calls a user's transform. If that fails, the object counts as one that does not decode.
func transformed[T meta.Object](f cache.TransformFunc, id meta.Identity, decoded T) (obj T, err error) {
	if f == nil {
		return decoded, nil
	}
	var none T
	defer func() {
		if v := recover(); v != nil {
			obj, err = none, &client.DecodeError{Identity: id, Err: fmt.Errorf("transform panicked: %v", v)}
		}
	}()
	out, err := f(decoded)
	if err != nil {
		return none, &client.DecodeError{Identity: id, Err: fmt.Errorf("transform: %w", err)}
	}
	obj, ok := out.(T)
	if !ok || isNil(obj) {
		err = fmt.Errorf("transform returned %T, want an object of the type that the cache holds", out)
		return none, &client.DecodeError{Identity: id, Err: err}
	}
	return obj, nil
}

// isNil reports whether there is no object.
func isNil(obj any) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil()
}

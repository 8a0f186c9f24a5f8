package informer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/packed"
)

// Transform returns a source that applies f to the objects of src; an informer then caches the results. Use f to drop
// unneeded data, or to share data that many objects have in common. Leaving a field out of T is cheaper than dropping
// it here, because it is then never decoded.
//
// f is called once for each decoded object, deleted ones included, before any other code sees it. It is not called for
// an object that a relist finds unchanged, because that object is not decoded. f may change its argument and return it.
// So the objects of a cache with a Transform do not share equal parts, as those of other caches do (package informer).
// It may blank any field, metadata included: the informer identifies objects by the server's identity, not by their
// fields. For each watch, one goroutine at a time calls f; an informer of several namespaces has a watch for each.
//
// A panic of f, or a nil result, counts as an object that does not decode: a *client.DecodeError for that object alone.
//
// The result is comparable, as [Share] requires: it is equal to itself only.
func Transform[T meta.Object](src Source[T], f func(T) T) Source[T] {
	return &changed[T]{Source: src, name: "transform", change: func(obj T) (T, bool) { return f(obj), true }}
}

// Filter returns a source of those objects of src for which keep returns true. Prefer a selector of the API if one can
// express the condition, because the server then does not send the other objects at all.
//
// If an object changes so that keep returns false, it leaves the cache. Handlers receive OnDelete with the new state,
// which the cache never held. keep must depend on the object alone and must not change it, because keep is not called
// again for an object that a relist finds unchanged. Otherwise the rules for the function of [Transform] apply. The two
// can be combined: the outermost wrapper is called last.
func Filter[T meta.Object](src Source[T], keep func(T) bool) Source[T] {
	return &changed[T]{Source: src, name: "filter", filters: true, change: func(obj T) (T, bool) { return obj, keep(obj) }}
}

// changed is a source that changes or leaves out objects.
type changed[T meta.Object] struct {
	Source[T]
	name    string
	filters bool // change may leave out objects
	change  func(T) (obj T, keep bool)
}

// Inside implements handle.Carrier.
func (c *changed[T]) Inside() handle.Source {
	in := handle.Of(c.Source)
	in.Filtered = in.Filtered || c.filters
	packing := in.Packing
	in.Sharing, in.Packing = nil, nil
	if c.filters { // a filter does not change objects; a transform may
		if packing != nil {
			in.Packing = func(by packed.Packer) any {
				packs := *c
				packs.Source = packingSource(c.Source, by)
				return &packs
			}
		}
		in.Sharing = func() any {
			shared := *c
			shared.Source = sharingParts(c.Source)
			return &shared
		}
	}
	return in
}

func (c *changed[T]) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
) (meta.ListMeta, error) {
	return c.Source.ListEach(ctx, o, reuse, func(item client.Item[T]) error {
		if item.Err == nil && !item.Reused {
			var keep bool
			if item.Object, keep, item.Err = c.apply(item.Identity, item.Object); !keep {
				// The item is passed on as a sign that the server is alive. It is marked as reused, but the relist has
				// not kept its object, so the object does not enter the cache.
				item = client.Item[T]{Identity: item.Identity, Reused: true}
			}
		}
		return fn(item)
	})
}

func (c *changed[T]) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	return c.Source.WatchEach(ctx, o, reuse, func(e client.Event[T]) error {
		if e.Err == nil && !e.Reused && e.Type != client.Bookmark && !isNil(e.Object) {
			var keep bool
			if e.Object, keep, e.Err = c.apply(e.Identity, e.Object); !keep {
				e.Type = client.Deleted // handlers receive it only if the cache had the object
			}
		}
		return fn(e)
	})
}

// apply calls change. If change fails, the error is a *client.DecodeError, and keep is true: the object exists,
// although it cannot be shown.
func (c *changed[T]) apply(id meta.Identity, decoded T) (obj T, keep bool, err error) {
	var none T
	defer func() {
		switch value := recover(); v := value.(type) {
		case nil:
		case error:
			obj, keep, err = none, true, &client.DecodeError{Identity: id, Err: fmt.Errorf("%s panicked: %w", c.name, v)}
		default:
			obj, keep, err = none, true, &client.DecodeError{Identity: id, Err: fmt.Errorf("%s panicked: %v", c.name, v)}
		}
	}()
	if obj, keep = c.change(decoded); keep && isNil(obj) {
		return none, true, &client.DecodeError{Identity: id, Err: fmt.Errorf("%s returned nil", c.name)}
	}
	return obj, keep, nil
}

// isNil reports whether there is no object: whether obj is the zero value of T, which is a pointer or a map type.
func isNil[T any](obj T) bool { return reflect.ValueOf(&obj).Elem().IsZero() }

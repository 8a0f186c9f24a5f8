package informer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
)

// Transform returns a source of what f makes of the objects of src, which an informer then caches instead: f drops what is
// not needed, or shares what many objects have in common. What T does not name is never decoded, which is cheaper than to
// drop it here.
//
// f is called once for each object that has been decoded, deleted ones included, and before anybody else sees it; an object
// that a relist finds unchanged is not decoded, and f is not called for it. f may change its argument and return it. It may
// blank any field, metadata included: the informer knows objects by what the server calls them, not by what they say. It is
// called by one goroutine at a time for each namespace that is watched by itself.
//
// A panic of f, or a nil result, counts as an object that does not decode: a *client.DecodeError of that object alone.
//
// The result can be compared, as [Share] does: it is equal to itself only.
func Transform[T meta.Object](src Source[T], f func(T) T) Source[T] {
	return &changed[T]{Source: src, name: "transform", change: func(obj T) (T, bool) { return f(obj), true }}
}

// Filter returns a source of those objects of src for which keep returns true. A selector of the API is better where there is
// one for this, because the server then does not send the others at all.
//
// An object that changes so that it is not kept any more leaves the cache, and handlers are told of that by OnDelete, with
// the state that was not kept. keep must depend on the object alone, and must not change it: an object that a relist finds
// unchanged is not asked about again. In all else it is as with the function of [Transform]; the two can be combined, and
// what is wrapped last is called last.
func Filter[T meta.Object](src Source[T], keep func(T) bool) Source[T] {
	return &changed[T]{Source: src, name: "filter", change: func(obj T) (T, bool) { return obj, keep(obj) }}
}

// changed is a source whose objects are changed, or left out.
type changed[T meta.Object] struct {
	Source[T]
	name   string
	change func(T) (obj T, keep bool)
}

// Inside implements inside.Carrier.
func (c *changed[T]) Inside() inside.Source { return inside.Of(c.Source) }

func (c *changed[T]) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
) (meta.ListMeta, error) {
	return c.Source.ListEach(ctx, o, reuse, func(item client.Item[T]) error {
		if item.Err == nil && !item.Reused {
			var keep bool
			if item.Object, keep, item.Err = c.apply(item.Identity, item.Object); !keep {
				// It is handed on all the same, as a sign that the server is alive. Nobody has kept it for this list, so it
				// is not on it.
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
				e.Type = client.Deleted // nobody is told of that who does not have the object
			}
		}
		return fn(e)
	})
}

// apply calls change. Where that fails the error is a *client.DecodeError, and keep is true: the object is there, even if
// nobody can say how it looks.
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

// isNil reports whether there is no object.
func isNil[T any](obj T) bool {
	switch v := reflect.ValueOf(&obj).Elem(); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Slice:
		return v.IsNil()
	default:
		return false
	}
}

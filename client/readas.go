package client

import (
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/inside"
)

// A program that is told its Go types while it runs, such as by a scheme, has no T to write down. T is then an interface, and the
// Go type a value.

// ReadAs returns a handle whose objects are values of the Go type objects, a pointer that implements the interface T. metadata
// asks for metadata only, as [Metadata] does. If only is set, it is a projection of objects, and all members that it does not have
// stay zero. The handle is for ListEach and WatchEach of an informer. Only packages of this module can call it. ReadAs does not refuse a
// Go type with fields that have no names in their json tags: the handle does not write, and the types are those of a scheme.
func ReadAs[T meta.Object](
	c *Client, t Type[T], objects reflect.Type, only *codec.Projection, metadata bool, _ inside.Retyping,
) Resource[T] {
	r := Resource[T]{
		c: c, t: t, err: t.validate(), partial: metadata, objects: objects, only: only, note: noteOf(c, objects, t.GVR(), only),
	}
	switch want := reflect.TypeFor[T](); {
	case r.err != nil:
	case want.Kind() != reflect.Interface || objects.Kind() != reflect.Pointer || !objects.Implements(want):
		r.err = fmt.Errorf("client.ReadAs: the Go type must be a pointer that implements %v, got %v", want, objects)
	case only != nil && (metadata || only.Type() != objects):
		r.err = fmt.Errorf("client.ReadAs: the projection must be of whole objects of the type %v, got one of %v", objects, only.Type())
	case c != nil:
		r.err = r.note.misplaced
	}
	return r
}

package client

import (
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
)

// A program that is told its Go types while it runs, such as by a scheme, has no T to write down. T is then an interface, and the
// Go type a value.

// ReadAs returns a handle whose objects are values of the Go type objects, a pointer that implements the interface T. metadata
// asks for metadata only, as [Metadata] does. The handle is for ListEach and WatchEach of an informer. Only packages of this
// module can call it.
func ReadAs[T meta.Object](c *Client, t Type[T], objects reflect.Type, metadata bool, _ inside.Retyping) Resource[T] {
	r := Resource[T]{c: c, t: t, err: t.validate(), partial: metadata, objects: objects, note: noteOf(c, objects, t.GVR())}
	switch want := reflect.TypeFor[T](); {
	case r.err != nil:
	case want.Kind() != reflect.Interface || objects.Kind() != reflect.Pointer || !objects.Implements(want):
		r.err = fmt.Errorf("client.ReadAs: the Go type must be a pointer that implements %v, got %v", want, objects)
	case c != nil:
		r.err = r.note.misplaced
	}
	return r
}

package client

import (
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/internal/codec"
)

// readAs is handle.Source.ReadAs. From r it keeps only the client and the resource.
func (r resource) readAs(objects reflect.Type, only *codec.Projection, metadata bool) resource {
	as := resource{
		c: r.c, t: r.t, typ: r.typ, err: validateType(r.t), partial: metadata, objects: objects, only: only, note: noteOf(r.c, objects, r.t.GVR(), only),
	}
	switch want := r.typ; {
	case as.err != nil:
	case want.Kind() != reflect.Interface || objects.Kind() != reflect.Pointer || !objects.Implements(want):
		as.err = fmt.Errorf("the Go type must be a pointer that implements %v, got %v", want, objects)
	case only != nil && (metadata || only.Type() != objects):
		as.err = fmt.Errorf("the projection must be of whole objects of the type %v, got one of %v", objects, only.Type())
	case r.c != nil:
		as.err = as.note.misplaced
	}
	return as
}

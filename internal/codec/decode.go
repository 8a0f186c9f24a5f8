package codec

import (
	"cmp"
	"reflect"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Unmarshal decodes a JSON document into a new T, which is a pointer or a map type. It does not keep raw.
//
// Errors are [*Error] and name the place and the Go type. T is then its zero value.
func Unmarshal[T any](raw []byte) (v T, err error) {
	decoded, err := unmarshal(reflect.TypeFor[T](), raw, typeMeta{}, Options{})
	v, _ = decoded.(T) // nil if there is an error
	return v, err
}

// Options configure how an item from the wire is decoded. The zero value is valid.
type Options struct {
	// APIVersion and Kind are those of an item that does not name its own, like the items of most lists. The object
	// gets them if its type can hold them: by its method SetTypeMeta(apiVersion, kind string) if it has one, otherwise
	// by the members of those names. If both are empty, it gets nothing.
	APIVersion, Kind string
	// Lossy may be nil. Otherwise Decode sets it if the item has a member for which the type has no place, so that
	// [Marshal] of the object would lose it. Some members do not count: null, kind, apiVersion, and those members of
	// metadata that a write cannot change. A type that decodes by its own methods is assumed to keep everything that
	// they get. Lossy may be set without a loss; [Lost] is exact. If Lossy is nil or set already, Decode does not look
	// for such members.
	Lossy *atomic.Bool
	// Parts makes the object share parts with others; nil makes it share nothing.
	Parts *Parts
}

// typed returns the kind and the apiVersion that an item must be given; both are empty if there is nothing to give.
func (o Options) typed(item jsonstream.Item) typeMeta {
	if item.APIVersion != "" && item.Kind != "" || o.APIVersion == "" && o.Kind == "" {
		return typeMeta{}
	}
	return typeMeta{apiVersion: cmp.Or(item.APIVersion, o.APIVersion), kind: cmp.Or(item.Kind, o.Kind)}
}

// Decode decodes an item from the wire into a new value of t, which is a pointer or a map type. Errors are [*Error], as
// from [Unmarshal].
func Decode(t reflect.Type, item jsonstream.Item, o Options) (any, error) {
	typed := o.typed(item)
	if typed.isEmpty() {
		return unmarshal(t, item.Raw, typed, o)
	}
	if _, ok := reflect.Zero(t).Interface().(interface{ SetTypeMeta(apiVersion, kind string) }); !ok {
		return unmarshal(t, item.Raw, typed, o)
	}
	v, err := unmarshal(t, item.Raw, typeMeta{}, o)
	if err == nil {
		v.(interface{ SetTypeMeta(apiVersion, kind string) }).SetTypeMeta(typed.apiVersion, typed.kind)
	}
	return v, err
}

// DecodeType is [Decode] for a Go type that the program learns at run time, a pointer. If the type has its own
// UnmarshalJSON, and the item does not name its apiVersion or kind, the text that the method gets begins with them.
// DecodeType leaves Lossy alone.
func DecodeType(t reflect.Type, item jsonstream.Item, o Options) (any, error) {
	typed := o.typed(item)
	if typed.isEmpty() {
		return decodePointer(t, item.Raw, request{parts: o.Parts})
	}
	if p := plans.of(t); p.shape == shapePointer && p.elem.shape == shapeStruct {
		return decodePointer(t, item.Raw, request{typed: typed, parts: o.Parts})
	}
	return decodePointer(t, typed.before(item.Raw), request{parts: o.Parts})
}

// unmarshal decodes raw into a new value of t, which gets the kind and the apiVersion first, unless both are empty.
func unmarshal(t reflect.Type, raw []byte, typed typeMeta, o Options) (any, error) {
	v, lost, err := decode(t, raw, request{typed: typed, look: o.Lossy != nil && !o.Lossy.Load(), parts: o.Parts})
	if lost && err == nil {
		o.Lossy.Store(true)
	}
	return v, err
}

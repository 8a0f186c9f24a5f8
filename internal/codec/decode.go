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
func Unmarshal[T any](raw []byte) (T, error) { return unmarshal[T](raw, typeMeta{}, nil) }

// Decode decodes an item from the wire. If the item does not name its apiVersion or kind, like the items of most lists,
// it gets the given ones, if T can hold them: by its method SetTypeMeta(apiVersion, kind string) if it has one,
// otherwise by the members of those names. If both are empty, it gets nothing.
//
// Errors are [*Error], as from [Unmarshal].
//
// Decode sets lossy, unless it is nil, if the item has a member for which T has no place, so that [Marshal] of the T
// would lose it. Members of metadata that a server keeps whatever is written do not count, nor do kind, apiVersion and
// null. A type that decodes by its own methods is assumed to keep everything that they get. lossy may be set without a
// loss; [Lost] is exact. If lossy is set already, or nil, Decode looks for nothing.
func Decode[T any](item jsonstream.Item, apiVersion, kind string, lossy *atomic.Bool) (T, error) {
	var zero T
	if item.APIVersion != "" && item.Kind != "" || apiVersion == "" && kind == "" {
		return unmarshal[T](item.Raw, typeMeta{}, lossy)
	}
	typed := typeMeta{apiVersion: cmp.Or(item.APIVersion, apiVersion), kind: cmp.Or(item.Kind, kind)}
	if _, ok := any(zero).(interface{ SetTypeMeta(apiVersion, kind string) }); !ok {
		return unmarshal[T](item.Raw, typed, lossy)
	}
	v, err := unmarshal[T](item.Raw, typeMeta{}, lossy)
	if err == nil {
		any(v).(interface{ SetTypeMeta(apiVersion, kind string) }).SetTypeMeta(typed.apiVersion, typed.kind)
	}
	return v, err
}

// DecodeType is [Decode] for a Go type that is known only at run time, a pointer. If the type has its own
// UnmarshalJSON, and the item does not name its apiVersion or kind, the text that the method gets begins with them.
func DecodeType(t reflect.Type, item jsonstream.Item, apiVersion, kind string) (any, error) {
	if item.APIVersion != "" && item.Kind != "" || apiVersion == "" && kind == "" {
		return decodeType(t, item.Raw, request{})
	}
	typed := typeMeta{apiVersion: cmp.Or(item.APIVersion, apiVersion), kind: cmp.Or(item.Kind, kind)}
	if p := plans.of(t); p.shape == shapePointer && p.elem.shape == shapeStruct {
		return decodeType(t, item.Raw, request{typed: typed})
	}
	return decodeType(t, typed.before(item.Raw), request{})
}

// unmarshal decodes raw into a T, which gets the kind and the apiVersion first, unless both are empty.
func unmarshal[T any](raw []byte, typed typeMeta, lossy *atomic.Bool) (T, error) {
	v, lost, err := decode[T](raw, request{typed: typed, look: lossy != nil && !lossy.Load()})
	if lost && err == nil {
		lossy.Store(true)
	}
	return v, err
}

package codec

import (
	"cmp"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Unmarshal decodes a JSON document into a new T, which is a pointer or a map type. It keeps nothing of raw.
//
// Errors are [*Error] and say where and into which Go type. T is then its zero value.
func Unmarshal[T any](raw []byte) (T, error) { return unmarshal[T](raw, typeMeta{}, nil) }

// Decode decodes an item as it came from the wire. Where the item does not say its apiVersion or kind, as the items of
// most lists, it gets the ones that are passed, if T can hold them: by its method SetTypeMeta(apiVersion, kind string) if
// it has one, otherwise by the members of those names. If both are passed empty, it gets nothing.
//
// Errors are [*Error], as from [Unmarshal].
func Decode[T any](item jsonstream.Item, apiVersion, kind string) (T, error) {
	return DecodeNoting[T](item, apiVersion, kind, nil)
}

// DecodeNoting is Decode, which sets lossy when the item has a member that T has no place for, so that it would not be in what
// [Marshal] makes of the T. What a server keeps in metadata whatever is written does not count, nor do kind, apiVersion and null;
// a type with methods of its own is taken to keep all of its part. lossy may be set on suspicion: [Lost] is exact. While it is
// set nothing is looked for; nil is as if it were.
func DecodeNoting[T any](item jsonstream.Item, apiVersion, kind string, lossy *atomic.Bool) (T, error) {
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

// unmarshal decodes raw into a T that has the kind and the apiVersion already, unless both are empty.
func unmarshal[T any](raw []byte, typed typeMeta, lossy *atomic.Bool) (T, error) {
	v, lost, err := decode[T](raw, request{typed: typed, look: lossy != nil && !lossy.Load()})
	if lost && err == nil {
		lossy.Store(true)
	}
	return v, err
}

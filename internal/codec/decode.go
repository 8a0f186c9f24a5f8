package codec

import (
	"cmp"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Unmarshal decodes a JSON document into a new T, which is a pointer or a map type. It keeps nothing of raw.
//
// Errors are [*Error] and say where and into which Go type. T is then its zero value.
func Unmarshal[T any](raw []byte) (T, error) { return unmarshal[T](raw, "", "", nil) }

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
		return unmarshal[T](item.Raw, "", "", lossy)
	}
	apiVersion, kind = cmp.Or(item.APIVersion, apiVersion), cmp.Or(item.Kind, kind)
	switch any(zero).(type) {
	case interface{ SetTypeMeta(apiVersion, kind string) }:
		v, err := unmarshal[T](item.Raw, "", "", lossy)
		if err == nil {
			any(v).(interface{ SetTypeMeta(apiVersion, kind string) }).SetTypeMeta(apiVersion, kind)
		}
		return v, err
	case json.Unmarshaler, json.UnmarshalerFrom:
		// Its method need not be prepared for being called twice.
		return unmarshal[T](item.Raw, "", "", lossy)
	}
	return unmarshal[T](item.Raw, apiVersion, kind, lossy)
}

// unmarshal decodes raw into a T that has the kind and the apiVersion already, unless both are empty.
func unmarshal[T any](raw []byte, apiVersion, kind string, lossy *atomic.Bool) (T, error) {
	look := lossy != nil && !lossy.Load()
	v, lost, ok := decodeFast[T](raw, apiVersion, kind, look)
	if ok {
		if lost {
			lossy.Store(true)
		}
		return v, nil
	}
	if look {
		if v, err := unmarshalByLibrary[T](raw, apiVersion, kind, true); err == nil {
			return v, nil
		}
	}
	v, err := unmarshalByLibrary[T](raw, apiVersion, kind, false)
	if err == nil && look {
		lossy.Store(true)
	}
	return v, err
}

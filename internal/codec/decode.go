package codec

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Unmarshal decodes a JSON document into a new T, which is a pointer or a map type. It keeps nothing of raw.
//
// Errors are [*Error] and say where and into which Go type. T is then its zero value.
func Unmarshal[T any](raw []byte) (T, error) { return unmarshal[T](raw, "", "") }

// Decode decodes an item as it came from the wire. Where the item does not say its apiVersion or kind, as the items of
// most lists, it gets the ones that are passed, if T can hold them: by its method SetTypeMeta(apiVersion, kind string) if
// it has one, otherwise by the members of those names. If both are passed empty, it gets nothing.
//
// Errors are [*Error], as from [Unmarshal].
func Decode[T any](item jsonstream.Item, apiVersion, kind string) (T, error) {
	var zero T
	if item.APIVersion != "" && item.Kind != "" || apiVersion == "" && kind == "" {
		return Unmarshal[T](item.Raw)
	}
	apiVersion, kind = cmp.Or(item.APIVersion, apiVersion), cmp.Or(item.Kind, kind)
	switch any(zero).(type) {
	case interface{ SetTypeMeta(apiVersion, kind string) }:
		v, err := Unmarshal[T](item.Raw)
		if err == nil {
			any(v).(interface{ SetTypeMeta(apiVersion, kind string) }).SetTypeMeta(apiVersion, kind)
		}
		return v, err
	case json.Unmarshaler, json.UnmarshalerFrom:
		// Its method need not be prepared for being called twice.
		return Unmarshal[T](item.Raw)
	}
	return unmarshal[T](item.Raw, apiVersion, kind)
}

// unmarshal decodes raw into a T that has the kind and the apiVersion already, unless both are empty.
func unmarshal[T any](raw []byte, apiVersion, kind string) (T, error) {
	if v, ok := decodeFast[T](raw, apiVersion, kind); ok {
		return v, nil
	}
	return unmarshalByLibrary[T](raw, apiVersion, kind)
}

package codec

import "reflect"

// DecodeFast is the first of the two ways to decode. It reports false where it leaves a document to the second.
func DecodeFast[T any](raw []byte, apiVersion, kind string) (T, bool) {
	v, _, ok := decodeFast[T](raw, apiVersion, kind, false)
	return v, ok
}

// DecodeByLibrary is the second way.
func DecodeByLibrary[T any](raw []byte, apiVersion, kind string) (T, error) {
	return unmarshalByLibrary[T](raw, apiVersion, kind, false)
}

// IsFast reports whether there is a fast way for any document at all.
func IsFast(t reflect.Type) bool {
	p := plans.of(t)
	for p.shape == shapePointer {
		p = p.elem
	}
	return p.shape != shapeOther
}

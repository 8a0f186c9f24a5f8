package client

import (
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
)

// decodeInto decodes an object with decode. If decode panics, that is the object's error: it may run on a goroutine of the
// client's, which would take the process with it, and one object must not cost the others. obj and err are set even if
// decode leaves by runtime.Goexit, which nothing can hold up.
func decodeInto[T any](obj *T, err *error, raw jsonstream.Item, decode func(jsonstream.Item) (T, error)) {
	returned := false
	defer func() {
		if !returned {
			var none T
			*obj, *err = none, &DecodeError{Identity: raw.Identity, Err: shown.Panic("decoding", recover())}
		}
	}()
	*obj, *err = decode(raw)
	returned = true
}

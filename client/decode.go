package client

import (
	"runtime"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
)

// maxDecoders bounds how many goroutines a client decodes on, besides the goroutines that called it. More would wait for
// the one that frames.
const maxDecoders = 4

// decoders counts the goroutines that decode for a client at the moment. They are started for the batches that there are
// and end with them, so that a client at rest has none, and a hundred informers of one client share a few.
type decoders struct{ busy atomic.Int32 }

// acquire reports whether one more may be started. Who starts it calls release when it ends.
func (d *decoders) acquire() bool {
	most := int32(min(runtime.GOMAXPROCS(0), maxDecoders))
	for {
		n := d.busy.Load()
		if n >= most {
			return false
		}
		if d.busy.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (d *decoders) release() { d.busy.Add(-1) }

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

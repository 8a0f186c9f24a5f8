package pipeline

import (
	"runtime"
	"sync/atomic"
)

// maxDecoders bounds how many goroutines a client decodes on, besides the goroutines that called it. More of them
// would only wait for the goroutine that frames.
const maxDecoders = 4

// Decoders counts the goroutines that decode for a client now. Such a goroutine starts with a batch and ends when no
// further batch waits, so that an idle client has none, and a hundred informers of one client share a few.
type Decoders struct{ busy atomic.Int32 }

// acquire reports whether another decoder may start, which calls release when it ends.
func (d *Decoders) acquire() bool {
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

func (d *Decoders) release() { d.busy.Add(-1) }

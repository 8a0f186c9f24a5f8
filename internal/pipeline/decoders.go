package pipeline

import (
	"runtime"
	"sync/atomic"
)

// maxDecoders bounds how many goroutines a client decodes on, besides the goroutines that called it. More would wait for
// the one that frames.
const maxDecoders = 4

// Decoders counts the goroutines that decode for a client at the moment. They are started for the batches that there are
// and end with them, so that a client at rest has none, and a hundred informers of one client share a few.
type Decoders struct{ busy atomic.Int32 }

// acquire reports whether one more may be started. Who starts it calls release when it ends.
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

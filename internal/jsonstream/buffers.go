package jsonstream

import "sync"

const (
	// WatchBuffer is the size of the buffer into which a watch reads what has arrived.
	WatchBuffer = 16 << 10
	// RestBuffer is the size of the buffer in which a watch waits: a bookmark fits into it.
	RestBuffer = 512
)

// Buffers lends buffers to watches. A watch waits for hours, and a program may have thousands of them, so a watch that
// waits has a small buffer. Once it has filled that one, it borrows a large one, and returns it when all that has
// arrived has been framed. Buffers is safe for concurrent use. The zero Buffers is ready to use; a nil one lends new
// buffers.
type Buffers struct{ pool sync.Pool }

// Take lends a buffer of WatchBuffer bytes.
func (b *Buffers) Take() []byte {
	if b != nil {
		if buf, ok := b.pool.Get().(*[WatchBuffer]byte); ok {
			return buf[:]
		}
	}
	return make([]byte, WatchBuffer)
}

// Return takes a buffer back. It drops one of another size.
func (b *Buffers) Return(buf []byte) {
	if b != nil && len(buf) == WatchBuffer {
		b.pool.Put((*[WatchBuffer]byte)(buf))
	}
}

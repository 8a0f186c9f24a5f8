package jsonstream

import "math"

const (
	defaultMaxObject = 32 << 20
	defaultMaxDepth  = 1000
)

// Options bound what is read and say what is cut. The zero value is the documented default.
type Options struct {
	// MaxObject is the largest size of one object in bytes, after decompression and with its managedFields. The same
	// bound holds for each member of a list other than its items. 0 means 32 MiB.
	MaxObject int
	// MaxDepth is how deep the objects and arrays of one object may nest; the object itself is the first level.
	// 0 means 1000.
	MaxDepth int
	// KeepManagedFields leaves metadata.managedFields in place.
	KeepManagedFields bool
	// Buffers lends the buffers of watches. Nil makes new ones.
	Buffers *Buffers
}

// maxObject returns the bound in force. It is far enough below the largest int that buffer sizes, which are a small
// multiple of it, cannot overflow if int has 32 bits.
func (o Options) maxObject() int {
	if o.MaxObject <= 0 {
		return defaultMaxObject
	}
	return min(o.MaxObject, math.MaxInt/8)
}

func (o Options) maxDepth() int {
	if o.MaxDepth <= 0 {
		return defaultMaxDepth
	}
	return o.MaxDepth
}

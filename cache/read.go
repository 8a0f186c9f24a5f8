package cache

import "github.com/bowline-go/bowline/client/meta"

// Read describes a read of a cache.
type Read struct {
	// Op is the method: "Get", "All", "Namespace", "Sorted" or "Len" of a [Reader], "Select", "Index.Get", "Index.Len" or
	// "Index.Keys".
	Op string
	// Key is the key that Get did not find; for Namespace only its namespace is set.
	Key meta.Key
}

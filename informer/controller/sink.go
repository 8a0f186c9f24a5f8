// What sources tell a controller.

package controller

import "context"

// sink takes what a source says.
type sink[K comparable] struct {
	add    func(K)
	synced func()
	// deleted says that the object of a key is deleted; the source also adds the key, afterwards. watchDeletions is called
	// first by a source that will call deleted. Both are nil for a source that does not run for a controller.
	deleted        func(K)
	watchDeletions func()
}

// fed is a source of this package that says more than keys.
type fed[K comparable] interface {
	run(ctx context.Context, to sink[K]) error
}

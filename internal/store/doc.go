// Package store holds the objects of one resource in memory, with their indexes, and delivers their changes. Package
// cache is its public interface; the documentation of package cache states the guarantees to readers and subscribers.
//
// The package does not talk to servers: a store holds exactly what its writers put in. A [Writer] writes the objects
// of one namespace, or of all. Call the methods of one writer, and of its [Relist], in the order of the server's
// events: [Writer.Set], [Writer.Delete] and [Writer.Bookmark] for those of a watch, while a Relist stages a full list.
// Several writers may be used at the same time. Calls of one writer from several goroutines are safe, but their order
// is undefined.
//
// Each writer has a resource version. Once every writer of the store has committed a list, a subscription becomes
// synced when its handler has received the objects of that moment. A subscription that is made after that moment
// becomes synced when its handler has received the objects of the moment at which it was made. A writer that is added
// later does not undo this.
//
// Goroutines run only during [Store.Deliver].
package store

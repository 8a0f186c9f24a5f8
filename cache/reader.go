package cache

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
)

// Reader reads a cache that an informer fills. Programs pass it around. Its objects are shared with every other reader
// and handler, and must not be changed. Change a clone:
//
//	obj, found := reader.Get(key)
//	obj = meta.Clone(obj)
//
// A Reader reads all objects, or, as a view that [Reader.Where] makes, those that meet a condition.
//
// A Reader is a small value; copies read the same objects. All methods may be called from any goroutine, also from
// handlers and from the body of a loop over the cache. The zero Reader reads an empty cache, which stays empty.
type Reader[T meta.Object] struct {
	door[T]
	view *view[T] // nil for all objects
}

// door leads from a reader to its store. The alias is unexported, so that users do not see its methods.
type door[T meta.Object] = store.Door[T]

// Runner fills a cache during its Run, as an informer does.
type Runner interface {
	Run(ctx context.Context) error
}

// Runner returns the Runner that fills the cache, or nil if the reader does not know it.
func (r Reader[T]) Runner() Runner { return r.door.Runner() }

// Get returns the object at k, and whether there is one. The object is shared: use [meta.Clone] before changing it.
func (r Reader[T]) Get(k meta.Key) (obj T, found bool) {
	obj, found = r.Behind().Get(k)
	if found && !r.has(obj) {
		var none T
		return none, false
	}
	return obj, found
}

// All loops over all objects, in no particular order. Each loop runs over the objects that exist when it starts,
// without holding a lock; starting one takes constant time and no memory.
func (r Reader[T]) All() iter.Seq[T] { return r.only(r.Behind().All()) }

// Namespace loops over the objects of one namespace; the rules of All apply. Its cost depends on these objects only.
// The empty namespace holds the objects of cluster-wide resources: it does not stand for all namespaces.
func (r Reader[T]) Namespace(ns string) iter.Seq[T] { return r.only(r.Behind().Namespace(ns)) }

// Sorted loops over all objects in the order of their keys: by namespace, then by name. As with All, a loop runs over
// the objects that exist when it starts, and no lock is held while they are sorted or while the body runs. Each loop
// sorts anew: for n objects that takes memory for n references, and time in the order of n log n, 25 to 50 ms for
// 100,000, depending on how far from sorted they were.
func (r Reader[T]) Sorted() iter.Seq[T] { return r.only(r.Behind().Sorted()) }

// Len returns how many objects there are. A view looks at all objects of the cache to count its own.
func (r Reader[T]) Len() (n int) {
	if r.view == nil {
		return r.Behind().Len()
	}
	for range r.All() {
		n++
	}
	return n
}

// ResourceVersion returns the resource version up to which the cache is current: that of the last relist, object,
// deletion or bookmark. It is empty before the first of them. If namespaces are watched one by one, it is the oldest
// of their versions. It is then empty if a namespace has no version yet, or if the versions differ and cannot be
// ordered.
func (r Reader[T]) ResourceVersion() string { return r.Behind().ResourceVersion() }

// Subscribe registers h for the existing objects and all changes from then on, while the informer runs, until
// [Subscription.Close]. A handler that is subscribed twice receives everything twice. A nil h receives nothing, but
// its subscription becomes synced. On the zero Reader the subscription is closed from the start. An index function
// must not call Subscribe.
//
// The guarantees of the package hold for the objects of a view. An object that begins to match arrives as OnAdd, and
// one that ceases to match as OnDelete, so the old object of an OnUpdate matched. OnDelete receives the newest known
// state of the object: the final one if it was deleted, and the one that no longer matches if it still exists.
//
// The subscription of a view also processes changes of objects that do not match: Backlog counts such a change until
// match has been called for it, which costs about a tenth of a delivery. The subscription remembers the objects that
// its handler knows, at about 20 bytes each.
func (r Reader[T]) Subscribe(h Handler[T]) *Subscription {
	if h == nil {
		h = HandlerFuncs[T]{}
	}
	var match func(T) bool
	if r.view != nil {
		match = r.view.match
	}
	return &Subscription{r.Behind().Subscribe(h, match)}
}

// WaitFor waits until the cache has seen a write of the object at key. resourceVersion is the version that the create,
// update, patch or delete returned. After WaitFor, a program that wrote to the server reads from the cache that write
// or a later state. A later deletion, bookmark or relist also ends the wait. WaitFor returns how long it waited, or 0
// if the cache had already seen the write.
//
// [meta.CompareVersions] compares the resource versions. If they cannot be ordered, WaitFor cannot tell when the write
// arrives; it then returns nil at once rather than wait forever. If ctx ends first, the error names the key, the
// version and the cache's version, and wraps ctx's cause.
//
// WaitFor also waits if the informer does not follow the key's namespace, because it may do so later. Index functions
// must not call it; a handler may, but its subscription then waits too.
func (r Reader[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) (waited time.Duration, err error) {
	waited, err = r.Behind().WaitFor(ctx, key, resourceVersion)
	if err != nil {
		err = fmt.Errorf("wait for version %q of %q: %w", resourceVersion, key, err)
	}
	return waited, err
}

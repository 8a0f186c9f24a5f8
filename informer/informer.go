package informer

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
)

// Informer keeps a cache equal to the objects of a source. Make it with [New], or with [Share] for one that others may
// use too. It does nothing until Run. Its methods are safe for use by several goroutines at once.
type Informer[T meta.Object] struct {
	door

	engine *engine[T]
	use    *use[T] // shares the engine with other users; nil for an informer of New
}

// New returns an informer of the objects of src. Run, not New, reports invalid options.
func New[T meta.Object](src Source[T], o Options) *Informer[T] {
	e := newEngine(src, o)
	return &Informer[T]{door: filler.NewDoor(e), engine: e}
}

// Run keeps the cache current and calls the subscribers' handlers until ctx ends; then it returns nil, after every
// handler has returned. No failure of the server ends Run. It returns an error at once if the options or the source are
// invalid, or if it is running already.
//
// Run may be called again later. It then resumes with the existing cache, which stays readable throughout. The informer
// is not synced until that cache is current again: when the watch has reached the version that the server had when Run
// asked for it, or else after a list.
//
// Shared informers use one watch and one cache. The first of their Runs starts these, or waits until the Factory runs;
// after the last Run the watch stops and the cache is emptied. Run also returns an error if the watch or the Factory
// ends before ctx. When Run ends, it closes the subscriptions that the informer's Subscribe has made: subscribe again
// before the next Run.
func (i *Informer[T]) Run(ctx context.Context) error {
	if i.use != nil {
		return i.use.run(ctx)
	}
	return i.engine.run(ctx)
}

// WaitSynced returns nil when the cache holds a complete list, of every wanted namespace if there are several, and has
// been current in this Run. It may be called before Run, and between two Runs. If ctx ends first, it returns the cause
// of ctx and the last error of the server, for each missing namespace, or says that the Factory of a shared informer
// does not run. If Run ends first, or has ended and is not called again within 5 s, it returns the error of Run or of
// the server.
//
// In a test with clienttest.Start it fails the test, and returns an error, when it has waited for a day and ctx has no
// deadline.
func (i *Informer[T]) WaitSynced(ctx context.Context) error {
	if i.use != nil {
		return i.use.waitSynced(ctx)
	}
	return i.engine.waitSynced(ctx, nil)
}

// Unsynced returns nil when WaitSynced would. Otherwise it returns why the informer is not synced: the last error of
// the server, for each missing namespace; or how far the list has come; or that Run has not been called. It does not
// wait.
func (i *Informer[T]) Unsynced() error {
	if i.use != nil {
		return i.use.unsynced()
	}
	return i.engine.unsynced()
}

// WaitFor returns nil when the cache has seen the write that returned resourceVersion, or something later. Reader then
// shows the written state for key, or a later one, or the object has been deleted again. It also returns nil if the
// server's versions have no order, because then the cache cannot tell.
//
// It returns an error at once if the informer does not cover key, because of its namespace or because Options.Shards
// leaves it out. Otherwise it returns an error when ctx ends first. It waits for the watch to catch up with the server,
// usually for milliseconds. If the informer does not select the written object, WaitFor waits until something later
// arrives.
func (i *Informer[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
	return i.engine.waitFor(ctx, key, resourceVersion)
}

// SetNamespaces replaces the namespaces of an informer with Options.Namespaces. It may be called at any time. The
// objects of a removed namespace leave the cache, and handlers receive OnDelete for each. The objects of a new one
// arrive by OnAdd when it has been listed; until then the informer is not synced. All other objects stay as they are.
// If a Run is in progress, it applies the change soon after SetNamespaces has returned.
//
// It returns an error, and changes nothing, if a name is invalid or duplicate, if the informer was made without
// Options.Namespaces, or if others may use it ([Share]). An empty slice, nil included, means no namespace.
func (i *Informer[T]) SetNamespaces(namespaces []string) error {
	if i.use != nil {
		return fmt.Errorf("set namespaces of %v: "+
			"other users share its watch; call Share with the new namespaces instead", i)
	}
	return i.engine.setNamespaces(namespaces)
}

// Reader returns the cache. It can be used at any time, and is always the same cache. It is empty before the first
// list, and for a shared informer while none of the sharing informers runs. All readers and handlers share its objects.
// Change a clone:
//
//	site, found := inf.Reader().Get(key)
//	site = meta.Clone(site)
func (i *Informer[T]) Reader() cache.Reader[T] { return readerOf(i.engine.store, i) }

// Subscribe registers h for every change from now on, beginning with the objects that the cache holds; package cache
// states the guarantees. Handlers are called only during Run; those of a shared informer also during the Run of another
// user.
func (i *Informer[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	sub := i.Reader().Subscribe(h)
	if i.use != nil {
		i.use.follows(sub)
	}
	return sub
}

// Status returns the informer's current condition, during a Run or after it.
func (i *Informer[T]) Status() Status { return i.engine.status() }

// String names the informer, as in: informer "eu labels app=web" of configmaps.v1.
func (i *Informer[T]) String() string {
	if i.use != nil {
		return i.use.String()
	}
	return i.engine.String()
}

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
	use    *use[T] // of an engine that others use too; nil for one of New
}

// New returns an informer of the objects of src. Run, not New, reports invalid options.
func New[T meta.Object](src Source[T], o Options) *Informer[T] {
	e := newEngine(src, o)
	return &Informer[T]{door: filler.NewDoor(asFiller[T]{e}), engine: e}
}

// Run keeps the cache current and calls the subscribers' handlers until ctx ends; then it returns nil, after every
// handler has returned. No failure of the server ends Run. It returns an error at once if the options or the source are
// invalid, or if it is running already.
//
// It may be run again later. It then resumes with the cache that it had, which can be read all the time, but it is not
// synced until that is current again: when the watch has come to the version that the server had when Run asked it, or
// else after a list.
//
// The Run of a shared informer uses the one watch and cache that all have: the first Run of them starts that, or waits
// until the Factory runs, and after the last Run it stops, and the cache is emptied. Run also returns an error if the
// watch or the Factory ends before ctx. When it ends, it closes the subscriptions that its Subscribe has made:
// subscribe again before the next Run.
func (i *Informer[T]) Run(ctx context.Context) error {
	if i.use != nil {
		return i.use.run(ctx)
	}
	return i.engine.run(ctx)
}

// WaitSynced returns nil when the cache holds a complete list and has been current in this Run; with several
// namespaces, a list of each that is wanted at present. It may be called before Run, and between two Runs. When ctx
// ends first, it returns ctx's cause and the last error of the server, for each missing namespace, or that the Factory
// of a shared informer does not run. When Run ends first, or has ended and is not called again within 5 s, it returns
// Run's error, or the server's.
//
// In a test with clienttest.Start it fails the test, and returns an error, when it has waited for a day with a ctx
// without a deadline.
func (i *Informer[T]) WaitSynced(ctx context.Context) error {
	if i.use != nil {
		return i.use.waitSynced(ctx)
	}
	return i.engine.waitSynced(ctx, nil)
}

// Unsynced returns nil when WaitSynced would. Otherwise it returns why it does not: the last error of the
// server, for each missing namespace; or how far the list has come; or that nobody runs the informer. It does not wait.
func (i *Informer[T]) Unsynced() error {
	if i.use != nil {
		return i.use.unsynced()
	}
	return i.engine.unsynced()
}

// WaitFor returns nil when the cache has seen the write that returned resourceVersion, or something later. Reader then
// shows for key what the write returned, or a later state, or the object has been deleted again. It also returns nil if
// the server's versions have no order, because then nobody can tell.
//
// It returns an error at once if key is in a namespace that the informer does not cover, also because Options.Shards
// leaves it out, and otherwise when ctx ends first. It waits for the watch to catch up with the server, usually for
// milliseconds. If the informer does not select the written object, WaitFor waits until something later comes.
func (i *Informer[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
	return i.engine.waitFor(ctx, key, resourceVersion)
}

// SetNamespaces replaces the namespaces of an informer with Options.Namespaces. It may be called at any time. The
// objects of a removed namespace leave the cache, and handlers receive OnDelete for each. The objects of a new one
// arrive by OnAdd when it has been listed; until then the informer is not synced. All others stay as they are. During a
// Run, the Run applies the change, soon after SetNamespaces has returned.
//
// It returns an error, and changes nothing, if a name is invalid or duplicate, if the informer was made without
// Options.Namespaces, or if others may use it ([Share]). An empty slice, nil included, means no namespace.
func (i *Informer[T]) SetNamespaces(namespaces []string) error {
	if i.use != nil {
		return fmt.Errorf("set namespaces of %v: others may use it: share one of the other namespaces", i)
	}
	return i.engine.setNamespaces(namespaces)
}

// Reader returns the cache. It can be used at any time, and is always the same; before the first list it is empty, and
// so it is for a shared informer while no Run uses it. All readers and handlers share its objects. Change a clone:
//
//	site, found := inf.Reader().Get(key)
//	site = meta.Clone(site)
func (i *Informer[T]) Reader() cache.Reader[T] { return readerOf(i.engine.store, i) }

// Subscribe registers h for every change from now on, beginning with the objects that the cache holds; package cache
// states the guarantees. Handlers are called only during Run, those of a shared informer during the Run of others too.
func (i *Informer[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	sub := i.Reader().Subscribe(h)
	if i.use != nil {
		i.use.follows(sub)
	}
	return sub
}

// Status returns the informer's current condition, whichever Run it is of.
func (i *Informer[T]) Status() Status { return i.engine.status() }

// String names the informer, as in: informer "eu labels app=web" of configmaps.v1.
func (i *Informer[T]) String() string {
	if i.use != nil {
		return i.use.String()
	}
	return i.engine.String()
}

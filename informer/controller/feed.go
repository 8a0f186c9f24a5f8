// The sources of a controller, and which of them run.

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/workqueue"
)

// sourceSet are the sources of a controller.
type sourceSet[K comparable] struct {
	// awaited is 0 if no key must wait for a feed. It counts the feeds with covers that run and have not delivered, and
	// the feeds that may lack namespaces. mu is held when it changes.
	awaited atomic.Int64
	// calls is how many functions of sources are running.
	calls atomic.Int64

	mu    sync.Mutex // guards the fields below, and the state of each feed
	feeds []*feed[K] // those of New, and then those of AddSource
	// feedings counts the changes of feeds. lookups is the cached result of primaries; nil before its first call.
	feedings int
	lookups  *lookups[K]
	removing []*feed[K] // removed feeds that have not returned
	intake   *intake[K] // of the current Run; nil while no source may start
}

// allFeeds returns the present sources with their states.
func (c *Controller[K]) allFeeds() []*feed[K] {
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	return slices.Clone(c.set.feeds)
}

// sources returns the present sources.
func (c *Controller[K]) sources() []Source[K] {
	feeds := c.allFeeds()
	all := make([]Source[K], len(feeds))
	for i, f := range feeds {
		all[i] = f.source
	}
	return all
}

// feed is a source of a controller, and its state. sourceSet.mu guards all fields but source, able, needy and covers.
type feed[K comparable] struct {
	source Source[K]
	able   partial  // the source, if it can name the keys of some namespaces before the others; nil otherwise
	needy  []runner // the runners that the controller runs for it; none for a source of New
	// covers says which keys wait for the source, which can then fail without ending the Run; nil if all keys wait.
	covers func(K) bool
	// partial is set while the source runs, if it makes keys wait for missing namespaces.
	partial partial
	// unsynced says that the source has been started, and has not delivered everything that existed then. partly says
	// that it has delivered the namespaces that have been listed.
	unsynced, partly bool
	// failed is why a source with covers has ended in this run. It then stays unsynced until it is removed.
	failed error
	// held are the keys that the queue holds because they wait for the source, and releases counts how often such keys
	// were given back.
	held     []K
	releases int
	// removed says that an added source has been removed.
	removed bool
	// stop ends the source, and returned is closed when it has returned. They are nil unless the source runs.
	stop     context.CancelFunc
	returned chan struct{}
	// needs are the runners that run for an added source.
	needs []*need
	// unawait withdraws the note that the controller waits for the caches of the source; nil while there is no such
	// note.
	unawait func()
	// changed is closed, and replaced, when unsynced, failed, removed or stop change.
	changed chan struct{}
}

func newFeed[K comparable](s Source[K]) *feed[K] {
	return &feed[K]{source: s, able: asPartial(s), changed: make(chan struct{})}
}

// blocks reports whether all keys of the feed wait for it. sourceSet.mu must be held.
func (f *feed[K]) blocks() bool { return f.unsynced && !f.partly }

func (f *feed[K]) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// intake feeds the queue in one run.
type intake[K comparable] struct {
	// start starts a feed. The caller holds sourceSet.mu.
	start   func(f *feed[K])
	sources sync.WaitGroup // added to with sourceSet.mu held, and only while this is the controller's intake
	needs   needs
	release func(k K) // gives a key that waits for a feed back to the queue
	// all is closed when all feeds without covers have delivered, at least partly; then delivered is set. sourceSet.mu
	// guards delivered.
	all       chan struct{}
	delivered bool
}

// startSources starts all sources. fail ends ctx if one of them fails.
func (c *Controller[K]) startSources(ctx context.Context, queue *workqueue.Queue[K], fail context.CancelCauseFunc) *intake[K] {
	in := &intake[K]{all: make(chan struct{}), release: queue.Release}
	// The caches of added sources outlive ctx, like those that informer.Run runs.
	in.needs.start(context.WithoutCancel(ctx), func(n *need, err error) { c.needFailed(in, n, err, fail) })
	in.start = func(f *feed[K]) {
		unawait := f.unawait
		ctx, stop := context.WithCancel(ctx)
		f.unsynced, f.partly, f.failed, f.held, f.stop, f.returned = true, false, nil, nil, stop, make(chan struct{})
		if f.covers != nil {
			c.set.awaited.Add(1)
		}
		// Workers that run already do not wait for a source without covers.
		if f.partial = nil; !c.options.AllNamespaces && (f.covers != nil || !in.delivered) {
			if f.partial = f.able; f.partial != nil {
				c.set.awaited.Add(1)
			}
		}
		f.needs = in.needs.acquire(f.needy)
		f.change()
		returned, isPartial := f.returned, f.partial != nil
		in.sources.Go(func() {
			defer close(returned)
			defer unawait()
			defer stop()
			c.feed(ctx, in, f, isPartial, queue, fail)
		})
	}
	feeds := c.allFeeds()
	caches := make([][]runner, len(feeds))
	for i, f := range feeds {
		caches[i] = runners.Needs[runner](nil, f.source) // without the lock: Needs may call the program's code
	}
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	c.set.intake = in
	c.set.awaited.Store(0)
	// await is called for all feeds before one starts: the function of one may read the caches of the others.
	for i, f := range feeds {
		if !f.removed {
			f.await(&c.set.calls, caches[i])
		}
	}
	for _, f := range c.set.feeds {
		f.await(&c.set.calls, f.needy) // a feed that was added in between
	}
	for _, f := range c.set.feeds {
		in.start(f)
	}
	c.checkSynced() // there may be no source to wait for
	return in
}

// await tells the caches among rs that a controller waits for them, until f.unawait is called. It does nothing if that
// was done before. calls counts the running functions of its sources. The caller holds sourceSet.mu.
func (f *feed[K]) await(calls *atomic.Int64, rs []runner) {
	if f.unawait != nil {
		return
	}
	var ends []func()
	for _, r := range rs {
		if a := filler.Of(r); a != nil {
			ends = append(ends, a.AwaitedBy(calls))
		}
	}
	f.unawait = func() {
		for _, end := range ends {
			end()
		}
	}
}

// feed runs one source. isPartial says that it may make keys wait for missing namespaces.
func (c *Controller[K]) feed(ctx context.Context, in *intake[K], f *feed[K], isPartial bool, queue *workqueue.Queue[K], fail context.CancelCauseFunc) {
	exited := true
	defer func() {
		if exited { // otherwise it panics, and the program ends
			c.sourceFailed(in, f, guard.ErrExited, fail)
		}
	}()
	to := sink[K]{
		add: queue.Add, low: func(k K) { queue.AddWith(k, low) }, with: queue.AddWith,
		synced:  func() { c.synced(in, f) },
		arrived: func() { c.releaseHeld(in, f) },
		calls:   &c.set.calls,
		deleted: c.deletions.deleted, watchDeletions: func() { c.deletions.watched.Store(true) },
	}
	if isPartial {
		to.partly = func() { c.partly(in, f) }
	}
	if c.sharding != nil {
		to.gone = c.sharding.deleted
	}
	if c.hooks.Named != nil {
		to.named = func(k K, object meta.Key, version, previous string) {
			c.hooks.Named(ctx, NamedInfo{
				Controller: c.name, Key: k, Source: nameOf(f.source), Object: object, ResourceVersion: version, Previous: previous,
			})
		}
	}
	err := c.guarded(func() error { return runOf(ctx, f.source, to) })
	switch {
	case ctx.Err() != nil:
	case err == nil:
		c.synced(in, f) // a source that has returned delivers nothing more
	default:
		c.sourceFailed(in, f, err, fail)
	}
	exited = false
}

// synced notes that a source has delivered.
func (c *Controller[K]) synced(in *intake[K], f *feed[K]) {
	c.set.mu.Lock()
	var free []K
	was := f.partly
	if f.unsynced && f.failed == nil && c.set.intake == in {
		free = c.free(f)
		f.change()
		c.checkSynced()
	}
	c.set.mu.Unlock()
	if was && c.options.OnError == nil {
		c.log.Logger().Info(fmt.Sprintf("%v: no namespace is missing any more", c), "source", nameOf(f.source))
	}
	for _, k := range free {
		in.release(k)
	}
}

// checkSynced tells the run when all sources have delivered. The caller holds sourceSet.mu.
func (c *Controller[K]) checkSynced() {
	in := c.set.intake
	if in == nil || in.delivered || slices.ContainsFunc(c.set.feeds, func(f *feed[K]) bool { return f.blocks() && f.covers == nil }) {
		return
	}
	in.delivered = true
	close(in.all)
}

// stopSources waits for the sources of a run, whose context has ended, and then ends the runners that run for them.
func (c *Controller[K]) stopSources(in *intake[K]) {
	c.set.mu.Lock()
	c.set.intake = nil // no source starts any more
	c.set.mu.Unlock()
	done := make(chan struct{})
	go func() {
		in.sources.Wait()
		in.needs.end()
		close(done)
	}()
	c.waitFor(done, func() []string { return c.hangingSources(in) })
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	for _, f := range c.set.feeds {
		f.stop, f.returned, f.needs, f.unawait = nil, nil, nil, nil
		f.change()
	}
}

// hangingSources returns the names of the sources that have not returned. If all have, it returns the names of the
// runners that run for them.
func (c *Controller[K]) hangingSources(in *intake[K]) (names []string) {
	c.set.mu.Lock()
	var hanging []Source[K]
	for _, f := range slices.Concat(c.set.feeds, c.set.removing) {
		if f.returned == nil {
			continue // it was added too late to run
		}
		select {
		case <-f.returned:
		default:
			hanging = append(hanging, f.source)
		}
	}
	c.set.mu.Unlock()
	for _, s := range hanging {
		names = append(names, nameOf(s))
	}
	if names == nil {
		names = in.needs.hanging()
	}
	return names
}

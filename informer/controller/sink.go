// The sink, through which sources talk to a controller.

package controller

import (
	"context"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/workqueue"
)

// sink receives what a source reports.
type sink[K comparable] struct {
	// add adds a key, low adds one with low priority, and with adds one with options.
	add, low func(K)
	with     func(K, workqueue.AddOptions)
	synced   func()
	// partly says that the source has named the keys of some namespaces and lacks others; the function waits says which
	// keys wait. arrived says that a missing namespace has arrived, or is no longer wanted. partly is nil if keys wait
	// for all of the source.
	partly, arrived func()
	// deleted says that the object of a key is deleted; the source also adds the key, afterwards. A source that will
	// call deleted calls watchDeletions first. Both are nil for a source that does not run for a controller.
	deleted        func(K)
	watchDeletions func()
	// gone says that the object of a key has left the cache, before the source adds the key. Only a source whose keys
	// are those of its objects calls it. It is nil if the controller does not need it.
	gone func(k K, obj meta.Object)
	// named is called before add and low, by sources that follow objects. It is nil without a Hooks.Named.
	named func(k K, object meta.Key, version, previous string)
	// calls counts the functions of the controller's sources that are running; nil for a source that does not run for a
	// controller.
	calls *atomic.Int64
}

// enter notes that a function of the source begins, and leave that it ends.
func (s *sink[K]) enter() {
	if s.calls != nil {
		s.calls.Add(1)
	}
}

func (s *sink[K]) leave() {
	if s.calls != nil {
		s.calls.Add(-1)
	}
}

// plain returns the sink of a source that runs by its method Run.
func plain[K comparable](add func(K), synced func()) sink[K] {
	return sink[K]{add: add, low: add, synced: synced}
}

// fed is a source of this package that reports more than keys.
type fed[K comparable] interface {
	run(ctx context.Context, to sink[K]) error
}

// prioritised is a source with the method RunWith.
type prioritised[K comparable] interface {
	RunWith(ctx context.Context, add func(k K, o workqueue.AddOptions), synced func()) error
}

// low are the options of a key with low priority.
var low = workqueue.AddOptions{Priority: workqueue.LowPriority}

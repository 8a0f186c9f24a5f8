package ctrlcache

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	toolscache "k8s.io/client-go/tools/cache"
)

// registration is a client-go handler at a cache of package informer.
type registration[T meta.Object] struct {
	handler toolscache.ResourceEventHandler
	reader  cache.Reader[T]
	name    string
	period  time.Duration // of the resync; 0 means none
	sub     *cache.Subscription
	made    chan struct{} // closed when sub is set
	called  chan struct{} // holds a token after a call of the handler
	failed  func(err error, what string, values ...any)

	mu sync.Mutex // held during each call of the handler
}

func newRegistration[T meta.Object](
	e *informer.Informer[T], h toolscache.ResourceEventHandler, period time.Duration, failed func(error, string, ...any),
) *registration[T] {
	r := &registration[T]{
		handler: h, reader: e.Reader(), name: e.String(), period: period,
		made: make(chan struct{}), called: make(chan struct{}, 1), failed: failed,
	}
	r.sub = e.Subscribe(r)
	close(r.made)
	return r
}

// HasSynced reports whether the handler has received the objects of the first list.
func (r *registration[T]) HasSynced() bool { return isClosed(r.sub.Synced()) }

func (r *registration[T]) HasSyncedChecker() toolscache.DoneChecker {
	return checker{"handler of " + r.name, r.sub.Synced()}
}

// call calls the handler. Calls of a handler do not overlap.
func (r *registration[T]) call(f func()) {
	<-r.made
	r.mu.Lock()
	defer func() {
		r.mu.Unlock()
		select {
		case r.called <- struct{}{}:
		default:
		}
	}()
	f()
}

// TakeEveryState makes the cache call the handler for every state, as client-go does.
func (r *registration[T]) TakeEveryState() {}

// OnAdd implements cache.Handler.
func (r *registration[T]) OnAdd(obj T) {
	r.call(func() { r.handler.OnAdd(obj, !r.HasSynced()) })
}

// OnUpdate implements cache.Handler.
func (r *registration[T]) OnUpdate(old, new T) {
	r.call(func() { r.handler.OnUpdate(old, new) })
}

// OnDelete implements cache.Handler. If no watch has reported the deletion, the final state of the object is unknown,
// and the handler gets a tombstone with the last known state.
func (r *registration[T]) OnDelete(obj T) {
	var gone any = obj
	switch last, final := gone.(*deleted); {
	case final:
		gone = last.object
	case reflect.TypeFor[T]() == reflect.TypeFor[object](): // only a source of this package marks final states
		gone = toolscache.DeletedFinalStateUnknown{Key: storeKey(obj), Obj: obj}
	}
	r.call(func() { r.handler.OnDelete(gone) })
}

// resyncEvery calls OnUpdate for each object, once in each period, until ending or the subscription is closed.
func (r *registration[T]) resyncEvery(ending <-chan struct{}) {
	tick := time.NewTicker(r.period)
	defer tick.Stop()
	for {
		select {
		case <-ending:
			return
		case <-r.sub.Done():
			return
		case <-tick.C:
		}
		for !r.resync(ending) {
			again := time.NewTimer(time.Second) // because a change may be dropped without a call
			select {
			case <-ending:
				return
			case <-r.sub.Done():
				return
			case <-r.called:
			case <-again.C:
			}
			again.Stop()
		}
	}
}

// resync calls OnUpdate for each object, with the object as the old and the new state. It does nothing and returns
// false if the handler has not received all objects yet, or has not received all deletions: it must not get an update
// before the object is added, or after it is deleted.
//
// It holds mu from before the loop, which is over the objects of one moment, so no change is handled until it returns.
// If nothing is pending once the loop has begun, the handler has received every change up to that moment, and none
// after it.
func (r *registration[T]) resync(ending <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := func() bool {
		backlog, _ := r.sub.Backlog()
		return r.HasSynced() && backlog == 0
	}
	begun := false
	for obj := range r.reader.All() {
		if !begun && !current() {
			return false
		}
		begun = true
		if isClosed(ending) || isClosed(r.sub.Done()) {
			break
		}
		r.update(obj)
	}
	return begun || current()
}

// update calls OnUpdate, and logs a panic like one in any other call.
func (r *registration[T]) update(obj T) {
	defer func() {
		if v := recover(); v != nil {
			r.failed(fmt.Errorf("deliver OnUpdate of a resync of %q: handler panicked: %v", storeKey(obj), v),
				"a handler fails", "stack", string(debug.Stack()))
		}
	}()
	r.handler.OnUpdate(obj, obj)
}

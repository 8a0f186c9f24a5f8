// Sources that follow the objects of a cache.

package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/internal/store"
)

// Subscriber supplies objects to follow: *informer.Informer[T], or a cache.Reader[T], which may be a view
// (cache.Reader.Where). An object that leaves the view counts as deleted, so its key is reconciled once more: read the
// view then, not the whole cache, which still has the object. A reader from an informer refers to that informer, so
// informer.Run runs the informer in both cases.
//
// A source receives every state of each object, so it also names the keys of an object that comes and goes at once; the
// documentation of package cache says how far behind it may be. If a Subscriber of your own passes the handler on
// within another one, the source receives merged changes.
type Subscriber[T meta.Object] interface {
	Subscribe(h cache.Handler[T]) *cache.Subscription
}

// Watch names the key of every object of s when the object is added, changes, or is deleted. T must hold its name, and
// its namespace if it has one, as every struct that embeds meta.Identity or meta.ObjectMeta does; an object without a
// name ends the controller with an error.
func Watch[T meta.Object](s Subscriber[T]) Source[meta.Key] {
	return &watched[T]{objects[meta.Key, T]{
		from: s, name: describe("Watch", subject(s)), own: true,
		keys: func(obj T, to []meta.Key) ([]meta.Key, error) {
			k := meta.KeyOf(obj)
			if k.Name == "" {
				return to, noName(obj)
			}
			return append(to, k), nil
		},
	}}
}

// watched is a source whose keys are those of its objects.
type watched[T meta.Object] struct{ objects[meta.Key, T] }

func (w *watched[T]) lookup(by meta.ShardBy) error {
	if by == meta.ShardByUID && !keepsUID[T]() {
		return fmt.Errorf("%v does not keep the uid: embed meta.ObjectMeta or meta.Identity as its metadata", reflect.TypeFor[T]())
	}
	if _, ok := readerOf[T](w.from); !ok {
		return fmt.Errorf("%T has no method Reader() cache.Reader[T]", w.from)
	}
	return nil
}

func (w *watched[T]) find(k meta.Key) meta.Object {
	if r, ok := readerOf[T](w.from); ok {
		if obj, found := r.Get(k); found {
			return obj
		}
	}
	return nil
}

func (w *watched[T]) each() iter.Seq2[meta.Key, meta.Object] {
	r, ok := readerOf[T](w.from)
	return func(yield func(meta.Key, meta.Object) bool) {
		if !ok {
			return
		}
		for obj := range allOf(r) {
			if !yield(meta.KeyOf(obj), obj) {
				return
			}
		}
	}
}

// Map names the keys that by returns for an object of s when the object is added or deleted. When the object changes,
// Map names the keys for both its old and its new state, each once, because the old keys need work too. by must be
// quick, and must not change the object. It is called from one goroutine at a time. If by panics, the cache reports the
// panic as for every handler, and no key is named.
//
// by may read caches and indexes as well:
//
//   - An index of the store that s follows has the object's new state already, or a newer one. For the old state, by is
//     called with the same, present index: it does not find what the index held before.
//   - An index of another store is only as current as its informer, which may be behind: objects that belong to obj may
//     be missing. by is not called again when they arrive. So watch the other store too, by a Map from its objects to
//     the same keys.
//   - Before the other store holds a complete list, an index of it has little or nothing. Its own Map names the missing
//     keys once it has been listed. So a read by a function of a source is not an early read (informer.EarlyReadError)
//     if the controller waits for that store: if another source of it watches the store, or declares it with [Reads].
func Map[K comparable, T meta.Object](s Subscriber[T], by func(obj T) []K) Source[K] {
	o := &objects[K, T]{from: s, name: describe("Map", subject(s))}
	if by != nil {
		o.keys = func(obj T, to []K) ([]K, error) { return append(to, by(obj)...), nil }
	}
	return o
}

// OwnerType is a kind of owner, as a client.Type describes it.
type OwnerType interface {
	GVK() meta.GVK
	IsNamespaced() bool
}

// Owns names the owner that controls an object of s (its controller reference), if that is of the given group and kind.
// The version is not compared, because it can change while the owner stays the same. Owns does so for both states of an
// update, as Map does. Owners that do not control the object are left out: use Map and meta.Owners for them.
//
// Owns names only keys that can exist. If the object has no namespace, it leaves out an owner of a namespaced kind,
// which the garbage collector treats as absent too. It also leaves out an owner whose name is empty or not a valid path
// segment (meta.ValidSegment).
//
// T must have a method GetOwnerReferences, as the types of k8s.io/api have and every struct that embeds meta.ObjectMeta
// or meta.OwnerMeta. R is the type of its references.
func Owns[T meta.Owned[R], R any](s Subscriber[T], owner OwnerType) Source[meta.Key] {
	if owner == nil {
		wrong := errors.New("owner must not be nil")
		return &objects[meta.Key, T]{from: s, name: describe("Owns", subject(s)), wrong: wrong}
	}
	kind, namespaced := owner.GVK(), owner.IsNamespaced()
	return &objects[meta.Key, T]{
		from: s, name: describe("Owns", subject(s), kind), owner: true,
		keys: func(obj T, to []meta.Key) ([]meta.Key, error) {
			ref, ok := meta.ControllerOf(obj)
			if !ok || ref.Kind != kind.Kind {
				return to, nil
			}
			if group, _ := meta.SplitAPIVersion(ref.APIVersion); group != kind.Group {
				return to, nil
			}
			key := meta.Key{Name: ref.Name}
			if namespaced {
				key.Namespace = obj.GetNamespace()
			}
			if namespaced && key.Namespace == "" || meta.ValidSegment("name", key.Name) != nil {
				return to, nil
			}
			return append(to, key), nil
		},
	}
}

// subject returns the name of the followed source: its String, or else its type of objects.
func subject[T meta.Object](s Subscriber[T]) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	if named, ok := fillerOf(s).(fmt.Stringer); ok {
		return named.String()
	}
	return reflect.TypeFor[T]().String()
}

// objects is a source that follows a cache.
type objects[K comparable, T meta.Object] struct {
	from Subscriber[T]
	name string
	keys func(obj T, to []K) ([]K, error) // appends the keys of one state of an object; nil if the caller gave none
	// wrong is the error in the arguments of the constructor.
	wrong error
	own   bool // the keys are those of the objects themselves
	owner bool // the keys are those of their owners
}

func (o *objects[K, T]) owns() bool { return o.owner }

func (o *objects[K, T]) String() string { return o.name }

// fillerOf returns the runner that supplies the objects, or nil if it is unknown.
func fillerOf(from any) runner {
	switch from := from.(type) {
	case runner:
		if !runners.IsNil(from) {
			return from
		}
	case interface{ Runner() cache.Runner }:
		return from.Runner()
	}
	return nil
}

func (o *objects[K, T]) Runners() []runner {
	if r := fillerOf(o.from); r != nil {
		return []runner{r}
	}
	return nil
}

func (o *objects[K, T]) isPartial() bool { return asByNamespace(fillerOf(o.from)) != nil }

func (o *objects[K, T]) waitsIn(namespace string, all bool) bool {
	return lacks(fillerOf(o.from), namespace, o.own || o.owner, all)
}

func (o *objects[K, T]) Unsynced() error { return whyUnsynced(fillerOf(o.from)) }

func (o *objects[K, T]) Run(ctx context.Context, add func(K), synced func()) error {
	return o.run(ctx, plain(add, synced))
}

func (o *objects[K, T]) run(ctx context.Context, to sink[K]) error {
	if o.from == nil {
		return errors.New("s must not be nil")
	}
	if o.wrong != nil {
		return o.wrong
	}
	if o.keys == nil {
		return errors.New("by must not be nil")
	}
	working, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if !o.own {
		to.gone = nil
	}
	h := &handler[K, T]{keys: o.keys, to: to, fail: fail}
	sub := o.from.Subscribe(h)
	h.sub.Store(sub)
	defer func() {
		sub.Close()
		<-sub.Done() // a goroutine of the cache may be in the handler until then
	}()
	failed, stop, err := await(working, to, func() { h.begun.Store(true) }, supply{fillerOf(o.from), sub.WaitSynced, sub.Handled})
	defer stop()
	if err == nil {
		select {
		case err = <-failed:
		case <-working.Done():
		case <-sub.Done(): // a shared informer closes its subscriptions when its Run ends
			err = closedError{}
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case working.Err() != nil:
		return context.Cause(working)
	default:
		return err
	}
}

// closedError says that a cache has closed the subscription of a source.
type closedError struct{}

func (closedError) Error() string {
	return "the cache closed the subscription, as a shared informer does when its Run ends"
}

func (closedError) Is(target error) bool { return target == store.ErrClosed }

// handler adds the keys of the objects that it receives. A cache calls it from one goroutine at a time.
type handler[K comparable, T meta.Object] struct {
	keys func(obj T, to []K) ([]K, error)
	to   sink[K]
	fail context.CancelCauseFunc
	room []K // for the keys of one call
	// sub is the subscription; nil until Subscribe has returned. begun says that the objects that existed at the start
	// have been named, except those of missing namespaces.
	sub   atomic.Pointer[cache.Subscription]
	begun atomic.Bool
}

// TakeEveryState makes the cache call the handler for every state: a reconcile may have acted on any of them.
func (h *handler[K, T]) TakeEveryState() {}

// OnAdd adds objects that existed at the start with a low priority: after a restart, changes are served before the
// backlog. The subscription becomes synced after the last of those objects and before the next.
func (h *handler[K, T]) OnAdd(obj T) {
	h.to.enter()
	defer h.to.leave()
	add := h.to.low
	if sub := h.sub.Load(); h.begun.Load() {
		add = h.to.add
	} else if sub != nil {
		select {
		case <-sub.Synced():
			add = h.to.add
		default:
		}
	}
	eachOnce(h.of(obj), h.told(add, obj, ""))
}

func (h *handler[K, T]) OnUpdate(old, new T) {
	h.to.enter()
	defer h.to.leave()
	eachOnce(h.of(new, old), h.told(h.to.add, new, old.GetResourceVersion()))
}

func (h *handler[K, T]) OnDelete(obj T) {
	h.to.enter()
	defer h.to.leave()
	eachOnce(h.of(obj), h.leaves(h.told(h.to.add, obj, ""), obj))
}

// leaves returns an add that first reports which key has lost its object.
func (h *handler[K, T]) leaves(add func(K), obj T) func(K) {
	if h.to.gone == nil {
		return add
	}
	return func(k K) {
		h.to.gone(k, obj)
		add(k)
	}
}

// told returns a function that tells the hook Named which object names a key, and which earlier version of the object
// this source has received, and then calls add.
func (h *handler[K, T]) told(add func(K), obj T, previous string) func(K) {
	if h.to.named == nil {
		return add
	}
	object, version := meta.KeyOf(obj), obj.GetResourceVersion()
	return func(k K) {
		h.to.named(k, object, version, previous)
		add(k)
	}
}

func (h *handler[K, T]) watchDeletions() {
	if h.to.watchDeletions != nil {
		h.to.watchDeletions()
	}
}

func (h *handler[K, T]) onDeletionBegan(old, new T) {
	h.to.enter()
	defer h.to.leave()
	eachOnce(h.of(new, old), h.told(h.cancel, new, old.GetResourceVersion()))
}

func (h *handler[K, T]) onGone(obj T) {
	h.to.enter()
	defer h.to.leave()
	eachOnce(h.of(obj), h.leaves(h.told(h.cancel, obj, ""), obj))
}

// asked notes that a function of the program decides about an update, before the handler gets it.
func (h *handler[K, T]) asked(ask func() bool) bool {
	h.to.enter()
	defer h.to.leave()
	return ask()
}

// cancel ends the reconcile of a key, and adds the key.
func (h *handler[K, T]) cancel(k K) {
	if h.to.deleted != nil {
		h.to.deleted(k)
	}
	h.to.add(k)
}

// of returns the keys of the states of an object. They are valid until the next call.
func (h *handler[K, T]) of(states ...T) []K {
	keys := h.room[:0]
	for _, obj := range states {
		var err error
		if keys, err = h.keys(obj, keys); err != nil {
			h.fail(err)
			return nil
		}
	}
	h.room = keys
	return keys
}

// eachOnce calls add for each distinct key. Adding a key twice would be correct, but a worker may take it in between,
// which causes a second reconcile.
func eachOnce[K comparable](keys []K, add func(K)) {
	const few = 16
	if len(keys) <= few {
		for i, k := range keys {
			if !slices.Contains(keys[:i], k) {
				add(k)
			}
		}
		return
	}
	seen := make(map[K]bool, len(keys))
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			add(k)
		}
	}
}

// The controller of one of several replicas, which reconciles the keys of its ranges only.

package controller

import (
	"context"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/workqueue"
)

// Shards says which keys a controller reconciles, for a program whose replicas share the work; see Options.Shards.
// *shards.Group of package client/shards implements it.
type Shards interface {
	// By returns the field that decides the range of an object.
	By() meta.ShardBy
	// Follow registers a controller that must be prepared before work begins. New calls it.
	Follow(name string) interface {
		Wanted() (ranges meta.Ranges, changed <-chan struct{})
		Have(ranges meta.Ranges)
		Leave()
	}
	// Began returns three results: the ranges of this replica for which work has begun since an earlier call; a number
	// to pass as since to the next call; and a channel that is closed when there may be more ranges. since is the
	// number that the earlier call returned.
	Began(since uint64) (ranges meta.Ranges, number uint64, changed <-chan struct{})
	// Enter returns the context for work on a range, and the function to call at the end of that work; false if this
	// replica does not have the range.
	Enter(ctx context.Context, n int) (working context.Context, leave func(), ok bool)
}

// follower is the type by which Shards know a controller.
type follower = interface {
	Wanted() (ranges meta.Ranges, changed <-chan struct{})
	Have(ranges meta.Ranges)
	Leave()
}

// sharding is the state of a controller with Options.Shards.
type sharding[K comparable] struct {
	Shards
	follower  follower
	elsewhere atomic.Int64 // Status.Elsewhere
	following sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	gone map[K]lost // keys whose objects have been deleted, and that have not been reconciled since
	lost uint64     // how many such deletions there have been
}

// lost is an object that has been deleted: its range, and the number of the deletion.
type lost struct {
	n      int
	number uint64
}

// newSharding registers a controller with the shards of its options; nil if it has none.
func newSharding[K comparable](s Shards, name string) *sharding[K] {
	if runners.IsNil(s) { // Run reports a nil pointer
		return nil
	}
	return &sharding[K]{Shards: s, follower: s.Follow(name), gone: make(map[K]lost)}
}

// primary is a source whose keys are those of objects that it can look up.
type primary[K comparable] interface {
	// find returns the object of a key; nil if there is none.
	find(k K) meta.Object
	// each iterates over all objects, and their keys.
	each() iter.Seq2[K, meta.Object]
	// lookup returns an error if the source cannot look up objects.
	lookup(by meta.ShardBy) error
}

// primaries returns the sources that can look up the objects of keys. The caller must not change the slice.
func (c *Controller[K]) primaries() []primary[K] {
	c.set.mu.Lock()
	known, of := c.set.lookups, c.set.feedings
	c.set.mu.Unlock()
	if known != nil && known.of == of {
		return known.sources
	}
	now := &lookups[K]{of: of} // a change of feeds from here on makes the result outdated
	for _, s := range c.sources() {
		if p, ok := s.(primary[K]); ok && p.lookup(c.sharding.By()) == nil {
			now.sources = append(now.sources, p)
		}
	}
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	c.set.lookups = now
	return now.sources
}

// lookups are the sources that can look up objects. They were found when sourceSet.feedings had the value of.
type lookups[K comparable] struct {
	of      int
	sources []primary[K]
}

// rangeOf returns the range of a key, and the deletion of its object if it has been deleted. It returns false if the
// range is not known, because the object is in no cache of this replica: it is in another replica's range, or was
// deleted long ago.
func (c *Controller[K]) rangeOf(k K) (n int, deletion uint64, ok bool) {
	s := c.sharding
	s.mu.Lock()
	l, gone := s.gone[k]
	s.mu.Unlock()
	if s.By() == meta.ShardByNamespace {
		ns, _ := namespaceOf(k)
		return s.By().Range(meta.Identity{Namespace: ns}), l.number, true
	}
	for _, p := range c.primaries() {
		if obj := p.find(k); obj != nil {
			return s.By().Range(meta.Identity{UID: uidIn(obj)}), l.number, true
		}
	}
	return l.n, l.number, gone
}

// shardGate drops a key that is not this replica's, and ends the context of a reconcile when the replica loses the
// range.
type shardGate[K comparable] struct{ c *Controller[K] }

func (g shardGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	s := g.c.sharding
	n, deletion, known := g.c.rangeOf(v.key)
	if known {
		if working, left, ok := s.Enter(ctx, n); ok {
			return working, func() {
				left()
				if v.settled && deletion > 0 {
					s.reconciled(v.key, deletion)
				}
			}, true
		}
	}
	s.elsewhere.Add(1)
	v.epoch.settled(v.key, g.c.log.GivenUp) // another replica handles it now
	return nil, nil, false
}

// deleted notes the range of a key whose object has left the cache, until the deletion has been reconciled. This
// replica may begin to work on the range only later. Without the note it would then know neither the uid of the object
// nor, with Shards by uid, its range.
func (s *sharding[K]) deleted(k K, obj meta.Object) {
	n := s.By().Range(meta.Identity{Namespace: obj.GetNamespace(), UID: uidIn(obj)})
	if wanted, _ := s.follower.Wanted(); !wanted.Has(n) {
		return // the object left with its range, and may exist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
	s.gone[k] = lost{n, s.lost}
}

// reconciled forgets a deletion, unless there has been another one of the key.
func (s *sharding[K]) reconciled(k K, deletion uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone[k].number == deletion {
		delete(s.gone, k)
	}
}

// holdShards says that the controller is not prepared yet. A Group forgets its followers at the end of its Run, and
// waits for this controller again from here on.
func (c *Controller[K]) holdShards() {
	if s := c.sharding; s != nil {
		s.follower.Have(meta.Ranges{})
	}
}

// startShards says that the controller is prepared, and begins to follow the ranges.
func (c *Controller[K]) startShards(ctx context.Context, queue *workqueue.Queue[K]) {
	s := c.sharding
	if s == nil {
		return
	}
	s.follower.Have(meta.AllRanges())
	s.following.Go(func() { c.followShards(ctx, func(k K) { queue.AddWith(k, low) }) })
}

// stopShards waits for the goroutines of startShards, whose context has ended.
func (c *Controller[K]) stopShards() {
	if s := c.sharding; s != nil {
		c.holdShards()
		s.following.Wait()
	}
}

// followShards adds the keys of each range for which work begins, because they are new to this replica. It returns when
// ctx ends.
func (c *Controller[K]) followShards(ctx context.Context, add func(K)) {
	s := c.sharding
	_, rewanted := s.follower.Wanted()
	var idle idleness
	looks := time.NewTicker(idleLook)
	defer looks.Stop()
	for number := uint64(0); ; {
		c.lookIdle(&idle)
		ranges, now, changed := s.Began(number)
		number = now
		if ranges != (meta.Ranges{}) {
			c.addRanges(ranges, add)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-looks.C:
		case <-rewanted:
			var wanted meta.Ranges
			wanted, rewanted = s.follower.Wanted()
			s.forget(wanted)
		}
	}
}

// addRanges adds the keys of all objects of some ranges, and of those that were deleted while the ranges were prepared.
func (c *Controller[K]) addRanges(ranges meta.Ranges, add func(K)) {
	s := c.sharding
	for _, p := range c.primaries() {
		for k, obj := range p.each() {
			if ranges.Has(s.By().Range(meta.Identity{Namespace: obj.GetNamespace(), UID: uidIn(obj)})) {
				add(k)
			}
		}
	}
	s.mu.Lock()
	var gone []K
	for k, l := range s.gone {
		if ranges.Has(l.n) {
			gone = append(gone, k)
		}
	}
	s.mu.Unlock()
	for _, k := range gone {
		add(k)
	}
}

// forget drops the notes about deleted keys whose ranges other replicas have now.
func (s *sharding[K]) forget(wanted meta.Ranges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, l := range s.gone {
		if !wanted.Has(l.n) {
			delete(s.gone, k)
		}
	}
}

// uidIn returns the uid of an object; empty if its type does not keep it. The types of k8s.io/api have their own type
// of uid, which no interface of this module can return, so uidIn reads it as a field: reflection on methods would keep
// the linker from removing unused ones.
func uidIn(obj meta.Object) string {
	if o, ok := obj.(interface{ GetUID() string }); ok {
		return o.GetUID()
	}
	if f, ok := uidField(reflect.TypeOf(obj)); ok {
		if v := reflect.ValueOf(obj); v.Kind() != reflect.Pointer || !v.IsNil() {
			return reflect.Indirect(v).FieldByIndex(f.Index).String()
		}
	}
	return ""
}

// keepsUID reports whether objects of type T keep their uid.
func keepsUID[T meta.Object]() bool {
	t := reflect.TypeFor[T]()
	_, ok := uidField(t)
	return ok || t.Implements(reflect.TypeFor[interface{ GetUID() string }]())
}

// uidField returns the field UID of a struct, or of the struct that a pointer points to.
func uidField(t reflect.Type) (reflect.StructField, bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	f, ok := t.FieldByName("UID")
	return f, ok && f.Type.Kind() == reflect.String
}

// readerOf returns the reader of the objects that a source follows: the whole cache, or a view; false if there is none.
func readerOf[T meta.Object](from any) (cache.Reader[T], bool) {
	switch from := from.(type) {
	case cache.Reader[T]:
		return from, true
	case interface{ Reader() cache.Reader[T] }:
		if runners.IsNil(from) {
			return cache.Reader[T]{}, false
		}
		return from.Reader(), true
	case interface{ within() Subscriber[T] }:
		return readerOf[T](from.within())
	}
	return cache.Reader[T]{}, false
}

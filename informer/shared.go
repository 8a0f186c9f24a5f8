package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/handle"
)

// Shared is a handle on an informer that others may use too; [Share] makes it. It has the methods of an [Informer], and
// controllers accept it like one. During its Run it uses the informer, and its subscriptions receive changes;
// [Factory.Run] runs the informer itself. There is nothing to release. Its methods are safe for use by several goroutines
// at once.
type Shared[T meta.Object] struct {
	door

	c        *common
	informer *Informer[T]
	o        Options

	mu      sync.Mutex // guards the rest
	running bool
	joined  chan struct{} // closed while Run is under way and life is set
	life    *life
	span    *span // as in Informer
	subs    []*cache.Subscription
	refused error // see Refuse
}

// Share returns a handle on the informer that f has for src and for the scope of o. It makes the informer if there is
// none. Two handles share an informer if they have the same type of objects, equal sources, and the same Namespace or
// Namespaces, selectors, Shards, AllowStale and KeepManagedFields. OnError belongs to each handle; the first handle
// sets all other options, Name among them.
//
// Two client.Resource are equal if client and descriptor are, whatever their options for writing. A source from
// [Transform] or [Filter] is equal to itself only: keep it to share it. A source that cannot be compared is never shared.
func Share[T meta.Object](f *Factory, src Source[T], o Options) *Shared[T] {
	var c *common
	comparable := (any(src) == nil || reflect.ValueOf(src).Comparable()) && (o.Shards == nil || reflect.ValueOf(o.Shards).Comparable())
	if comparable {
		c = f.find(sharingOf(src, o), nil)
	}
	if c == nil {
		c = newCommon(f, src, o)
		if comparable {
			c = f.find(sharingOf(src, o), c) // another goroutine may have been quicker
		}
	}
	u := &Shared[T]{c: c, informer: c.informer.(*Informer[T]), o: o, joined: make(chan struct{}), span: newSpan()}
	u.door = filler.NewDoor(sharedFiller[T]{asFiller[T]{u.informer}, u})
	return u
}

func newCommon[T meta.Object](s *Factory, src Source[T], o Options) *common {
	c := &common{s: s, life: newLife()}
	o.OnError = nil
	i := New(src, o)
	i.hook = c.report
	c.informer, c.run, c.renew = i, i.Run, i.renew
	return c
}

// sharing is what the handles of one informer have in common.
type sharing struct {
	source                        any
	objects                       reflect.Type
	namespace                     string
	several                       bool
	namespaces                    string
	labelSelector, fieldSelector  string
	allowStale, keepManagedFields bool
	shards                        Shards
}

func sharingOf[T meta.Object](src Source[T], o Options) sharing {
	var from any = src
	// A user's type that embeds a Resource also has its Reads, but may read differently.
	if reads := handle.Of(src).Reads; reads != nil && reflect.TypeOf(reads) == reflect.TypeOf(src) {
		from = reads
	}
	return sharing{
		source: from, objects: reflect.TypeFor[T](), namespace: o.Namespace,
		several: o.Namespaces != nil, namespaces: strings.Join(slices.Sorted(slices.Values(o.Namespaces)), "/"),
		labelSelector: o.LabelSelector, fieldSelector: o.FieldSelector,
		allowStale: o.AllowStale, keepManagedFields: o.KeepManagedFields,
		shards: o.Shards,
	}
}

// Run uses the informer until ctx ends; then it returns nil, after the handlers of this Shared have returned. The first
// Run starts the informer, or waits until the Factory runs. After the last Run the informer stops, and its cache is
// emptied. Run returns an error at once if the options or the source are invalid, or if it is running already, and later
// if the informer or the Factory ends before ctx. It may be run again.
//
// When Run ends, it closes the subscriptions that [Shared.Subscribe] has made: subscribe again before the next Run.
func (u *Shared[T]) Run(ctx context.Context) (err error) {
	if err := u.begin(); err != nil {
		return err
	}
	defer func() { u.end(err) }()
	if any(u.informer.source) == nil {
		return errors.New("run shared informer: the source is nil")
	}
	if err := u.o.validate(); err != nil {
		return fmt.Errorf("run %v: %w", u, err)
	}
	if err := u.refusal(); err != nil {
		return fmt.Errorf("run %v: %w", u, err)
	}
	if ctx.Err() != nil {
		return nil
	}
	l := u.c.join(u)
	defer u.c.leave(u, l)
	u.attach(l)
	select {
	case <-ctx.Done():
	case <-l.ended:
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("run %v: %w", u, l.err)
}

func (u *Shared[T]) begin() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running {
		return &runningError{u, u.span.ended}
	}
	select {
	case <-u.span.ended:
		u.span = u.span.follows()
	default: // this is the first Run
	}
	u.running = true
	return nil
}

// attach notes the life that the user has joined.
func (u *Shared[T]) attach(l *life) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.life = l
	close(u.joined)
}

// end closes the subscriptions, and waits for their handlers.
func (u *Shared[T]) end(err error) {
	if err == nil {
		err = errUserStopped
	}
	u.mu.Lock()
	subs := u.subs
	u.subs = nil
	if u.life != nil {
		u.joined = make(chan struct{})
	}
	u.life = nil
	u.mu.Unlock()
	for _, sub := range subs {
		sub.Close()
	}
	for _, sub := range subs {
		<-sub.Done()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running, u.span.err = false, err
	close(u.span.ended)
}

var errUserStopped = errors.New("its Run has ended")

// WaitSynced returns nil when the cache holds a complete list. It may be called before Run, and before Factory.Run. When
// ctx ends first, it returns ctx's cause and the reason why there is no list: the Factory does not run, or the last error
// of the server. When Run ends first, or has ended and is not called again within 5 s, it returns Run's error, or the server's.
func (u *Shared[T]) WaitSynced(ctx context.Context) error {
	u.mu.Lock()
	last := u.span
	u.mu.Unlock()
	last.waitNext(ctx, errUserStopped)
	u.mu.Lock()
	span, joined := u.span, u.joined
	u.mu.Unlock()
	fail := func(why error, while string) error {
		return fmt.Errorf("sync %s: %w, %s", u.informer.name(), why, while)
	}
	select {
	case <-joined:
	case <-span.ended:
		return fmt.Errorf("sync %s: %w", u.informer.name(), span.err)
	case <-ctx.Done():
		return fail(context.Cause(ctx), "before its Run")
	}
	u.mu.Lock()
	l := u.life
	u.mu.Unlock()
	if l == nil { // Run is ending
		select {
		case <-span.ended:
			return fmt.Errorf("sync %s: %w", u.informer.name(), span.err)
		case <-ctx.Done():
			return fail(context.Cause(ctx), "while its Run ends")
		}
	}
	select {
	case <-l.begun:
	case <-span.ended:
		return fmt.Errorf("sync %s: %w", u.informer.name(), span.err)
	case <-ctx.Done():
		if !u.c.s.isRunning() {
			return fail(context.Cause(ctx), "while its Factory does not run")
		}
		return fail(context.Cause(ctx), "while it is being started")
	}
	return u.informer.waitSynced(ctx, span)
}

// Unsynced returns nil when the cache holds a complete list, and otherwise why it does not; see [Informer.Unsynced].
func (u *Shared[T]) Unsynced() error {
	u.mu.Lock()
	running, l, span := u.running, u.life, u.span
	u.mu.Unlock()
	switch {
	case !running:
		select {
		case <-span.ended:
			return fmt.Errorf("its Run has ended: %w", span.err)
		default:
			return errNotRun
		}
	case l == nil:
		return errors.New("its Run is about to begin")
	}
	select {
	case <-l.begun:
		return u.informer.Unsynced()
	default:
	}
	if !u.c.s.isRunning() {
		return errors.New("its Factory does not run")
	}
	return errors.New("it is being started")
}

// WaitFor waits until the cache has seen a write; see [Informer.WaitFor].
func (u *Shared[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error {
	return u.informer.WaitFor(ctx, key, resourceVersion)
}

// Reader returns the cache. It can be used at any time, and always returns the same cache, which is empty while no Run
// uses the informer. Objects in it are shared: use meta.Clone before changing one.
func (u *Shared[T]) Reader() cache.Reader[T] { return readerOf(u.informer.store, u) }

// Subscribe registers h for every change from now on, beginning with the objects that the cache holds, until Run ends;
// package cache states the guarantees. A subscription made before Run receives the changes while others already use the
// informer.
func (u *Shared[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	sub := u.informer.Subscribe(h)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.subs = append(slices.DeleteFunc(u.subs, isDone), sub)
	return sub
}

func isDone(s *cache.Subscription) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// Away returns why the cache may not be current; see [Informer.Away].
func (u *Shared[T]) Away() error { return u.informer.Away() }

// Stale returns nil unless the cache is stale; see [Informer.Stale].
func (u *Shared[T]) Stale() error { return u.informer.Stale() }

// Status returns the condition of the informer, whichever handle it runs for.
func (u *Shared[T]) Status() Status { return u.informer.Status() }

// String names the informer.
func (u *Shared[T]) String() string { return "shared " + u.informer.String() }

// report passes an error to OnError, if there is one.
func (u *Shared[T]) report(err error) bool {
	if u.o.OnError == nil {
		return false
	}
	u.o.OnError(err)
	return true
}

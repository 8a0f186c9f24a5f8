package informer

import (
	"cmp"
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
	"github.com/bowline-go/bowline/internal/runners"
)

// use is one user's view of an informer that [Share] has returned. During its run it is one of the users of the engine,
// and its subscriptions receive changes; [Factory.Run] runs the engine itself.
type use[T meta.Object] struct {
	c      *common
	engine *engine[T]
	o      Options

	mu      sync.Mutex // guards the fields below
	running bool
	joined  chan struct{} // closed while Run is under way and life is set
	life    *life
	span    *span // as in engine
	subs    []*cache.Subscription
	refused error // see Refuse
}

// Share returns an informer that others may use too: the informers that f returns for the same src and the same scope
// of o use one watch and one cache. Each has its own Run and its own waits. Nothing must be released: an informer
// that does not run uses nothing.
//
// Two informers share if they have the same type of objects, equal sources, and the same Namespace or Namespaces,
// selectors, Shards, AllowStale and KeepManagedFields, and either all or none have Compact. Each keeps its own OnError;
// the first informer sets all other options, including Name.
//
// Two client.Resource values are equal if their clients and descriptors are, whatever their options for writing. A
// source from [Transform] or [Filter] is equal to itself only: keep it to share it. A source that cannot be compared is
// never shared.
func Share[T meta.Object](f *Factory, src Source[T], o Options) *Informer[T] {
	var c *common
	comparable := (any(src) == nil || reflect.ValueOf(src).Comparable()) && (o.Shards == nil || reflect.ValueOf(o.Shards).Comparable())
	if comparable {
		c = f.find(sharingOf(src, o), nil)
	}
	if c == nil {
		c = newCommon(f, src, o)
		if comparable {
			c = f.find(sharingOf(src, o), c) // another goroutine may have been faster
		}
	}
	u := &use[T]{c: c, engine: c.informer.(*engine[T]), o: o, joined: make(chan struct{}), span: newSpan()}
	return &Informer[T]{door: filler.NewDoor(sharedFiller{u.engine, u.refuse}), engine: u.engine, use: u}
}

func newCommon[T meta.Object](s *Factory, src Source[T], o Options) *common {
	c := &common{s: s, life: newLife()}
	o.OnError = nil
	i := newEngine(src, o)
	i.hook = c.report
	c.informer, c.run, c.renew = i, i.run, i.renew
	return c
}

// sharing is what informers must have in common to share.
type sharing struct {
	source                        any
	objects                       reflect.Type
	namespace                     string
	several                       bool
	namespaces                    string
	labelSelector, fieldSelector  string
	allowStale, keepManagedFields bool
	shards                        Shards
	compact                       bool
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
		shards: o.Shards, compact: o.Compact != nil,
	}
}

// run is [Informer.Run].
func (u *use[T]) run(ctx context.Context) (err error) {
	if err := u.begin(); err != nil {
		return err
	}
	defer func() { u.end(err) }()
	if any(u.engine.source) == nil {
		return errors.New("run shared informer: the source must not be nil")
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

func (u *use[T]) begin() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running {
		return &runners.RunningError{What: u.String(), Ended: u.span.ended}
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
func (u *use[T]) attach(l *life) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.life = l
	close(u.joined)
}

// end closes the subscriptions, and waits for their handlers.
func (u *use[T]) end(err error) {
	err = cmp.Or(err, errUserStopped)
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

var errUserStopped = errors.New("the informer has been stopped")

// waitSynced is [Informer.WaitSynced].
func (u *use[T]) waitSynced(ctx context.Context) error {
	u.mu.Lock()
	last := u.span
	u.mu.Unlock()
	last.waitNext(ctx, errUserStopped)
	u.mu.Lock()
	span, joined := u.span, u.joined
	u.mu.Unlock()
	fail := func(why error, while string) error {
		return fmt.Errorf("sync %s: %w, %s", u.engine.name(), why, while)
	}
	select {
	case <-joined:
	case <-span.ended:
		return fmt.Errorf("sync %s: %w", u.engine.name(), span.err)
	case <-ctx.Done():
		return fail(context.Cause(ctx), "before Run was called")
	}
	u.mu.Lock()
	l := u.life
	u.mu.Unlock()
	if l == nil { // Run is ending
		select {
		case <-span.ended:
			return fmt.Errorf("sync %s: %w", u.engine.name(), span.err)
		case <-ctx.Done():
			return fail(context.Cause(ctx), "while Run ends")
		}
	}
	select {
	case <-l.begun:
	case <-span.ended:
		return fmt.Errorf("sync %s: %w", u.engine.name(), span.err)
	case <-ctx.Done():
		if !u.c.s.isRunning() {
			return fail(context.Cause(ctx), "while its Factory does not run")
		}
		return fail(context.Cause(ctx), "while it starts")
	}
	return u.engine.waitSynced(ctx, span)
}

// unsynced is [Informer.Unsynced].
func (u *use[T]) unsynced() error {
	u.mu.Lock()
	running, l, span := u.running, u.life, u.span
	u.mu.Unlock()
	switch {
	case !running:
		select {
		case <-span.ended:
			return fmt.Errorf("Run has ended: %w", span.err)
		default:
			return errNotRun
		}
	case l == nil:
		return errors.New("Run is about to begin")
	}
	select {
	case <-l.begun:
		return u.engine.unsynced()
	default:
	}
	if !u.c.s.isRunning() {
		return errors.New("its Factory does not run: call Factory.Run")
	}
	return errors.New("the Factory is starting it")
}

// follows notes a subscription, which ends with the run.
func (u *use[T]) follows(sub *cache.Subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.subs = append(slices.DeleteFunc(u.subs, isDone), sub)
}

func isDone(s *cache.Subscription) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// String is [Informer.String].
func (u *use[T]) String() string { return "shared " + u.engine.String() }

// report passes an error to OnError, if there is one.
func (u *use[T]) report(err error) bool {
	if u.o.OnError == nil {
		return false
	}
	u.o.OnError(err)
	return true
}

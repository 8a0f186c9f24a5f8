package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// Informer keeps a cache equal to what a source holds. Make it with [New]; it does nothing until Run. Its methods are safe
// for use by several goroutines at once.
type Informer[T meta.Object] struct {
	source Source[T]
	o      Options
	store  *cache.Store[T]
	record record

	mu      sync.Mutex // guards running and span
	running bool       // Run is under way
	span    *span      // of the Run that is under way or, before the next, of the last one

	at state // where the reflector was when the last Run ended; only the Run that is under way touches it

	once   sync.Once
	synced chan struct{} // closed when the first list is complete
}

// span is the life of one Run, for those who wait for what it does.
type span struct {
	ended chan struct{} // closed when the Run ends
	err   error         // why it did; written before ended is closed, read after
}

func newSpan() *span { return &span{ended: make(chan struct{})} }

// New returns an informer of the objects of src. Options that cannot be right are reported by Run.
func New[T meta.Object](src Source[T], o Options) *Informer[T] {
	return &Informer[T]{
		source: src, o: o, store: cache.NewStore[T](),
		span: newSpan(), synced: make(chan struct{}),
	}
}

// Run keeps the cache current and calls the subscribers' handlers until ctx ends; then it returns nil, after every handler
// has returned. Whatever the server does, Run goes on. It returns an error at once if options or source cannot be right, or
// if it is running already. It may be run again later: it then resumes where it was, with the cache that it had.
func (i *Informer[T]) Run(ctx context.Context) (err error) {
	if err := i.begin(); err != nil {
		return err
	}
	defer func() { i.end(err) }()
	if any(i.source) == nil {
		return errors.New("run informer: the source is nil")
	}
	if err := i.o.validate(); err != nil {
		return fmt.Errorf("run informer of %s: %w", i.name(), err)
	}
	r := &reflector[T]{
		source: i.source, o: i.o, store: i.store, record: &i.record,
		synced: func() { i.once.Do(func() { close(i.synced) }) },
	}
	ctx, cancel := context.WithCancel(ctx)
	var (
		wg              sync.WaitGroup
		follow, deliver error
	)
	wg.Go(func() {
		defer cancel()
		deliver = i.store.Deliver(ctx, func(p *cache.PanicError) { r.report(p) })
	})
	func() {
		// Functions of indexes run in here. One that panics must not leave the handlers running, nor a later Run at the
		// version where this one began, which would show the past again: that one lists.
		defer wg.Wait()
		defer cancel()
		from := i.at
		i.at = state{cause: Reset}
		i.at, follow = r.run(ctx, from)
	}()
	return errors.Join(follow, deliver)
}

func (i *Informer[T]) begin() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running {
		return fmt.Errorf("run informer of %s: it is running already", i.source.GVR())
	}
	select {
	case <-i.span.ended:
		i.span = newSpan()
	default: // this is the first Run
	}
	i.running = true
	return nil
}

var errStopped = errors.New("the informer has been stopped")

func (i *Informer[T]) end(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		err = errStopped
	}
	i.running, i.span.err = false, err
	close(i.span.ended)
}

// WaitSynced returns nil when the cache holds a complete list, that of an earlier Run included. It may be called before
// Run. When ctx ends before, it returns why there is none: ctx's cause and the last error of the server. When Run ends
// before, or has ended and was not called again, it returns Run's error, or the server's.
func (i *Informer[T]) WaitSynced(ctx context.Context) error {
	i.mu.Lock()
	span := i.span
	i.mu.Unlock()
	var why error
	select {
	case <-i.synced:
	case <-span.ended:
		why = span.err
	case <-ctx.Done():
		why = fmt.Errorf("%w, while %s", context.Cause(ctx), i.record.copy().State)
	}
	select {
	case <-i.synced: // also where it has come together with an end
		return nil
	default:
	}
	if last := i.record.copy().Err; last != nil && !errors.Is(why, last) {
		return fmt.Errorf("sync %s: %w; last error: %w", i.name(), why, last)
	}
	return fmt.Errorf("sync %s: %w", i.name(), why)
}

// Reader returns the cache. It can be used at any time; before the first list it is empty. Objects in it are shared: use
// meta.Clone before changing one.
func (i *Informer[T]) Reader() cache.Reader[T] { return i.store.Reader() }

// Subscribe has h called with every change from now on, beginning with the objects that the cache holds; see package cache
// for what is guaranteed. Handlers are called while Run runs.
func (i *Informer[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	return i.store.Reader().Subscribe(h)
}

// Status says how the informer is doing.
func (i *Informer[T]) Status() Status {
	s := i.record.copy()
	r := i.store.Reader()
	s.Objects, s.ResourceVersion = r.Len(), r.ResourceVersion()
	return s
}

// String names the informer.
func (i *Informer[T]) String() string { return "informer of " + i.name() }

func (i *Informer[T]) name() string {
	if any(i.source) == nil {
		return "nothing"
	}
	return i.source.GVR().String()
}

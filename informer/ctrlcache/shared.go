package ctrlcache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/go-logr/logr"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// shared shows an informer of package informer as client-go's SharedIndexInformer.
type shared[T meta.Object] struct {
	*informer.Informer[T]
	indexer *indexer[T]
	hooks   *hooks                      // the functions that the user may still set; nil if the informer existed before
	period  time.Duration               // of the resync of a handler that names none
	synced  chan struct{}               // closed when the cache is complete for the first time
	stopped chan struct{}               // closed when Run has returned
	log     atomic.Pointer[logr.Logger] // of Run

	// mu guards the fields below. A task is added to tasks only while running is set. Run unsets running before it
	// waits for the tasks.
	mu      sync.Mutex
	started bool
	running bool
	later   []func(ending <-chan struct{}) // tasks to start when Run begins
	tasks   sync.WaitGroup
	ending  chan struct{} // closed when the tasks must end
}

var _ toolscache.SharedIndexInformer = &shared[meta.Object]{}

func newShared[T meta.Object](inf *informer.Informer[T], h *hooks, period time.Duration) *shared[T] {
	return &shared[T]{
		Informer: inf, indexer: newIndexer(inf.Reader()), hooks: h, period: period,
		synced: make(chan struct{}), stopped: make(chan struct{}), ending: make(chan struct{}),
	}
}

// hooks are the functions of an informer that client-go lets its users set until it runs.
type hooks struct {
	transform toolscache.TransformFunc
	onError   toolscache.WatchErrorHandlerWithContext
	reflector *toolscache.Reflector // passed to onError; it does not run
	report    atomic.Pointer[func(error)]
}

var errRanBefore = errors.New("the informer has run before, and runs only once")

// run runs the informer until ctx ends.
func (s *shared[T]) run(ctx context.Context) error {
	if !s.begin() {
		return errRanBefore
	}
	log := loggerIn(ctx)
	s.log.Store(&log)
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	defer s.end()
	defer waiting.Wait()
	defer cancel()
	waiting.Go(func() {
		if s.WaitSynced(ctx) == nil {
			close(s.synced)
		}
	})
	if s.hooks != nil && s.hooks.onError != nil {
		report := func(err error) { s.hooks.onError(ctx, s.hooks.reflector, translated(err)) }
		s.hooks.report.Store(&report)
	}
	return s.Informer.Run(ctx)
}

func (s *shared[T]) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return false
	}
	s.started, s.running = true, true
	for _, task := range s.later {
		s.tasks.Go(func() { task(s.ending) })
	}
	s.later = nil
	return true
}

func (s *shared[T]) end() {
	s.mu.Lock()
	s.running = false
	close(s.ending)
	s.mu.Unlock()
	s.tasks.Wait()
	close(s.stopped)
}

// attend runs a task while the informer runs. The task returns soon after ending is closed.
func (s *shared[T]) attend(task func(ending <-chan struct{})) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attendLocked(task)
}

func (s *shared[T]) attendLocked(task func(ending <-chan struct{})) {
	switch {
	case s.running:
		s.tasks.Go(func() { task(s.ending) })
	case !s.started:
		s.later = append(s.later, task)
	}
}

// Run implements SharedInformer. It reports no error to its caller; see RunWithContext.
func (s *shared[T]) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	waiting.Go(func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	})
	s.RunWithContext(ctx)
}

// RunWithContext runs until ctx ends. It returns earlier if the informer cannot run, and then logs the error.
func (s *shared[T]) RunWithContext(ctx context.Context) {
	if err := s.run(ctx); err != nil {
		loggerIn(ctx).Error(err, "the informer cannot run", "informer", s.Informer.String())
	}
}

// AddEventHandler implements SharedInformer.
func (s *shared[T]) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithResyncPeriod(h, s.period)
}

// AddEventHandlerWithOptions implements SharedInformer. It does not use the logger.
func (s *shared[T]) AddEventHandlerWithOptions(
	h toolscache.ResourceEventHandler, o toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	period := s.period
	if o.ResyncPeriod != nil {
		period = *o.ResyncPeriod
	}
	return s.AddEventHandlerWithResyncPeriod(h, period)
}

var errStopped = errors.New("add event handler: the informer has stopped")

// AddEventHandlerWithResyncPeriod implements SharedInformer.
func (s *shared[T]) AddEventHandlerWithResyncPeriod(
	h toolscache.ResourceEventHandler, period time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	if h == nil {
		return nil, errors.New("add event handler: the handler must not be nil")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started && !s.running {
		return nil, errStopped
	}
	r := newRegistration(s.Informer, h, period, s.failed)
	if period > 0 {
		s.attendLocked(r.resyncEvery)
	}
	return r, nil
}

// RemoveEventHandler implements SharedInformer. A call of the handler that is in progress may end later.
func (s *shared[T]) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration[T])
	if !ok {
		return errors.New("remove event handler: the registration belongs to another informer")
	}
	r.sub.Close()
	return nil
}

// AddIndexers implements SharedIndexInformer. It may be called while the informer runs, and refuses names that are
// taken.
func (s *shared[T]) AddIndexers(more toolscache.Indexers) error {
	if s.IsStopped() {
		return errors.New("add indexers: the informer has stopped")
	}
	return s.indexer.AddIndexers(more)
}

func (s *shared[T]) GetIndexer() toolscache.Indexer { return s.indexer }
func (s *shared[T]) GetStore() toolscache.Store     { return s.indexer }

// HasSynced reports whether the cache has been complete.
func (s *shared[T]) HasSynced() bool { return isClosed(s.synced) }

func (s *shared[T]) HasSyncedChecker() toolscache.DoneChecker {
	return checker{s.Informer.String(), s.synced}
}

// IsStopped reports whether Run has returned.
func (s *shared[T]) IsStopped() bool { return isClosed(s.stopped) }

func (s *shared[T]) LastSyncResourceVersion() string { return s.Reader().ResourceVersion() }

// GetController returns the informer with a Run that does nothing, as in client-go.
func (s *shared[T]) GetController() toolscache.Controller { return idle[T]{s} }

type idle[T meta.Object] struct{ *shared[T] }

func (idle[T]) Run(<-chan struct{})            {}
func (idle[T]) RunWithContext(context.Context) {}

// SetTransform implements SharedInformer.
func (s *shared[T]) SetTransform(f toolscache.TransformFunc) error {
	return s.set(func() { s.hooks.transform = f })
}

// SetWatchErrorHandler implements SharedInformer.
func (s *shared[T]) SetWatchErrorHandler(f toolscache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *toolscache.Reflector, err error) { f(r, err) })
}

// SetWatchErrorHandlerWithContext implements SharedInformer.
func (s *shared[T]) SetWatchErrorHandlerWithContext(f toolscache.WatchErrorHandlerWithContext) error {
	return s.set(func() { s.hooks.onError = f })
}

func (s *shared[T]) set(change func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.started:
		return errors.New("the informer has already started")
	case s.hooks == nil:
		return errors.New("the informer has its transform and its Options.OnError already: " +
			"use informer.Transform, or NewInformer")
	}
	change()
	return nil
}

// failed logs an error that no function receives.
func (s *shared[T]) failed(err error, what string, values ...any) {
	log := klog.Background()
	if l := s.log.Load(); l != nil {
		log = *l
	}
	log.Error(err, what, append(values, "informer", s.Informer.String())...)
}

// loggerIn returns the logger of a context, or else client-go's.
func loggerIn(ctx context.Context) logr.Logger {
	if log, err := logr.FromContext(ctx); err == nil {
		return log
	}
	return klog.Background()
}

// checker is a client-go DoneChecker.
type checker struct {
	name string
	done <-chan struct{}
}

func (c checker) Name() string          { return c.name }
func (c checker) Done() <-chan struct{} { return c.done }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

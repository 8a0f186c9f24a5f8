package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/internal/store"
	"github.com/bowline-go/bowline/internal/undertest"
)

// engine keeps the cache of an [Informer] current.
type engine[T meta.Object] struct {
	source Source[T]
	o      Options
	store  *store.Store[T]
	test   *undertest.Test  // the test that uses the source; nil outside of tests
	checks bool             // the store checks for objects that the program has changed
	log    *report.Log      // for errors that no hook takes
	hook   func(error) bool // replaces Options.OnError in a shared informer; see hand

	follower  Follower  // of the current Run; Run sets it before its goroutines begin
	observers observers // of the current Run, or of the last one; Run sets them before its goroutines begin

	// shape is held while scopes and their writers change. During a Run only Run changes them; without one, New and
	// SetNamespaces do. It is locked before mu, and before the locks of the store.
	shape  sync.Mutex
	vacant *store.Writer[T] // exists while no namespace is wanted; guarded by shape

	mu      sync.Mutex           // guards the fields below
	running bool                 // Run is under way
	span    *span                // of the current Run, or of the last one
	over    bool                 // the last Run has ended
	want    []string             // the namespaces to follow, ordered; one empty name stands for all of them
	listed  map[string]bool      // those of want that have been listed completely
	expired map[string]bool      // those of listed that have not been current in this Run
	scopes  map[string]*scope[T] // by namespace; a holder of shape may read them without mu
	synced  chan struct{}        // closed while every wanted namespace is listed and current
	shares  shares               // with Options.Shards

	// leaving are the namespaces that are about to leave the cache, ordered. A list of one of them that completes now
	// does not count.
	leaving []string
	warned  bool                  // an early read has been reported
	refused error                 // see Refuse
	awaited map[*atomic.Int64]int // see AwaitedBy
	// former are the namespaces that were removed from want since all of want were last listed.
	former map[string]bool
	// partly says that a controller works without the missing namespaces. Reads of all namespaces are then not early.
	partly bool
	news   chan struct{} // closed, and replaced, when the result of Namespaces is out of date

	// While withhold is set, the method mutated collects errors in withheld and does not report them. It is set while
	// shape is held outside a Run: OnError may call SetNamespaces, which waits for shape.
	withhold bool
	withheld []error

	changed chan struct{} // holds a token when want has changed
}

// span is one Run, for callers that wait for it.
type span struct {
	ended chan struct{} // closed when the Run ends
	err   error         // the reason; written before ended is closed, read after
	next  chan struct{} // closed when the next Run begins
}

func newSpan() *span { return &span{ended: make(chan struct{}), next: make(chan struct{})} }

// follows returns the span of the next Run, and marks that this Run has begun.
func (s *span) follows() *span {
	close(s.next)
	return newSpan()
}

// nextRun is how long a wait that begins between two Runs waits for the next one.
const nextRun = 5 * time.Second

// waitNext waits up to nextRun for the next Run, if the last one has ended because its context ended. The error of that
// Run is then the argument stopped. Otherwise waitNext returns at once. A program that runs an informer again may wait
// for it just before the Run begins.
func (s *span) waitNext(ctx context.Context, stopped error) {
	select {
	case <-s.ended:
	default:
		return
	}
	if !errors.Is(s.err, stopped) {
		return
	}
	patience := time.NewTimer(nextRun)
	defer patience.Stop()
	select {
	case <-s.next:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// sampledInTests is how many objects an informer checks at a time if clienttest has given it a test to fail. It bounds
// the cost in tests with large caches.
const sampledInTests = 1000

func newEngine[T meta.Object](src Source[T], o Options) *engine[T] {
	i := &engine[T]{
		o: o, test: handle.Of(src).Test, log: report.New(o.Logger),
		span: newSpan(), want: []string{o.Namespace}, listed: make(map[string]bool), expired: make(map[string]bool),
		synced: make(chan struct{}), changed: make(chan struct{}, 1), former: make(map[string]bool), news: make(chan struct{}),
	}
	i.source, i.store = cached(src, o, i.report)
	if o.Namespaces != nil {
		i.o.Namespaces = slices.Clone(o.Namespaces)
		i.want = slices.Sorted(slices.Values(o.Namespaces))
	}
	i.checks = o.CheckMutations > 0 || i.test != nil
	switch {
	case o.CheckMutations > 0:
		i.store.CheckMutations(o.CheckMutations, math.MaxInt, func(m *store.Mutation) { i.mutated((*cache.MutationError)(m)) })
	case i.test != nil:
		i.store.CheckMutations(1, sampledInTests, func(m *store.Mutation) { i.test.Misused(fmt.Errorf("%s: %w", i, (*cache.MutationError)(m))) })
	}
	i.arrange(nil)
	return i
}

// run is Run of an informer that [New] returned.
func (i *engine[T]) run(ctx context.Context) (err error) {
	if err := i.begin(); err != nil {
		return err
	}
	defer func() { i.end(err) }()
	i.log.Start(ctx)
	defer i.log.Stop()
	if i.checks {
		defer i.store.Sweep() // finds changes since the last sweep
	}
	if err := i.check(); err != nil {
		return err
	}
	defer i.observe(ctx)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	delivered, err := i.store.Begin(ctx, func(p *store.Panic) { i.report((*cache.PanicError)(p)) })
	if err != nil {
		return err
	}
	// An index function may panic below. The handlers must not go on running after that.
	defer delivered()
	defer cancel()
	return i.follow(ctx)
}

// check returns the reason why the informer cannot run.
func (i *engine[T]) check() error {
	if any(i.source) == nil {
		return errors.New("run informer: the source must not be nil")
	}
	if err := i.o.validate(); err != nil {
		return fmt.Errorf("run %v: %w", i, err)
	}
	if err := i.refusal(); err != nil {
		return fmt.Errorf("run %v: %w", i, err)
	}
	if i.o.Shards != nil && i.o.Shards.By() == meta.ShardByNamespace && handle.Of(i.source).ClusterWide {
		return fmt.Errorf("run %v: informer.Options: Shards: %w", i, undivided(i.source.GVR()))
	}
	if _, err := i.open(i.o.Namespace); err != nil { // start opens each namespace again, with the same result
		return fmt.Errorf("run %v: %w", i, err)
	}
	return nil
}

func (i *engine[T]) begin() error {
	i.shape.Lock() // not during SetNamespaces
	defer i.shape.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running {
		return &runners.RunningError{What: i.String(), Ended: i.span.ended}
	}
	select {
	case <-i.span.ended:
		i.span = i.span.follows()
	default: // this is the first Run
	}
	i.running, i.over, i.shares.known = true, false, false
	return nil
}

var errStopped = errors.New("the informer has been stopped")

// end ends the Run. It first applies a change of the namespaces that the loop of follow did not see, because the next
// Run may begin much later.
func (i *engine[T]) end(err error) {
	err = cmp.Or(err, errStopped)
	for done := false; !done; {
		i.arrange(nil)
		i.expire()
		done = i.leave(err)
	}
	i.store.EndWaits(func(string) bool { return true })
}

// leave ends the Run and returns true. If the namespaces have changed again, it does not end the Run, and returns
// false.
func (i *engine[T]) leave(err error) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	select {
	case <-i.changed:
		return false
	default:
	}
	i.running, i.span.err = false, err
	close(i.span.ended)
	return true
}

// expire marks the cache as not current, because nothing keeps it current until the next Run.
func (i *engine[T]) expire() {
	i.shape.Lock()
	defer i.shape.Unlock()
	for _, s := range i.scopes { // without mu, because a store calls functions of the user with its locks held
		s.writer.Expire()
		s.record.expire()
		s.at.unproven = s.at.version != ""
		s.at.ask = s.at.unproven
		s.at.polling, s.at.deaf = false, false // the next Run detects and reports polling anew
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for ns := range i.listed {
		i.expired[ns] = true
	}
	i.over = true
	i.settle()
}

// Away implements filler.Filler.
func (i *engine[T]) Away() error {
	s := i.status()
	if err := s.fault(); err != nil {
		return err
	}
	return i.stale(s)
}

// Stale implements filler.Filler.
func (i *engine[T]) Stale() error { return i.stale(i.status()) }

func (i *engine[T]) stale(s Status) error {
	if !s.Stale {
		return nil
	}
	if s.Err == nil {
		return fmt.Errorf("the cache was last renewed %v ago", time.Since(s.Renewed).Round(time.Second))
	}
	return fmt.Errorf("the cache was last renewed %v ago: %w", time.Since(s.Renewed).Round(time.Second), s.Err)
}

// status is [Informer.Status].
func (i *engine[T]) status() Status {
	i.mu.Lock()
	running := i.running
	scopes := slices.Collect(maps.Values(i.scopes))
	synced, shares := i.allCurrent(), i.shares
	i.mu.Unlock()

	parts := make(map[string]Status, len(scopes))
	for _, s := range scopes {
		part := s.record.copy()
		part.Objects, part.ResourceVersion = i.store.Count(s.namespace), s.writer.ResourceVersion()
		part.Stale = part.Synced && i.o.isStale(part.Renewed)
		parts[s.namespace] = part
	}
	if i.o.Namespaces == nil {
		s := parts[i.o.Namespace]
		if i.o.Shards != nil {
			s.Ranges, s.Synced, s.Stale = shares.has, synced, s.Stale && synced
			if running && shares.isEmpty() { // it follows no range, and makes no request
				s.State, s.Stale = Watching, false
			}
		}
		return i.encoded(s)
	}
	all := i.encoded(summary(parts))
	all.Objects, all.ResourceVersion, all.Synced = i.store.Count(""), i.store.ResourceVersion(), synced
	if len(parts) == 0 && running {
		all.State = Watching // it watches nothing
	}
	return all
}

// encoded returns s with the name of the informer and the encoding in which objects arrive.
func (i *engine[T]) encoded(s Status) Status {
	s.Name = i.o.called()
	var why error
	if s.Protobuf, why = handle.Of(i.source).Encoding.Get(); why != nil {
		s.WhyJSON = why.Error()
	}
	return s
}

// mutated reports a finding of the mutation check, or keeps it for later.
func (i *engine[T]) mutated(err error) {
	i.mu.Lock()
	later := i.withhold
	if later {
		i.withheld = append(i.withheld, err)
	}
	i.mu.Unlock()
	if !later {
		i.report(err)
	}
}

func (i *engine[T]) resource() string {
	if any(i.source) == nil {
		return "nothing"
	}
	return i.source.GVR().String()
}

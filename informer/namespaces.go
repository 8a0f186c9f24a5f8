package informer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/store"
)

// scope is a collection with its own list and watch: one namespace, or all of them. An informer of several namespaces
// has a scope for each.
type scope[T meta.Object] struct {
	namespace string
	writer    *store.Writer[T]
	record    record
	at        state    // where its reflector ended; only Run touches it
	portion   *portion // nil if every range is followed
}

// setNamespaces is [Informer.SetNamespaces].
func (i *engine[T]) setNamespaces(namespaces []string) error {
	if i.o.Namespaces == nil {
		return fmt.Errorf("set namespaces of %v: "+
			"informer.Options: Namespaces must not be nil; an empty slice is enough", i)
	}
	if err := validNamespaces("", "namespaces", namespaces); err != nil {
		return fmt.Errorf("set namespaces of %v: %w", i, err)
	}
	want := slices.Sorted(slices.Values(namespaces))
	if i.ask(want) {
		return nil
	}
	for _, err := range i.set(want) {
		i.report(err)
	}
	return nil
}

// set changes the namespaces itself if no Run is under way. It returns the errors that occurred.
func (i *engine[T]) set(want []string) []error {
	i.shape.Lock() // keeps a Run from beginning
	defer i.shape.Unlock()
	if i.ask(want) {
		return nil
	}
	i.mu.Lock()
	i.want, i.withhold = want, true
	i.mu.Unlock()
	i.rearrange(nil)
	i.mu.Lock()
	defer i.mu.Unlock()
	errs := i.withheld
	i.withhold, i.withheld = false, nil
	return errs
}

// ask leaves a change of the namespaces to the current Run; it returns false if there is none.
func (i *engine[T]) ask(want []string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.running {
		return false
	}
	i.want = want
	i.settle()
	select {
	case i.changed <- struct{}{}:
	default: // a token is there already
	}
	return true
}

// arrange replaces the scopes by those that the wanted namespaces need. halt stops the work on a scope; it is nil if no
// Run is under way.
func (i *engine[T]) arrange(halt func([]*scope[T])) {
	i.shape.Lock()
	defer i.shape.Unlock() // also if an index function panics
	i.rearrange(halt)
}

// rearrange is arrange for callers that hold shape. It logs nothing while shape is held, because a logger may use the
// informer.
func (i *engine[T]) rearrange(halt func([]*scope[T])) {
	want, over := i.plan()
	if halt != nil {
		halt(over)
	}
	// New writers begin before old ones end, so that a subscriber in between is not synced too early.
	scopes := make(map[string]*scope[T])
	for _, ns := range want {
		s := i.scopes[ns]
		if s == nil {
			s = &scope[T]{namespace: ns, writer: i.store.Writer(ns), portion: newPortion(i.o)}
		}
		scopes[ns] = s
	}
	i.beVacant(len(want) == 0)
	for _, s := range over {
		s.writer.Drop()
		i.log.GivenUp(aboutServer + s.namespace) // ends the failure without a log line
		i.log.GivenUp(aboutObjects + s.namespace)
		i.log.GivenUp(aboutPolling + s.namespace)
	}
	i.mu.Lock()
	i.scopes, i.leaving = scopes, nil
	i.settle()
	i.mu.Unlock()
	if i.o.Namespaces != nil {
		i.store.EndWaits(func(ns string) bool { return !among(want, ns) })
	}
}

// nowhere is a name that no namespace can have.
const nowhere = "/"

// beVacant gives a store without namespaces a writer that has committed an empty list, so that subscriptions become
// synced.
func (i *engine[T]) beVacant(vacant bool) {
	switch {
	case vacant && i.vacant == nil:
		i.vacant = i.store.Writer(nowhere)
		i.vacant.Relist().Commit("")
	case !vacant && i.vacant != nil:
		i.vacant.Drop()
		i.vacant = nil
	}
}

// plan returns the wanted namespaces, and the scopes of namespaces that are no longer wanted. These namespaces count as
// not listed from now on.
func (i *engine[T]) plan() (want []string, over []*scope[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leaving = nil
	for ns, s := range i.scopes {
		if among(i.want, ns) {
			continue
		}
		over = append(over, s)
		delete(i.listed, ns)
		delete(i.expired, ns)
		i.former[ns] = true
		i.leaving = append(i.leaving, ns)
	}
	slices.Sort(i.leaving)
	return i.want, over
}

// settle updates the signals for waiters and readers to the current state. The caller holds mu.
func (i *engine[T]) settle() {
	all, current := i.allListed(), i.allCurrent()
	i.renews(current)
	if all || i.warned || i.o.AllowEarlyReads {
		i.store.OnRead(nil)
	} else {
		i.store.OnRead(i.early)
	}
	select {
	case <-i.synced:
		if !current {
			i.synced = make(chan struct{})
		}
	default:
		if current {
			close(i.synced)
		}
	}
}

// allListed reports whether the cache has a complete list of every wanted namespace. The caller holds mu.
func (i *engine[T]) allListed() bool {
	if i.o.Shards != nil {
		return i.shares.known && i.shares.want.Minus(i.shares.has) == (meta.Ranges{})
	}
	return !slices.ContainsFunc(i.want, func(ns string) bool { return !i.listed[ns] })
}

// allCurrent reports whether the cache has a complete list of every wanted namespace that is current in this Run. The
// caller holds mu.
func (i *engine[T]) allCurrent() bool {
	if i.o.Shards != nil {
		return i.allListed() && !i.over // each Run lists its ranges again
	}
	return !slices.ContainsFunc(i.want, func(ns string) bool { return !i.isCurrent(ns) })
}

// isCurrent reports whether a namespace has been listed and is current in this Run. The caller holds mu.
func (i *engine[T]) isCurrent(ns string) bool { return i.listed[ns] && !i.expired[ns] }

// wasListed notes that the cache holds a complete list of a namespace. It ignores a namespace that is about to leave
// the cache, even one that is wanted again by now, because it leaves first.
func (i *engine[T]) wasListed(ns string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !among(i.leaving, ns) {
		i.listed[ns] = true
		delete(i.expired, ns)
	}
	i.settle()
}

// renew resets an informer that is not running to its initial state, except that indexes and subscriptions stay:
// subscribers are told that the objects are deleted.
func (i *engine[T]) renew() {
	i.shape.Lock()
	defer i.shape.Unlock()
	i.mu.Lock()
	old := i.scopes
	i.scopes, i.span, i.shares, i.partly = nil, i.span.follows(), shares{}, false
	clear(i.listed)
	clear(i.expired)
	i.settle()
	i.mu.Unlock()
	i.beVacant(false)
	meanwhile := i.store.Writer(nowhere) // keeps a new subscriber from being synced before the next list
	for _, s := range old {
		s.writer.Drop()
	}
	i.rearrange(nil)
	if i.vacant == nil {
		meanwhile.Drop()
	}
}

// among reports whether an ordered slice contains s.
func among(ordered []string, s string) bool {
	_, found := slices.BinarySearch(ordered, s)
	return found
}

// sweepEvery is the interval of the mutation check; see Options.CheckMutations.
const sweepEvery = time.Minute

// follow runs the reflector of every scope, and rearranges the scopes on request, until ctx ends or a reflector cannot
// go on. All its goroutines have returned when it returns.
func (i *engine[T]) follow(ctx context.Context) error {
	f := &following[T]{i: i, pursuits: make(map[*scope[T]]*pursuit)}
	if i.o.Shards != nil {
		i.follower = i.o.Shards.Follow(i.name())
		defer i.follower.Leave()
	}
	ctx, f.cancel = context.WithCancel(ctx)
	defer func() { // OnError may panic at a sweep, and no goroutine may remain then
		f.cancel()
		f.haltAll()
	}()
	var sweep <-chan time.Time // never fires unless the check is on
	if i.checks {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		sweep = ticker.C
	}
	for {
		i.arrange(f.halt)
		reshared := f.reshare()
		for _, s := range i.scopes {
			f.start(ctx, s)
		}
		select {
		case <-ctx.Done():
			f.haltAll()
			return f.result()
		case <-i.changed:
		case <-reshared:
		case <-sweep:
			i.store.Sweep()
		}
	}
}

// following is the work of one Run: a goroutine for each scope.
type following[T meta.Object] struct {
	i        *engine[T]
	cancel   context.CancelFunc // ends all of them, and the Run
	pursuits map[*scope[T]]*pursuit
	err      error    // why a scope could not go on
	panicked *relayed // the first panic
	shared   bool     // the ranges to follow are known
}

// pursuit is the goroutine that follows one scope.
type pursuit struct {
	cancel   context.CancelFunc
	ended    chan struct{} // closed at the end; err and panicked are written before, and read after
	err      error
	panicked *relayed
}

// start begins to follow s, unless it is followed already. halt ends the goroutine and waits for it.
func (f *following[T]) start(ctx context.Context, s *scope[T]) {
	if f.pursuits[s] != nil || s.portion.nothing() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &pursuit{cancel: cancel, ended: make(chan struct{})}
	f.pursuits[s] = p
	r := f.i.reflector(s)
	r.kept, p.err = f.i.open(s.namespace)
	if p.err != nil {
		close(p.ended)
		f.cancel()
		return
	}
	go func() {
		defer close(p.ended)
		// The reflector calls functions of the program: index functions, the function of a Filter, OnError.
		guard.Call(func() {
			r.s = s.at
			// If a function panics, it is unknown how much of the watch has been applied. The next Run then begins with
			// a list, because a resumed watch would apply old events again.
			s.at = state{cause: Reset, seen: r.s.seen}
			end, sound := f.i.keep(s, r.kept), false
			defer func() { end(sound) }()
			if p.err = r.run(ctx); p.err != nil {
				f.cancel()
			}
			s.at, sound = r.s, true
		}, func(value any) {
			if value == nil {
				p.err = fmt.Errorf("follow %s: an index function, a Filter or OnError %w", f.i.where(s.namespace), guard.ErrExited)
			} else {
				p.panicked = &relayed{value, debug.Stack()}
			}
			f.cancel()
		})
	}()
}

// reflector returns the reflector of a scope.
func (i *engine[T]) reflector(s *scope[T]) *reflector[T] {
	s.record.says(func() { i.log.Works(aboutServer + s.namespace) })
	return &reflector[T]{
		streaming: handle.Of(i.source).StreamingLists,
		informer:  i, source: i.source, o: i.o, namespace: s.namespace, writer: s.writer, record: &s.record, portion: s.portion,
		synced: func() {
			i.wasListed(s.namespace)
			i.covered(s)
			if i.checks {
				i.store.Sweep()
			}
		},
	}
}

// halt stops the work on scopes, and waits for it. It skips scopes without a goroutine.
func (f *following[T]) halt(scopes []*scope[T]) {
	for _, s := range scopes {
		if p := f.pursuits[s]; p != nil {
			p.cancel()
		}
	}
	for _, s := range scopes {
		p := f.pursuits[s]
		if p == nil {
			continue
		}
		<-p.ended
		delete(f.pursuits, s)
		f.err = errors.Join(f.err, p.err)
		if f.panicked == nil {
			f.panicked = p.panicked
		}
	}
}

func (f *following[T]) haltAll() { f.halt(slices.Collect(maps.Keys(f.pursuits))) }

// result returns why the work ended by itself, if it did. It repeats a panic in the goroutine of Run.
func (f *following[T]) result() error {
	if f.panicked != nil {
		panic(f.panicked)
	}
	return f.err
}

// relayed is a panic of another goroutine, with the stack of that goroutine, which would otherwise be lost.
type relayed struct {
	value any
	stack []byte
}

func (r *relayed) Error() string { return fmt.Sprintf("%v\n\n%s", r.value, r.stack) }

// Unwrap returns the value if it is an error, as it is for run-time errors.
func (r *relayed) Unwrap() error {
	err, _ := r.value.(error)
	return err
}

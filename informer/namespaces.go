package informer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/inside"
)

// Extended is the cause of a relist of a wide watch: namespaces were added to those that it serves.
const Extended Cause = "Extended"

// scope is a collection that is listed and watched by itself: one namespace, or all of them. An informer of several
// namespaces has a scope for each, or a wide one from which it takes those that it covers.
type scope[T meta.Object] struct {
	namespace string
	covers    []string // of a wide scope: the namespaces that are wanted of it, ordered; otherwise nil
	writer    *cache.Writer[T]
	record    record
	at        state // where its reflector was when it ended; only Run touches it
	// succeeds says that the writer began with objects that others have left: what comes must not be older than they.
	succeeds bool
}

// names returns the namespaces whose objects are the scope's.
func (s *scope[T]) names() []string {
	if s.covers != nil {
		return s.covers
	}
	return []string{s.namespace}
}

// SetNamespaces makes these the namespaces of an informer with Options.Namespaces. It may be called at any time. The
// objects of a namespace that is not among them any more leave the cache, and handlers are told of each by OnDelete; those
// of a new one arrive by OnAdd when it has been listed, and until then the informer is not synced. All others stay as they
// are. While Run is under way it does that, soon after SetNamespaces has returned.
//
// A wide watch (Options.WideAbove) is resumed without the namespaces that are gone, and lists again for those that are new.
// Where their number crosses the threshold everything is listed, and the cache stays as it is until that is done.
//
// It returns an error, and changes nothing, if a name is not one, or is there twice, or if the informer was made without
// Options.Namespaces. None, nil included, is no namespace.
func (i *Informer[T]) SetNamespaces(namespaces []string) error {
	if i.o.Namespaces == nil {
		return fmt.Errorf("set namespaces of %v: informer.Options: Namespaces must not be nil (it may be empty) for this", i)
	}
	if err := validNamespaces("namespaces", namespaces); err != nil {
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

// set changes the namespaces, by itself if no Run is under way. It returns the errors that it came upon.
func (i *Informer[T]) set(want []string) []error {
	i.shape.Lock() // keeps a Run from beginning
	defer i.shape.Unlock()
	if i.ask(want) {
		return nil
	}
	i.mu.Lock()
	i.want, i.withhold = want, true
	i.mu.Unlock()
	i.rearrange(nil) // what it would have the log say is of a Run, and none is under way
	i.mu.Lock()
	defer i.mu.Unlock()
	errs := i.withheld
	i.withhold, i.withheld = false, nil
	return errs
}

// ask leaves a change of the namespaces to the Run that is under way; it reports false if there is none.
func (i *Informer[T]) ask(want []string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.running {
		return false
	}
	i.want = want
	i.settle()
	select {
	case i.changed <- struct{}{}:
	default: // it has not looked since the last change
	}
	return true
}

// arrange makes the scopes those that the wanted namespaces need. halt ends what works on a scope; it is nil where nothing
// does.
func (i *Informer[T]) arrange(halt func([]*scope[T])) {
	var say []func()
	func() {
		i.shape.Lock()
		defer i.shape.Unlock() // also where a function of an index panics
		say = i.rearrange(halt)
	}()
	for _, line := range say {
		line()
	}
}

// rearrange is arrange for callers that hold shape. It returns calls of the log, which are made when shape has been released.
func (i *Informer[T]) rearrange(halt func([]*scope[T])) (say []func()) {
	want, left, over := i.plan()
	if halt != nil {
		halt(over)
	}
	// New writers come before old ones go: the objects find somewhere to stay, and who subscribes meanwhile is not synced
	// too early.
	scopes := make(map[string]*scope[T])
	for _, ns := range i.split(want) {
		s := i.scopes[ns]
		if s == nil {
			s = &scope[T]{namespace: ns, writer: i.store.Writer(ns), succeeds: len(over) > 0}
		}
		scopes[ns] = s
	}
	// Where nothing has changed the scope has not been halted, and its reflector may be about to note what it has listed.
	if s := scopes[""]; s != nil && i.o.Namespaces != nil && !slices.Equal(s.covers, want) {
		if s.covers != nil && !amongAll(s.covers, want) && s.at.version != "" { // it has been halted for that
			s.at = state{cause: Extended, seen: s.at.seen}
		}
		s.covers = want
		s.writer.Restrict(i.listedOf(want)) // what is new is not in the cache, however far the version is
		if s.record.keepUndecodable(func(k meta.Key) bool { return among(want, k.Namespace) }) {
			say = append(say, func() { i.log.Works(aboutObjects + s.namespace) })
		}
	}
	i.beVacant(len(want) == 0)
	for _, ns := range left {
		i.vacate(ns)
	}
	for _, s := range over {
		if scopes[s.namespace] != s {
			s.writer.Detach()
			say = append(say, func() {
				i.log.GivenUp(aboutServer + s.namespace)
				i.log.GivenUp(aboutObjects + s.namespace)
			})
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.scopes, i.leaving = scopes, nil
	i.settle()
	return say
}

// vacate removes the objects of a namespace. A wide writer still covers it, so dropping its own does not do.
func (i *Informer[T]) vacate(namespace string) {
	w := i.store.Writer(namespace)
	w.Relist().Commit(w.ResourceVersion())
	w.Detach()
}

// nowhere is the name of no namespace.
const nowhere = "/"

// beVacant gives a store without namespaces a writer that has committed an empty list, so that subscriptions become synced.
func (i *Informer[T]) beVacant(vacant bool) {
	switch {
	case vacant && i.vacant == nil:
		i.vacant = i.store.Writer(nowhere)
		i.vacant.Relist().Commit("")
	case !vacant && i.vacant != nil:
		i.vacant.Detach()
		i.vacant = nil
	}
}

// plan returns the namespaces that are wanted, those that are not any more, which from now on are not listed, and the
// scopes that cannot go on as they are.
func (i *Informer[T]) plan() (want, left []string, over []*scope[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	scopes := i.split(i.want)
	for _, s := range i.scopes {
		if !among(scopes, s.namespace) || s.covers != nil && !slices.Equal(s.covers, i.want) {
			over = append(over, s)
		}
		for _, ns := range s.names() {
			if !among(i.want, ns) {
				left = append(left, ns)
				delete(i.listed, ns)
			}
		}
	}
	slices.Sort(left)
	i.leaving = left
	return i.want, left, over
}

// split returns the namespaces of the scopes that it takes to follow the wanted ones, ordered.
func (i *Informer[T]) split(want []string) []string {
	if i.o.Namespaces != nil && i.o.WideAbove > 0 && len(want) > i.o.WideAbove {
		return []string{""}
	}
	return want
}

// settle makes the signal for those who wait what is true. The caller holds mu.
func (i *Informer[T]) settle() {
	all := i.allListed()
	if all || i.warned || i.o.AllowEarlyReads {
		i.store.OnRead(nil)
	} else {
		i.store.OnRead(i.early)
	}
	select {
	case <-i.synced:
		if !all {
			i.synced = make(chan struct{})
		}
	default:
		if all {
			close(i.synced)
		}
	}
}

// allListed reports whether the cache has a complete list of every wanted namespace. The caller holds mu.
func (i *Informer[T]) allListed() bool {
	return !slices.ContainsFunc(i.want, func(ns string) bool { return !i.listed[ns] })
}

// listedOf returns those of these namespaces of which the cache has held a complete list; it is never nil.
func (i *Informer[T]) listedOf(namespaces []string) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(namespaces), func(ns string) bool { return !i.listed[ns] })
}

// wasListed notes that the cache holds a complete list of these namespaces. Those that are about to leave it do not count,
// even if they are wanted again by now: they leave first.
func (i *Informer[T]) wasListed(namespaces []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, ns := range namespaces {
		if !among(i.leaving, ns) {
			i.listed[ns] = true
		}
	}
	i.settle()
}

// renew makes an informer that does not run what it was when it was new, except that indexes and subscriptions stay: those
// who have subscribed are told that the objects have gone.
func (i *Informer[T]) renew() {
	i.shape.Lock()
	defer i.shape.Unlock()
	i.mu.Lock()
	old := i.scopes
	i.scopes, i.span = nil, newSpan()
	clear(i.listed)
	i.settle()
	i.mu.Unlock()
	i.beVacant(false)
	meanwhile := i.store.Writer(nowhere) // whoever subscribes now is not synced before the next list
	for _, s := range old {
		s.writer.Drop()
	}
	i.rearrange(nil)
	if i.vacant == nil {
		meanwhile.Detach()
	}
}

// among reports whether an ordered slice has s.
func among(ordered []string, s string) bool {
	_, found := slices.BinarySearch(ordered, s)
	return found
}

// amongAll reports whether an ordered slice has all of some.
func amongAll(ordered, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !among(ordered, s) })
}

// sweepEvery is how often objects are checked for having been changed; see Options.CheckMutations.
const sweepEvery = time.Minute

// follow has every scope followed, and arranges them anew when that is asked for, until ctx ends or one of them cannot go
// on. All that it has started has returned then.
func (i *Informer[T]) follow(ctx context.Context) error {
	f := &following[T]{i: i, pursuits: make(map[*scope[T]]*pursuit)}
	ctx, f.cancel = context.WithCancel(ctx)
	defer func() { // OnError may panic in here, at a sweep: nothing stays behind then either
		f.cancel()
		f.halt(slices.Collect(maps.Keys(f.pursuits)))
	}()
	var sweep <-chan time.Time // never, unless asked for
	if i.checks {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		sweep = ticker.C
	}
	for {
		i.arrange(f.halt)
		for _, s := range i.scopes {
			f.start(ctx, s)
		}
		select {
		case <-ctx.Done():
			f.halt(slices.Collect(maps.Keys(f.pursuits)))
			return f.result()
		case <-i.changed:
		case <-sweep:
			i.store.Sweep()
		}
	}
}

// following is the work of one Run: a goroutine for each scope.
type following[T meta.Object] struct {
	i        *Informer[T]
	cancel   context.CancelFunc // ends all of them, and the Run
	pursuits map[*scope[T]]*pursuit
	err      error    // why one could not go on
	panicked *relayed // what one panicked with
}

// pursuit is the work on one scope.
type pursuit struct {
	cancel   context.CancelFunc
	ended    chan struct{} // closed at the end; the rest is written before, and read after
	err      error
	panicked *relayed
}

// start begins the work on s, if nobody works on it yet. halt ends it, and waits for it.
func (f *following[T]) start(ctx context.Context, s *scope[T]) {
	if f.pursuits[s] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &pursuit{cancel: cancel, ended: make(chan struct{})}
	f.pursuits[s] = p
	r := f.i.reflector(s)
	go func() {
		defer close(p.ended)
		returned := false
		defer func() {
			switch value := recover(); {
			case value != nil:
				p.panicked = &relayed{value, debug.Stack()}
				f.cancel()
			case !returned: // a function of an index, of a Filter or OnError has called runtime.Goexit
				p.err = fmt.Errorf("follow %s: %w", f.i.where(s.namespace), errExited)
				f.cancel()
			}
		}()
		from := s.at
		// Functions of indexes are called in here. If one panics it is not known how much of the watch has been applied: the
		// next Run begins with a list, or it would show the past again.
		s.at = state{cause: Reset, seen: from.seen}
		if s.at, p.err = r.run(ctx, from); p.err != nil {
			f.cancel()
		}
		returned = true
	}()
}

// reflector returns the reflector of a scope.
func (i *Informer[T]) reflector(s *scope[T]) *reflector[T] {
	names := s.names()
	s.record.works = func() { i.log.Works(aboutServer + s.namespace) }
	r := &reflector[T]{
		streaming: inside.Of(i.source).StreamingLists,
		informer:  i, source: i.source, o: i.o, namespace: s.namespace, writer: s.writer, record: &s.record,
		synced: func() {
			if s.covers != nil {
				s.writer.Restrict(names)
			}
			i.wasListed(names)
			if i.checks {
				i.store.Sweep()
			}
		},
	}
	r.o.AllowStale = i.o.AllowStale && !s.succeeds
	if s.covers != nil {
		r.source = within[T]{i.source, names}
	}
	return r
}

// halt ends the work on scopes, those on which nobody works excepted.
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

// result returns why the work has ended by itself, if it has. A panic goes on, in the goroutine of Run.
func (f *following[T]) result() error {
	if f.panicked != nil {
		panic(f.panicked)
	}
	return f.err
}

// relayed is a panic of another goroutine, with that one's stack, which would be lost otherwise.
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

// within is a source of all namespaces that shows those of an ordered set only. What is outside is not decoded in lists;
// events of it only move the version.
type within[T meta.Object] struct {
	Source[T]
	namespaces []string
}

func (w within[T]) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
) (meta.ListMeta, error) {
	return w.Source.ListEach(ctx, o, w.reuse(reuse), func(item client.Item[T]) error {
		if item.Err != nil && w.hides(item.Identity) { // it is not decoded, and so it exceeds a limit
			item = client.Item[T]{Identity: item.Identity, Reused: true}
		}
		return fn(item)
	})
}

func (w within[T]) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	return w.Source.WatchEach(ctx, o, w.reuse(reuse), func(e client.Event[T]) error {
		if e.Type != client.Bookmark && !e.Reused && w.hides(e.Identity) {
			e = client.Event[T]{Type: client.Deleted, Identity: e.Identity} // it is not there, and so only the version moves
		}
		return fn(e)
	})
}

// hides reports whether an object is outside. One that does not say what it is called may be anywhere.
func (w within[T]) hides(id meta.Identity) bool {
	return id.Name != "" && !among(w.namespaces, id.Namespace)
}

// reuse has what is outside count as reused: it is not decoded, and as the cache did not ask for that, not held.
func (w within[T]) reuse(reuse func(meta.Identity) (T, bool)) func(meta.Identity) (T, bool) {
	return func(id meta.Identity) (obj T, reused bool) {
		if reuse != nil { // it wants to know of all of them
			obj, reused = reuse(id)
		}
		if !among(w.namespaces, id.Namespace) {
			return obj, true
		}
		return obj, reused
	}
}

package informer

import (
	"context"
	"iter"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Hooks are functions that an informer calls on events, for metrics and traces. All are optional, and cost nothing if
// they are not set. Each must be safe for use by several goroutines at once and should return soon, because the list or
// the watch waits for it.
type Hooks struct {
	// Run is called when the Run of an informer begins. ended, unless it is nil, is called before that Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// List is called after each list, whether it is complete or has failed. It is not called for a list that was
	// interrupted by the end of the informer.
	List func(ctx context.Context, l ListInfo)
	// Event is called with each event of a watch, before the event reaches the cache.
	Event func(ctx context.Context, e EventInfo)
}

// RunInfo describes an informer that runs.
type RunInfo struct {
	// Name is the result of the informer's String method.
	Name string
	// Resource is the resource that it follows.
	Resource meta.GVR
	// Status is the Status method of the informer.
	Status func() Status
	// Backlog returns how many changes the subscribers of the cache have not handled, and the age of the oldest.
	Backlog func() (changes int, age time.Duration)
	// Objects iterates over the objects of the cache, with the identities that the server sent, in no particular order.
	// A loop covers the objects that exist when it starts, holds no lock, and is never an early read. The objects are
	// shared and must not be changed.
	Objects func() iter.Seq2[meta.Identity, meta.Object]
}

// ListInfo describes a list that has ended.
type ListInfo struct {
	// Informer is the Status.Name of the informer, which may be empty: Options.Name and the selectors.
	Informer string
	// Resource and Namespace are what was listed; an empty Namespace stands for all, or for a cluster-wide resource.
	Resource  meta.GVR
	Namespace string
	// Cause is the reason of the list, and Mode how it was read.
	Cause Cause
	Mode  Mode
	// Objects is how many objects arrived.
	Objects int
	// Duration is how long it took.
	Duration time.Duration
	// Err is why the list is not complete, or nil.
	Err error
}

// EventInfo describes an event of a watch.
type EventInfo struct {
	// Informer is the Status.Name of the informer, which may be empty: Options.Name and the selectors.
	Informer string
	// Resource is the resource that is watched.
	Resource meta.GVR
	// Type is the type of the event, and Identity the object. A Bookmark has a resource version only.
	Type     client.EventType
	Identity meta.Identity
	// Err is why the object does not decode, or nil.
	Err error
}

// WithHooks returns a context in which the informers that run with it call the functions of h, as well as those of
// Options.Hooks and of outer contexts. Shared informers run with the context of their Factory.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other; at an end, those of h come last.
func (h Hooks) and(other Hooks) Hooks {
	return Hooks{
		Run:   hooks.BothRuns(h.Run, other.Run),
		List:  hooks.Both(h.List, other.List),
		Event: hooks.Both(h.Event, other.Event),
	}
}

// observers are the hooks of one Run, bound to its context; nil where there are none.
type observers struct {
	list  func(ListInfo)
	event func(EventInfo)
}

// observe binds the hooks to a Run that begins, and returns the function to call at its end.
func (i *engine[T]) observe(ctx context.Context) (ended func()) {
	carried, _ := hooks.In[Hooks](ctx)
	h := i.o.Hooks.and(carried)
	i.observers = observers{}
	if h.List != nil {
		i.observers.list = func(l ListInfo) { h.List(ctx, l) }
	}
	if h.Event != nil {
		i.observers.event = func(e EventInfo) { h.Event(ctx, e) }
	}
	return hooks.Run(ctx, h.Run, RunInfo{
		Name: i.String(), Resource: i.source.GVR(), Status: i.status, Backlog: i.store.Backlog, Objects: i.objects,
	})
}

// objects is RunInfo.Objects.
func (i *engine[T]) objects() iter.Seq2[meta.Identity, meta.Object] {
	return func(yield func(meta.Identity, meta.Object) bool) {
		for id, obj := range i.store.Entries() {
			if !yield(id, obj) {
				return
			}
		}
	}
}

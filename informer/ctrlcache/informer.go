package ctrlcache

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/handle"
	toolscache "k8s.io/client-go/tools/cache"
)

// Informer shows an *informer.Informer as client-go's SharedIndexInformer, for listers and for code that needs one.
// Both see the same cache: there is one list and one watch.
//
//	pods := ctrlcache.Informer(inf)
//	lister := corelisters.NewPodLister(pods.GetIndexer())
//
// Its methods Run and RunWithContext run inf; do not run inf in another way.
//
// The index cache.NamespaceIndex always exists. The store is read-only. Handlers get no tombstones: OnDelete receives
// the last known state. Handlers are not resynced unless they name a period. SetTransform and SetWatchErrorHandler
// return an error, because inf already has both; see [NewInformer].
func Informer[T meta.Object](inf *informer.Informer[T]) toolscache.SharedIndexInformer {
	return newShared[T](inf, nil, 0)
}

// NewInformer makes an informer of the objects of src, and shows it as client-go's SharedIndexInformer. Its transform
// and error handler can be set until it runs. resync is the period for handlers that name none; 0 means that they are
// not resynced. The second result is the same informer, for Status and for code that uses package informer.
//
// A handler that SetWatchErrorHandler sets receives the errors of lists and watches in place of o.OnError. The
// *Reflector that the handler gets has a name and a type, and does nothing.
func NewInformer[T meta.Object](
	src informer.Source[T], o informer.Options, resync time.Duration,
) (toolscache.SharedIndexInformer, *informer.Informer[T]) {
	h := &hooks{}
	var s *shared[T]
	user := o.OnError
	o.OnError = func(err error) {
		handle := h.report.Load()
		switch {
		case handle != nil && isAboutServer(err):
			(*handle)(err)
		case user != nil:
			user(err)
		default:
			s.failed(err, "the informer fails")
		}
	}
	inf := informer.New[T](&settable[T]{src, h}, o)
	s = newShared[T](inf, h, resync)
	var none T
	h.reflector = reflectorOf(src.GVR().String(), none, s.indexer)
	return s, inf
}

// reflectorOf returns a Reflector that does nothing, for error handlers, which name it in their logs.
func reflectorOf(description string, expected any, store toolscache.Store) *toolscache.Reflector {
	return toolscache.NewReflectorWithOptions(&toolscache.ListWatch{}, expected, store, toolscache.ReflectorOptions{
		Name: "bowline", TypeDescription: description,
	})
}

// settable is a source whose transform is set before the informer runs.
type settable[T meta.Object] struct {
	informer.Source[T]
	hooks *hooks
}

// Inside implements handle.Carrier.
func (s *settable[T]) Inside() handle.Source { return handle.Of(s.Source) }

func (s *settable[T]) ListEach(
	ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
) (meta.ListMeta, error) {
	return s.Source.ListEach(ctx, o, reuse, func(item client.Item[T]) error {
		if item.Err == nil && !item.Reused {
			item.Object, item.Err = transformed(s.hooks.transform, item.Identity, item.Object)
		}
		return fn(item)
	})
}

func (s *settable[T]) WatchEach(
	ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	return s.Source.WatchEach(ctx, o, reuse, func(e client.Event[T]) error {
		if e.Err == nil && !e.Reused && e.Type != client.Bookmark && !isNil(e.Object) {
			e.Object, e.Err = transformed(s.hooks.transform, e.Identity, e.Object)
		}
		return fn(e)
	})
}

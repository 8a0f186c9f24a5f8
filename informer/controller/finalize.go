// A cleanup that runs before an object is deleted.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/runners"
)

// FinalizerWriter adds and removes finalizers at the server; client.Resource[T] does.
type FinalizerWriter[T any] interface {
	// Get returns the object as the server has it.
	Get(ctx context.Context, key meta.Key) (T, error)
	// AddFinalizer adds the finalizer to the object and returns the object. If the object has the finalizer already, it
	// sends nothing, even if the object is being deleted. If the object is being deleted without the finalizer, or has
	// another uid, the error is a Conflict that did not come from the server.
	AddFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (T, error)
	// RemoveFinalizer removes the finalizer from the object. It returns no error if there is none to remove.
	RemoveFinalizer(ctx context.Context, key meta.Key, name string, o meta.FinalizerOptions) (T, error)
}

// Finalizable is the constraint for the objects of [Finalize].
type Finalizable[D meta.Timestamp, U ~string] interface {
	meta.Deletable[D]
	meta.Identified[U]
	GetFinalizers() []string
}

// Finalize returns a function for [New] that calls reconcile for the objects of a cache, and cleanup for those that are
// being deleted, before they disappear:
//
//	controller.New("sites", controller.Options{},
//		controller.Finalize(sites, informer.Reader(), "example.com/unpublish", publish, unpublish,
//			controller.FinalizeOptions{}),
//		controller.Watch(informer))
//
// The keys are those of objects in the cache; for other keys neither function is called. Both functions get the object
// with the finalizer: clone it before changing it.
//
//   - reconcile is not called before the server has stored the finalizer. So the object stays until cleanup has
//     succeeded.
//   - cleanup is called when the object is being deleted and has the finalizer. It has finished when it returns the
//     zero Result and no error. While it returns an error, or a Result with any RequeueAfter or RequeueAt, the object
//     stays and cleanup is called again. When it has finished, the finalizer is removed from that object, and from no
//     other object of its name.
//   - cleanup is called at least once for every object that reconcile was called for. It is called again only if the
//     finalizer could not be removed, for example because the program ended, so it must be idempotent. It may be called
//     for an object that reconcile was never called for.
//   - Before cleanup, Finalize reads the object from the server. So cleanup is not called twice, or for the wrong
//     object, when a cache is behind, another finalizer keeps the object, or another object has the same name.
//   - An object that is deleted before it had the finalizer gets neither call.
//
// The source must name the key when deletion begins: with [Changed], add [DeletionBegan] unless [GenerationChanged] is
// there.
//
// If another program removes the finalizer, the object may disappear without a cleanup; while it stays and is not being
// deleted, the next reconcile adds the finalizer again. If the list of the cache may be older than the last run of the
// program (see informer.Options.AllowStale), reconcile may be called for an object that no longer exists.
//
// # Objects that leave the cache
//
// An object that loses the label of a selector leaves the cache, and Finalize would not see its deletion: the finalizer
// would stay, and so would the object. So Finalize refuses a cache that does not see all objects: one of an informer
// with a LabelSelector, a FieldSelector or an informer.Filter, or a view ([cache.Reader.Where]). The Run of the
// informer then returns an error, and so does informer.Run; if the informer runs already, every reconcile fails with a
// [*TerminalError]. To allow such a cache, say in [FinalizeOptions] what happens to objects that leave. Finalize
// detects such an object when its key is reconciled and the cache does not have it: it then asks the server.
//
//   - informer.Informer.SetNamespaces also makes objects leave. That is not refused at the start. With [RefuseLeavers],
//     an object that then keeps the finalizer is reported, as with [ReportLeavers].
//   - If the source is a view, cached must be that view. A view as the source of a Finalize that reads the whole cache
//     is refused by a TerminalError, because nothing would name the key of an object that has left the view and is
//     deleted.
//   - Objects that leave while the program does not run are not detected. They keep the finalizer.
//   - If you filled the store of cached yourself, Finalize cannot know which objects it leaves out, and takes all
//     absent objects for deleted.
//
// # Requirements
//
// The name is a domain, a slash, and a word, such as "example.com/unpublish"; see client.Resource.AddFinalizer.
// Finalize needs the permissions get and patch for the resource. If an argument is nil, every reconcile fails with a
// [*TerminalError].
//
// T must have the methods GetFinalizers, GetDeletionTimestamp and GetUID, as every struct that embeds meta.ObjectMeta
// has, and the types of k8s.io/api.
func Finalize[T Finalizable[D, U], D meta.Timestamp, U ~string](
	server FinalizerWriter[T], cached cache.Reader[T], finalizer string, reconcile, cleanup func(ctx context.Context, obj T) (Result, error),
	o FinalizeOptions,
) Func[meta.Key] {
	var wrong error
	switch {
	case o.Leavers < RefuseLeavers || o.Leavers > ReportLeavers:
		wrong = fmt.Errorf("controller.FinalizeOptions: Leavers must be RefuseLeavers, CleanUpLeavers or ReportLeavers, got %d", o.Leavers)
	case cached.Behind() == nil:
		wrong = errors.New("controller.Finalize: cached must not be the zero Reader")
	case runners.IsNil(server):
		wrong = errors.New("controller.Finalize: server must not be nil")
	case reconcile == nil:
		wrong = errors.New("controller.Finalize: reconcile must not be nil")
	case cleanup == nil:
		wrong = errors.New("controller.Finalize: cleanup must not be nil")
	}
	if wrong == nil && o.Leavers == RefuseLeavers {
		wrong = refuse(cached, finalizer)
	}
	// clean calls cleanup, and removes the finalizer when cleanup has finished.
	clean := func(ctx context.Context, key meta.Key, live T) (Result, error) {
		result, err := cleanup(ctx, live)
		if _, again := result.Delay(time.Now()); err != nil || again {
			return result, err
		}
		if result.Priority != 0 {
			return Result{}, fmt.Errorf("controller.Finalize: cleanup returned a Result with Priority %d and no time: "+
				"return the zero Result when it has finished, otherwise set RequeueAfter or RequeueAt", result.Priority)
		}
		_, err = server.RemoveFinalizer(ctx, key, finalizer, meta.FinalizerOptions{UID: meta.UID(live)})
		return result, err
	}
	// left handles an object that is not in the cache, but may exist.
	left := func(ctx context.Context, key meta.Key, why string) (Result, error) {
		live, err := server.Get(ctx, key)
		switch {
		case tooLate(err, key):
			return Result{}, nil
		case err != nil:
			return Result{}, err
		case !slices.Contains(live.GetFinalizers(), finalizer):
			return Result{}, nil
		case o.Leavers == CleanUpLeavers:
			return clean(ctx, key, live)
		}
		return Result{}, Terminal(leftError(key, finalizer, why))
	}
	return func(ctx context.Context, key meta.Key) (Result, error) {
		if wrong != nil {
			return Result{}, Terminal(wrong)
		}
		if err := sourceMismatch(ctx, cached, finalizer); err != nil {
			return Result{}, Terminal(err)
		}
		obj, found := cached.Get(key)
		if !found {
			if why := mayLeave(cached, key); why != "" {
				return left(ctx, key, why)
			}
			return Result{}, nil
		}
		held, deleting := slices.Contains(obj.GetFinalizers(), finalizer), meta.IsDeleting(obj)
		if held && !deleting {
			return reconcile(ctx, obj)
		}
		if deleting && !held { // it never had the finalizer, or no longer has it
			return Result{}, nil
		}
		// Whatever the cache holds, this returns the object as the server has it, with the finalizer.
		same := meta.FinalizerOptions{UID: meta.UID(obj)}
		live, err := server.AddFinalizer(ctx, key, finalizer, same)
		switch {
		case tooLate(err, key): // the cache will receive the deletion, and name the key
			return Result{}, nil
		case err != nil:
			return Result{}, err
		case !meta.IsDeleting(live):
			return reconcile(ctx, live)
		case !deleting:
			// The cache is behind. It will name the key again when it receives the deletion. If the cleanup came first,
			// and the object then disappeared, a state of the cache from before the deletion would be reconciled after
			// the cleanup.
			return Result{}, nil
		}
		return clean(ctx, key, live)
	}
}

// tooLate reports whether an object gets no finalizer because it no longer exists, or is being deleted without it.
func tooLate(err error, key meta.Key) bool {
	switch answer, answered := errors.AsType[*apierrors.StatusError](err); {
	case errors.Is(err, apierrors.Conflict):
		return !answered // a conflict with another writer has an answer
	case errors.Is(err, apierrors.NotFound): // a wrong path is NotFound too, and says nothing about the object
		return answered && answer.Status.Details != nil && answer.Status.Details.Name == key.Name
	}
	return false
}

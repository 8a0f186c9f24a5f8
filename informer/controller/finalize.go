// A cleanup that runs before an object goes.

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
)

// FinalizerWriter adds and removes finalizers at the server; client.Resource[T] does.
type FinalizerWriter[T any] interface {
	// AddFinalizer adds the finalizer to the object and returns the object. It sends nothing if the object has it, also if it is
	// being deleted. If it is being deleted and lacks it, or has another uid, the error is a Conflict without an answer of the
	// server.
	AddFinalizer(ctx context.Context, key meta.Key, name string, o ...meta.FinalizerOptions) (T, error)
	// RemoveFinalizer removes the finalizer from the object. It returns no error if there is none to remove.
	RemoveFinalizer(ctx context.Context, key meta.Key, name string, o ...meta.FinalizerOptions) (T, error)
}

// Finalize returns a function for [New] that calls reconcile for the objects of a cache, and cleanup for those that are
// being deleted, before they go:
//
//	controller.New("sites", controller.Options{},
//		controller.Finalize(sites, informer.Reader(), "example.com/unpublish", publish, unpublish),
//		controller.Watch(informer))
//
// The keys are those of objects in the cache; for others nothing is called. Both functions get the object with the
// finalizer: clone it before changing it.
//
//   - reconcile is not called before the server has stored the finalizer. So the object stays until cleanup has succeeded.
//   - cleanup is called when the object is being deleted and has the finalizer. It has finished when it returns the zero Result and no
//     error. While it returns an error, or a Result with RequeueAfter or RequeueAt, whatever that time is, the object stays and cleanup
//     is called again. When it has finished, the finalizer is removed, from that object and no other of its name.
//   - cleanup is called at least once for every object that reconcile was called for. It is called again only if the
//     finalizer could not be removed, for example because the program ended, so it must be idempotent. It may be called for
//     an object that reconcile was never called for.
//   - Before cleanup, Finalize reads the object from the server: a cache that is behind, another finalizer that keeps the
//     object, and another object of the same name do not cause a second cleanup, or the wrong one.
//   - An object that is deleted before it had the finalizer gets neither call.
//
// The source must name the key when deletion begins: with [Changed], add [DeletionBegan] unless [GenerationChanged] is there.
//
// If somebody else removes the finalizer, the object may go without a cleanup; while it stays and is not being deleted, the
// next reconcile adds the finalizer again. If the list of the cache may be older than the last run of the program (see
// informer.Options.AllowStale), reconcile may be called for an object that has already gone.
//
// The name is a domain, a slash, and a word, such as "example.com/unpublish"; see client.Resource.AddFinalizer. Finalize
// needs the permissions get and patch for the resource. If an argument is nil, every reconcile fails with a
// [*TerminalError].
//
// T must have the methods GetFinalizers, GetDeletionTimestamp and GetUID, as every struct has that embeds meta.ObjectMeta,
// and the types of k8s.io/api.
func Finalize[T interface {
	meta.Object
	GetFinalizers() []string
	GetDeletionTimestamp() D
	GetUID() U
}, D interface {
	comparable
	IsZero() bool
}, U ~string](
	server FinalizerWriter[T], cached cache.Reader[T], finalizer string, reconcile, cleanup func(ctx context.Context, obj T) (Result, error),
) Func[meta.Key] {
	var wrong error
	switch {
	case isNil(server):
		wrong = errors.New("controller.Finalize: server must not be nil")
	case reconcile == nil:
		wrong = errors.New("controller.Finalize: reconcile must not be nil")
	case cleanup == nil:
		wrong = errors.New("controller.Finalize: cleanup must not be nil")
	}
	return func(ctx context.Context, key meta.Key) (Result, error) {
		if wrong != nil {
			return Result{}, Terminal(wrong)
		}
		obj, found := cached.Get(key)
		if !found {
			return Result{}, nil
		}
		held, deleting := slices.Contains(obj.GetFinalizers(), finalizer), meta.IsDeleting(obj)
		if held && !deleting {
			return reconcile(ctx, obj)
		}
		if deleting && !held { // it never had the finalizer, or has it no more
			return Result{}, nil
		}
		// Whatever the cache has, this returns the object as the server has it, with the finalizer.
		same := meta.FinalizerOptions{UID: meta.UID(obj)}
		live, err := server.AddFinalizer(ctx, key, finalizer, same)
		switch {
		case tooLate(err, key): // the cache will say so, and name the key
			return Result{}, nil
		case err != nil:
			return Result{}, err
		case !meta.IsDeleting(live):
			return reconcile(ctx, live)
		case !deleting:
			// The cache is behind. It will name the key again when it knows of the deletion. If the cleanup came first, and the object
			// went, a state of the cache from before the deletion would be reconciled after that.
			return Result{}, nil
		}
		result, err := cleanup(ctx, live)
		if _, again := result.Delay(time.Now()); err != nil || again {
			return result, err
		}
		if result.Priority != 0 {
			return Result{}, fmt.Errorf("controller.Finalize: cleanup returned a Result with Priority %d and no time: "+
				"the zero Result means that it has finished, and another one needs RequeueAfter or RequeueAt", result.Priority)
		}
		_, err = server.RemoveFinalizer(ctx, key, finalizer, same)
		return result, err
	}
}

// tooLate reports whether an object gets no finalizer because it has gone, or is being deleted without it.
func tooLate(err error, key meta.Key) bool {
	var answer *apierrors.StatusError
	switch answered := errors.As(err, &answer); {
	case errors.Is(err, apierrors.Conflict):
		return !answered // a conflict with another writer has an answer
	case errors.Is(err, apierrors.NotFound): // a path that leads nowhere is NotFound too, and says nothing of the object
		return answered && answer.Status.Details != nil && answer.Status.Details.Name == key.Name
	}
	return false
}

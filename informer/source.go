package informer

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Source is where an informer gets its objects from. client.Resource satisfies it, and its methods say what each must do;
// [Transform] and [Filter] make one source of another. It is used by several goroutines at once where an informer follows
// several namespaces.
type Source[T meta.Object] interface {
	// GVR names the source in errors.
	GVR() meta.GVR
	// ListEach lists; see client.Resource.ListEach.
	ListEach(
		ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
	) (meta.ListMeta, error)
	// WatchEach watches; see client.Resource.WatchEach.
	WatchEach(
		ctx context.Context, o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
	) error
}

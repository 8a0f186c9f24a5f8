package informer

import (
	"context"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Source supplies an informer with objects. client.Resource implements it and documents the contract of each method;
// [Transform] and [Filter] make one source of another. An informer that follows several namespaces calls it from
// several goroutines at once.
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

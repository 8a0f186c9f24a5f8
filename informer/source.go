package informer

import (
	"context"
	"iter"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Source is where an informer gets its objects from. client.Resource satisfies it; its methods say what each must do.
type Source[T meta.Object] interface {
	// GVR names the source in errors.
	GVR() meta.GVR
	// Each lists; see client.Resource.Each.
	Each(
		ctx context.Context, o client.ListOptions, reuse func(meta.Identity) (T, bool), fn func(client.Item[T]) error,
	) (meta.ListMeta, error)
	// Watch watches; see client.Resource.Watch.
	Watch(ctx context.Context, o client.WatchOptions) iter.Seq2[client.Event[T], error]
}

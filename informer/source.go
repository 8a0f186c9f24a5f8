package informer

import (
	"context"
	"reflect"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/handle"
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

// sharingParts returns a source whose objects share parts. It returns src itself if other code between the server and
// the cache may change the objects, such as a [Transform] or a source that wraps another one.
func sharingParts[T meta.Object](src Source[T]) Source[T] {
	share := handle.Of(src).Sharing
	if share == nil {
		return src
	}
	shared := share()
	if reflect.TypeOf(shared) != reflect.TypeOf(src) {
		return src
	}
	return shared.(Source[T])
}

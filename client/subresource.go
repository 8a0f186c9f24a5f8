package client

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Sub is a handle on a subresource that takes and returns the object itself, as status does. It carries the options of the
// Resource that it comes from.
type Sub[T meta.Object] struct {
	r    Resource[T]
	name string
}

// Status returns the status subresource. A write to it changes nothing but status, and for resources that have it, a write
// to the object itself changes everything but status.
func (r Resource[T]) Status() Sub[T] { return Sub[T]{r: r, name: "status"} }

// Get reads the object through the subresource.
func (s Sub[T]) Get(ctx context.Context, key meta.Key) (T, error) {
	obj, _, err := s.r.get(ctx, key, s.name)
	return obj, err
}

// Update replaces the subresource's part of the object with obj's; see [Resource.Update] for resource versions.
func (s Sub[T]) Update(ctx context.Context, obj T) (T, error) {
	return s.r.sendObject(ctx, "update", s.name, obj)
}

// Patch changes the subresource's part of the object as p says.
func (s Sub[T]) Patch(ctx context.Context, key meta.Key, p patch.Patch) (T, error) {
	q := s.r.request("patch", key)
	q.subresource = s.name
	return s.r.sendPatch(ctx, q, p)
}

// Modify is [Resource.Modify] for the subresource.
func (s Sub[T]) Modify(ctx context.Context, key meta.Key, mutate func(T) error) (T, error) {
	return s.r.modify(ctx, key, s.name, mutate)
}

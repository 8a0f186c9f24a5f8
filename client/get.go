package client

import (
	"context"
	"net/url"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// GetOptions relax how fresh an object must be; see "Resource versions" in the Kubernetes API concepts. The zero value
// asks for the object as it is now, which costs the server a read of its store.
type GetOptions struct {
	// ResourceVersion is the minimum. Empty means the server's present state. "0" means any state that the server has
	// at hand, however old: an existing object may be missing, and a deleted one may still be returned. Any other value
	// is a version that a server has sent, of the same resource: the state is not older. A server that has not seen
	// that version yet waits for a few seconds; the error is then a Timeout that [apierrors.IsTooLargeResourceVersion]
	// recognizes.
	ResourceVersion string
}

func (o GetOptions) query() url.Values {
	q := url.Values{}
	set(q, "resourceVersion", o.ResourceVersion)
	return q
}

// Get reads one object, as it is now. metadata.managedFields is decoded if T has it.
func (r Resource[T]) Get(ctx context.Context, key meta.Key) (T, error) {
	return r.GetWith(ctx, key, GetOptions{})
}

// GetWith is [Resource.Get] with options: o says how fresh the object must be.
func (r Resource[T]) GetWith(ctx context.Context, key meta.Key, o GetOptions) (T, error) {
	return typed[T](r.untyped.getWith(ctx, key, "", o))
}

// getWith reads one object, or a subresource.
func (r resource) getWith(ctx context.Context, key meta.Key, subresource string, o GetOptions) (meta.Object, error) {
	q := r.subrequest("get", key, subresource)
	q.query = o.query()
	obj, _, err := r.exchange(ctx, q)
	return obj, err
}

// get reads one object, or a subresource that has the object's kind, and returns its JSON too.
func (r resource) get(ctx context.Context, key meta.Key, subresource string) (meta.Object, jsonstream.Item, error) {
	return r.exchange(ctx, r.subrequest("get", key, subresource))
}

// Get reads the object through the subresource, as it is now.
func (s Sub[T]) Get(ctx context.Context, key meta.Key) (T, error) {
	return s.GetWith(ctx, key, GetOptions{})
}

// GetWith is Get with options: o says how fresh the object must be.
func (s Sub[T]) GetWith(ctx context.Context, key meta.Key, o GetOptions) (T, error) {
	return typed[T](s.untyped.getWith(ctx, key, s.name, o))
}

package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Resolve returns the key of the object that ref names, and a handle on that object alone, whatever its kind. from is
// the object in which ref stands; client.ReferenceTo makes it. A reference without an apiVersion has that of from, and
// one without a namespace has the namespace of from, if the resource is namespaced. If the server does not serve the
// version, Resolve looks for the kind in the other versions of the group.
//
// The error is a [*NoMatchError] if the server does not serve the kind. Resolve also returns an error if ref has no
// kind or no name, and in the cases that client.Resolve lists. The documentation of client.Resolve also says what both
// do not check.
func (c *Catalog) Resolve(ctx context.Context, ref, from meta.ObjectReference) (
	one client.Resource[*meta.Unstructured], key meta.Key, err error,
) {
	ref.APIVersion = cmp.Or(ref.APIVersion, from.APIVersion)
	r, err := c.referred(ctx, ref)
	if err != nil {
		return one, key, fmt.Errorf("resolve the reference to %q: %w", ref.Key().String(), err)
	}
	return client.Resolve(client.For(c.client, r.Type()), ref, from)
}

// referred returns the resource of a reference.
func (c *Catalog) referred(ctx context.Context, ref meta.ObjectReference) (Resource, error) {
	gvk := ref.GVK()
	switch {
	case ref.Kind == "":
		return Resource{}, errors.New("kind must not be empty")
	case ref.APIVersion == "":
		return Resource{}, errors.New("apiVersion must not be empty, since the object that has the reference has none")
	}
	r, err := c.Resource(ctx, gvk)
	if !errors.As(err, new(*NoMatchError)) {
		return r, err
	}
	gvk.Version = ""
	if other, anyVersion := c.Resource(ctx, gvk); anyVersion == nil {
		return other, nil
	}
	return r, err
}

package client

import (
	"context"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
)

// served is what a client knows about a resource that may be served in one of several versions.
type served interface {
	// use returns the version of the next request.
	use() string
	// has reports whether an object of a kind is one of the resource, in any version.
	has(apiVersion, kind string) bool
	// call is Client.call.
	call(ctx context.Context, c *Client, r request, read func(*http.Response) error) error
}

// versionsOf returns the versions of a resource; nil if there is only one.
func versionsOf(c *Client, f Fallback, kind meta.GVK, resource string) served {
	if f == nil || c == nil {
		return nil
	}
	return f.of(c, kind, resource)
}

func (r resource) versions() served { return versionsOf(r.c, r.t.Fallback, r.t.GVK(), r.t.Resource) }

// Served returns the descriptor with the version that the handle uses in the place of Type.Version. Before the first
// answer of the server, and for a Type without Fallback, that is Type.Version. Use Served where the server stores the
// apiVersion of an object, such as in the reference to an owner:
//
//	err := client.SetController(pod, client.OwnerOf(sites.Served(), site))
func (r Resource[T]) Served() Type[T] {
	t := r.Type()
	t.Version = r.untyped.served().Version
	return t
}

// served returns the kind of the resource, with the version in use.
func (r resource) served() meta.GVK {
	kind := r.t.GVK()
	if v := r.versions(); v != nil {
		kind.Version = v.use()
	}
	return kind
}

package client

import (
	"errors"

	"github.com/bowline-go/bowline/client/meta"
)

// What the API calls objects of which it sends the metadata only.
const (
	partialAPIVersion = "meta.k8s.io/v1"
	partialKind       = "PartialObjectMetadata"
)

// Metadata returns a handle on the same resource of which the server sends the objects' metadata only, whatever their kind.
// It reads, watches, patches and deletes; the objects say the kind that the descriptor of r says. That is how a cache of
// large objects costs what their metadata costs, on the wire too. A server that cannot do it, as some aggregated ones,
// refuses with an error.
//
// Annotations are metadata: that of kubectl apply (last-applied-configuration) holds the whole object, the data of a Secret too.
// informer.Transform can leave it out of a cache.
//
// Create, Update and Modify would write objects that have nothing but metadata, so they are a [*UsageError], the status
// subresource's too. Use Patch for a change, or r for a whole object.
func Metadata[T meta.Object](r Resource[T]) Resource[*meta.Partial] {
	m := retyped[*meta.Partial](r)
	m.partial = true
	return m
}

var errPartialWrite = errors.New(
	"a handle of client.Metadata cannot write whole objects: use Patch, or the Resource that Metadata was called with")

// accept returns the media type in which a request of the verb asks for its answer.
func (r Resource[T]) accept(verb string) string {
	if !r.partial {
		return jsonType
	}
	kind := partialKind
	if verb == "list" {
		kind += "List"
	}
	return jsonType + ";as=" + kind + ";g=meta.k8s.io;v=v1"
}

// writesObjects returns why the handle cannot write whole objects, if it cannot.
func (r Resource[T]) writesObjects() error {
	if r.partial {
		return &UsageError{Err: errPartialWrite}
	}
	return nil
}

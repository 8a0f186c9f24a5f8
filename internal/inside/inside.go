// Package inside carries values from package client to packages informer and remote, from package patch to package client, and
// from package informer to package leader, that no user needs: a function that a user sees has a type that only packages of this
// module can name, or a context has the value.
package inside

import (
	"context"
	"io"

	"github.com/bowline-go/bowline/client/meta"
)

// Source is what an informer learns from its source.
type Source struct {
	// StreamingLists says whether the server has streaming lists of the resource. All handles of one client on one resource
	// share it.
	StreamingLists *Feature
	// ClusterWide says that the objects are in no namespace. It is false if that is unknown.
	ClusterWide bool
	// Filtered says that the source leaves out objects, so that one may leave that still exists.
	Filtered bool
	// Encoding is the form in which lists and watches come; nil if there is only JSON.
	Encoding *Encoding
	// Server is the base URL of the API server, without a password; empty if it is unknown.
	Server string
	// Upgrade asks for a subresource of an object as a WebSocket: the answer is 101, and its body the connection, which the caller
	// closes. Nil if the source is no client's.
	// query and header are those of package net/http, which this one does not link.
	Upgrade func(ctx context.Context, key meta.Key, subresource string, query, header map[string][]string) (
		conn io.ReadWriteCloser, answer map[string][]string, err error)
	// Stream asks for a subresource of an object whose answer is text, which the caller closes. If idles is true, the answer may pause
	// for any time. Nil if the source is no client's.
	Stream func(ctx context.Context, key meta.Key, subresource string, query map[string][]string, idles bool) (io.ReadCloser, error)
	// Reads is equal for two sources of the same type that read the same objects. Nil compares with nothing.
	Reads any
}

// Retyping is for client.Retype.
type Retyping struct{}

// Carrier is a source that tells an informer something.
type Carrier interface {
	Inside() Source
}

// Of returns what src tells an informer. A source that is not a Carrier gets a Feature of its own.
func Of(src any) Source {
	if c, ok := src.(Carrier); ok {
		return c.Inside()
	}
	return Source{StreamingLists: new(Feature)}
}

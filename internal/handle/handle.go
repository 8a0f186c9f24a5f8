// Package handle has what an informer, package remote and package discovery need of a client and its handles, besides
// what these show their users.
package handle

import (
	"context"
	"io"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Source is what is known of a source of objects.
type Source struct {
	// Test is the test that the source is used in, or nil.
	Test *undertest.Test
	// StreamingLists says whether the server has streaming lists of the resource. All handles of one client on one
	// resource share it.
	StreamingLists *Feature
	// ClusterWide says that the objects are in no namespace. It is false if that is unknown.
	ClusterWide bool
	// Filtered says that the source leaves out objects, so that one may leave that still exists.
	Filtered bool
	// Encoding is the form in which lists and watches come; nil if there is only JSON.
	Encoding *Encoding
	// Server is the base URL of the API server, without a password; empty if it is unknown.
	Server string
	// Reads is equal for two sources of the same type that read the same objects. Nil compares with nothing.
	Reads any

	// The functions are nil if the source is no client's.

	// Upgrade asks for a subresource of an object as a WebSocket: the answer is 101, and its body the connection, which
	// the caller closes. query and header are those of package net/http, which this one does not link.
	Upgrade func(ctx context.Context, key meta.Key, subresource string, query, header map[string][]string) (
		conn io.ReadWriteCloser, answer map[string][]string, err error)
	// Stream asks for a subresource of an object whose answer is text, which the caller closes. If idles is true, the
	// answer may pause for any time.
	Stream func(ctx context.Context, key meta.Key, subresource string, query map[string][]string, idles bool) (io.ReadCloser, error)
	// ReadAs returns a handle of the same type whose objects are values of the Go type objects. It is for a program
	// that is told its Go types while it runs, such as by a scheme, and has no T to write down: T is an interface, and
	// objects a pointer that implements it. metadata asks for metadata only, as client.Metadata does. If only is set,
	// it is a projection of objects, and all members that it does not have stay zero. The handle is for ListEach and
	// WatchEach of an informer. ReadAs does not refuse a Go type with fields that have no names in their json tags: the
	// handle does not write, and the types are those of a scheme.
	ReadAs func(objects reflect.Type, only *codec.Projection, metadata bool) any
}

// Carrier is a handle, or a source that wraps another one.
type Carrier interface {
	Inside() Source
}

// Of returns what is known of src. If src is no Carrier, nothing is known, and the Feature is shared with no other
// source.
func Of(src any) Source {
	if c, ok := src.(Carrier); ok {
		return c.Inside()
	}
	return Source{StreamingLists: new(Feature)}
}

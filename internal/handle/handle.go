// Package handle gives informers, package remote and package discovery the access to a client and its handles that is
// not exported to users.
package handle

import (
	"context"
	"io"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Source describes a source of objects.
type Source struct {
	// Test is the test that the source is used in, or nil.
	Test *undertest.Test
	// StreamingLists says whether the server has streaming lists of the resource. All handles of one client on one
	// resource share it.
	StreamingLists *Feature
	// ClusterWide says that the objects are in no namespace. It is false if that is unknown.
	ClusterWide bool
	// Bound has the only namespace and the only name of the objects, each empty if there may be several.
	Bound meta.Key
	// Filtered says that the source leaves out objects, so an object may disappear from it and still exist.
	Filtered bool
	// Encoding is the form in which lists and watches come; nil if there is only JSON.
	Encoding *Encoding
	// Client is the *client.Client that the source reads with; nil if it is unknown.
	Client any
	// Server is the base URL of the API server, without a password; empty if it is unknown.
	Server string
	// Reads is equal for two sources of the same type that read the same objects. Nil equals nothing.
	Reads any

	// The functions are nil if the source does not belong to a client.

	// Upgrade opens a WebSocket to a subresource of an object. conn is the connection of the answer 101; the caller
	// closes it. query and header have the underlying types of url.Values and http.Header, because this package does
	// not link net/http.
	Upgrade func(ctx context.Context, key meta.Key, subresource string, query, header map[string][]string) (
		conn io.ReadWriteCloser, answer map[string][]string, err error)
	// Stream reads a subresource of an object whose answer is text. The caller closes the answer. If idles is true,
	// the answer may pause for any time.
	Stream func(ctx context.Context, key meta.Key, subresource string, query map[string][]string, idles bool) (io.ReadCloser, error)
	// ReadAs returns a handle of the same type whose objects are values of the Go type objects. It is for a program
	// that learns its Go types at run time, from a scheme for example. Such a program has a handle whose T is an
	// interface, and objects is a pointer type that implements it. metadata asks for metadata only, as client.Metadata
	// does. If only is set, it is a projection of the Go type, and all members that it does not have stay zero. The
	// handle is for ListEach and WatchEach of an informer. ReadAs does not refuse a Go type with fields that have no
	// names in their json tags: the handle does not write, and the types are those of a scheme.
	ReadAs func(objects reflect.Type, only *codec.Projection, metadata bool) any
	// Sharing returns a source of the same objects that lets them share equal parts, so that no code may change them.
	// It returns nil if the program may change its objects. A type that embeds a source also has that source's
	// function, so use the result only if its type is that of the source that was asked.
	Sharing func() any
	// Packing returns the source with items and events that carry the texts of their objects, packed with the given
	// Packer. It is nil if the text of an object may differ from the object. As with Sharing, use the result only if
	// its type is that of the source.
	Packing func(by packed.Packer) any
	// Unpacking returns the function that decodes a packed text, the server's or JSON, into a new object: a
	// func(packed.Text) (T, error).
	Unpacking func() any
	// Clone returns a deep copy of an object: a func(T) T. If Clone is nil, meta.Clone copies the object.
	Clone any
}

// Carrier is a handle, or a source that wraps another one.
type Carrier interface {
	Inside() Source
}

// Of returns the Source of src. If src is not a Carrier, the result has only a Feature, which it shares with no other
// source.
func Of(src any) Source {
	if c, ok := src.(Carrier); ok {
		return c.Inside()
	}
	return Source{StreamingLists: new(Feature)}
}

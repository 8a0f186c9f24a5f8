// Package follow attaches functions to a context that act on the requests made with that context. With a gate, a
// leader election stops requests that would be sent too late. With a receiver of writes, a controller learns what a
// reconcile has written. Only the client calls these functions.
package follow

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
)

// Write is a write that the server has stored. A dry run is not a Write, and neither is the deletion of a collection.
type Write struct {
	// Server is the base URL of the API server, without a password.
	Server string
	// Verb is the API's verb: create, update, patch, apply or delete.
	Verb string
	// Resource, Key and Subresource say what was written. Key has the name that the server has given to a new object.
	Resource    meta.GVR
	Key         meta.Key
	Subresource string
	// UID is the uid of the object; empty if the answer to a deletion does not have it.
	UID string
	// ResourceVersion is the version that the write has made. It is empty for a deletion after which the object is
	// gone.
	ResourceVersion string
	// DeletedAt is the version of a deletion after which the object is gone. It is empty unless the server has
	// reported a version that has an order.
	DeletedAt string
	// Manager is the field manager of the write; empty if only the server knows it.
	Manager string
	// Sent is the object or patch that was sent; nil for a deletion. It must not be changed. Like Answer it is not
	// meant for people.
	Sent []byte
	// Answer is the object as JSON, with managedFields if it has any. It is nil for a deletion. It must not be
	// changed.
	Answer []byte
	// OwnKind says that the answer is not an object of the resource but of another kind, such as a Scale, which
	// Subresource returns.
	OwnKind bool
	// Read reads the object, as JSON with managedFields. It is nil for a deletion.
	Read func(ctx context.Context) ([]byte, error)
}

type (
	writesKey struct{}
	gateKey   struct{}
)

// Writes returns a context whose writes are passed to f, after the server has stored them and before the call returns.
// The goroutine of the call calls f. Functions of outer contexts are called as well.
func Writes(ctx context.Context, f func(Write)) context.Context {
	outer, _ := ctx.Value(writesKey{}).(func(Write))
	if outer == nil {
		return context.WithValue(ctx, writesKey{}, f)
	}
	return context.WithValue(ctx, writesKey{}, func(w Write) {
		outer(w)
		f(w)
	})
}

// IsWrites reports whether key is the context key of the function that OnWrite returns. It is for context types with
// their own Value method.
func IsWrites(key any) bool { return key == writesKey{} }

// OnWrite returns the function that receives the writes of ctx, or nil.
func OnWrite(ctx context.Context) func(Write) {
	f, _ := ctx.Value(writesKey{}).(func(Write))
	return f
}

// Gate returns a context whose requests are sent only while open returns nil. Once open has returned an error, it must
// not return nil again. It must be quick and safe for use by several goroutines at once. Gates of outer contexts also
// apply.
func Gate(ctx context.Context, open func() error) context.Context {
	outer := OpenGate(ctx)
	if outer == nil {
		return context.WithValue(ctx, gateKey{}, open)
	}
	return context.WithValue(ctx, gateKey{}, func() error {
		if err := outer(); err != nil {
			return err
		}
		return open()
	})
}

// OpenGate returns the function that says whether a request of ctx may be sent, or nil if nothing stops it.
func OpenGate(ctx context.Context) func() error {
	f, _ := ctx.Value(gateKey{}).(func() error)
	return f
}

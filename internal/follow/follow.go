// Package follow says, by a context, what is to happen with the requests that are made with that context. A leader
// election stops requests that would leave too late, and a controller learns what a reconcile has written. The client
// asks; nobody else needs to.
package follow

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
)

// Write is a write that the server has stored. A dry run is none, and neither is the deletion of a collection.
type Write struct {
	// Server is the base URL of the API server, without a password.
	Server string
	// Verb is the API's word for it: create, update, patch, apply or delete.
	Verb string
	// Resource, Key and Subresource are where it went. Key has the name that the server has given to a new object.
	Resource    meta.GVR
	Key         meta.Key
	Subresource string
	// UID is the object's; empty if the answer of a deletion does not say it.
	UID string
	// ResourceVersion is the version that the write has made. It is empty for a deletion after which the object is
	// gone.
	ResourceVersion string
	// DeletedAt is the version of a deletion after which the object is gone, if the server has said it, and it has an
	// order.
	DeletedAt string
	// Manager is the field manager of the write; empty if only the server knows it.
	Manager string
	// Sent is the object or patch that was sent; nil for a deletion. Nobody may change it. Like Answer it is not for
	// people to read.
	Sent []byte
	// Answer is the object as JSON, with managedFields if it has any. It is nil for a deletion. Nobody may change it.
	Answer []byte
	// OwnKind says that the answer is no object of the resource but a Scale, say, and Subresource is where it comes
	// from.
	OwnKind bool
	// Read reads the object, as JSON with managedFields. It is nil for a deletion.
	Read func(ctx context.Context) ([]byte, error)
}

type (
	writesKey struct{}
	gateKey   struct{}
)

// Writes returns a context whose writes are passed to f, after the server has stored them and before the call returns.
// f is called by the goroutine of the call. Functions of outer contexts are called as well.
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

// IsWrites reports whether key is the one by which OnWrite asks a context for its function, a func(Write). It is for
// types of contexts that answer themselves.
func IsWrites(key any) bool { return key == writesKey{} }

// OnWrite returns the function that takes the writes of ctx, or nil.
func OnWrite(ctx context.Context) func(Write) {
	f, _ := ctx.Value(writesKey{}).(func(Write))
	return f
}

// Gate returns a context whose requests are sent only while open returns nil. Once it has returned an error, it must
// not return nil again. It must be quick and safe for use by several goroutines at once. Gates of outer contexts hold
// as well.
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

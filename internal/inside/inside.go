// Package inside carries from package client to package informer, and from package patch to package client, what no user needs: a method
// that a user sees returns a type that only packages of this module can name.
package inside

import "github.com/bowline-go/bowline/internal/undertest"

// Source is what an informer gets to know from its source.
type Source struct {
	// Test is the test that the source is used in, or nil.
	Test *undertest.Test
	// StreamingLists is what is known about streaming lists of the resource. All handles of one client on one resource share it.
	StreamingLists *Feature
	// Reads is equal for two sources of its own type that read the same. Nil says nothing.
	Reads any
}

// Carrier is a source that an informer gets something to know from.
type Carrier interface {
	Inside() Source
}

// Of returns what an informer gets to know from src. A source that is no Carrier gets a Feature of its own.
func Of(src any) Source {
	if c, ok := src.(Carrier); ok {
		return c.Inside()
	}
	return Source{StreamingLists: new(Feature)}
}

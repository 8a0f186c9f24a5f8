package controllers

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// write changes old, a state of an object that a cache has, into new, and returns the object as the server has it
// then. patchObject sends the change: it is the method Patch of a resource or of its status. write sends nothing if the
// two are the same, and fails with a Conflict if the server's object is no longer old.
func write[T meta.Object](
	ctx context.Context, patchObject func(context.Context, meta.Key, patch.Patch) (T, error), old, new T,
) (T, error) {
	p := patch.Diff(old, new)
	if p.IsEmpty() {
		return new, nil
	}
	return patchObject(ctx, meta.KeyOf(old), p.WithResourceVersion(old.GetResourceVersion()))
}

// unlessGone returns err, or nil if it says that the object that was to be written does not exist any more. The event
// of its deletion then arrives soon.
func unlessGone(err error) error { return apierrors.Ignore(err, apierrors.NotFound) }

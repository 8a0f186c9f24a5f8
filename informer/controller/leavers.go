// Objects that leave the cache of a Finalize although they exist.

package controller

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/runners"
)

// FinalizeOptions are the options of [Finalize].
type FinalizeOptions struct {
	// Leavers says what happens to objects with the finalizer that leave the cache although they exist. The zero value
	// refuses a cache from which objects may leave.
	Leavers Leavers
}

// Leavers says what happens to objects that leave the cache of a [Finalize] although they exist.
type Leavers int

const (
	// RefuseLeavers is the zero value: a cache that does not see all objects is an error.
	RefuseLeavers Leavers = iota
	// CleanUpLeavers means that cleanup is called for an object that leaves, with the object as the server has it, and
	// that the finalizer is then removed, as if the object were being deleted. If the object comes back, it gets the
	// finalizer again, and reconcile is called. If another program then has the object in its cache, that program needs
	// a finalizer of its own.
	CleanUpLeavers
	// ReportLeavers means that an object that leaves keeps the finalizer, and is reported once: its reconcile fails
	// with a [*TerminalError] that names it. When it is deleted, it stays until another program or a person removes the
	// finalizer, or until it meets the conditions of the cache again.
	ReportLeavers
)

// leftError says that an object has left the cache of a [Finalize] and keeps the finalizer.
func leftError(object meta.Key, finalizer, why string) error {
	return fmt.Errorf("%s has left the cache (%s) and keeps the finalizer %s: "+
		"once deleted, it stays until the finalizer is removed", object, why, finalizer)
}

// mayLeave returns why the object at key may have left the cache although it exists, or, for the zero Key, why any
// object may leave. It is empty if none may.
func mayLeave[T meta.Object](cached cache.Reader[T], key meta.Key) string {
	if isView(cached) {
		return "cached is a view, by cache.Reader.Where"
	}
	if f := filler.Of(fillerOf(cached)); f != nil {
		return f.Leaves(key)
	}
	return ""
}

// isView reports whether a reader or a source leaves out objects that the cache has.
func isView(what any) bool {
	v, ok := what.(interface{ IsWhole() bool })
	return ok && !v.IsWhole()
}

// refuse returns an error if objects may leave the cache although they exist, and makes the Run of the informer return
// it.
func refuse[T meta.Object](cached cache.Reader[T], finalizer string) error {
	why := mayLeave(cached, meta.Key{})
	if why == "" {
		return nil
	}
	err := fmt.Errorf("controller.Finalize: an object may leave the cache although it exists (%s), and would keep the finalizer %s for ever: "+
		"set FinalizeOptions.Leavers to CleanUpLeavers or ReportLeavers", why, finalizer)
	if f := filler.Of(fillerOf(cached)); f != nil {
		f.Refuse(err)
	}
	return err
}

// followsKey is the context key of the controller of a reconcile. sourceMismatch asks that controller what it follows.
type followsKey struct{}

// sourceMismatch returns an error if Finalize reads a whole cache, but the controller follows only views of it.
func sourceMismatch[T meta.Object](ctx context.Context, cached cache.Reader[T], finalizer string) error {
	c, ok := ctx.Value(followsKey{}).(interface{ followsOnlyViews(of runner) bool })
	filler := fillerOf(cached)
	if !ok || filler == nil || isView(cached) || !c.followsOnlyViews(filler) {
		return nil
	}
	return fmt.Errorf("controller.Finalize: the source is a view (cache.Reader.Where) and Finalize reads the whole cache: "+
		"an object that leaves the view and is deleted then keeps the finalizer %s for ever; "+
		"pass the view to Finalize too", finalizer)
}

// followsOnlyViews reports whether the controller follows views of the cache that a runner fills, and has no source
// that sees all of it.
func (c *Controller[K]) followsOnlyViews(of runner) (views bool) {
	for _, s := range c.sources() {
		f, ok := s.(interface {
			follows() (filler runner, view bool)
		})
		if !ok {
			continue
		}
		switch filler, view := f.follows(); {
		case filler == nil || !runners.Has([]runner{filler}, of):
		case !view:
			return false
		default:
			views = true
		}
	}
	return views
}

// follows returns the runner that fills the cache of the source, and whether the source follows a view of that cache.
func (o *objects[K, T]) follows() (filler runner, view bool) {
	var from any = o.from
	for {
		w, ok := from.(interface{ within() Subscriber[T] })
		if !ok {
			return fillerOf(o.from), isView(from)
		}
		from = w.within()
	}
}

func (r *rekeyed[K, J]) follows() (filler runner, view bool) {
	if f, ok := r.of.(interface {
		follows() (filler runner, view bool)
	}); ok {
		return f.follows()
	}
	return nil, false
}

package controllers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// claimable is an object that a controller can adopt and release.
type claimable interface {
	meta.Ownable[meta.OwnerReference]
	meta.Labelled
	meta.Deletable[*meta.Time]
	GetFinalizers() []string
}

// claim decides which objects belong to an owner with a selector.
type claim[T claimable] struct {
	objects  client.Resource[T]
	owner    client.Owner
	uid      string // of the owner
	deleting bool   // whether the owner is being deleted
	selector meta.Selector
	// check returns an error unless the owner still exists on the server, and is not being deleted. It is called before
	// the first adoption.
	check func(ctx context.Context) error
	// setFinalizer adds a finalizer to an object that is adopted, and removes it from one that is released; it may be
	// nil.
	setFinalizer func(obj T, present bool)
}

// run returns the objects that the owner controls and selects. It releases an object that the owner controls and does
// not select. It adopts an object that the owner selects and nobody controls.
func (c *claim[T]) run(ctx context.Context, candidates iter.Seq[T]) ([]T, error) {
	var claimed []T
	var errs []error
	for _, obj := range slices.Collect(candidates) {
		controller, has := meta.ControllerOf(obj)
		matches := c.selector.Matches(obj.GetLabels())
		var err error
		switch {
		case has && controller.UID != c.uid:
			continue
		case has && !matches && !c.deleting:
			_, err = c.release(ctx, obj)
			matches = false
		case !has && matches && !c.deleting && !meta.IsDeleting(obj):
			var adopted T
			if adopted, err = c.adopt(ctx, obj); err == nil {
				obj = adopted
			}
		case !has:
			continue
		}
		switch {
		case errors.Is(err, apierrors.NotFound):
		case err != nil:
			errs = append(errs, err)
		case matches:
			claimed = append(claimed, obj)
		}
	}
	return claimed, errors.Join(errs...)
}

func (c *claim[T]) adopt(ctx context.Context, obj T) (T, error) {
	if c.check != nil {
		if err := c.check(ctx); err != nil {
			var none T
			return none, fmt.Errorf("adopt %s: %w", meta.KeyOf(obj), err)
		}
		c.check = nil
	}
	mine := meta.Clone(obj)
	if err := client.SetController(mine, c.owner); err != nil {
		return mine, err
	}
	if c.setFinalizer != nil {
		c.setFinalizer(mine, true)
	}
	return write(ctx, c.objects.Patch, obj, mine)
}

func (c *claim[T]) release(ctx context.Context, obj T) (T, error) {
	free := meta.Clone(obj)
	if err := client.RemoveOwner(free, c.owner); err != nil {
		return free, err
	}
	if c.setFinalizer != nil {
		c.setFinalizer(free, false)
	}
	return write(ctx, c.objects.Patch, obj, free)
}

// stillThere returns a check for claim: it reads the owner from the server, because a cache may not know yet that the
// owner is being deleted.
func stillThere[T interface {
	meta.Identified[string]
	meta.Deletable[*meta.Time]
}](r client.Resource[T], owner T) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		live, err := r.Get(ctx, meta.KeyOf(owner))
		switch {
		case err != nil:
			return err
		case live.GetUID() != owner.GetUID():
			return fmt.Errorf("%s is gone: its uid was %s, and another object with uid %s has its name", meta.KeyOf(owner), owner.GetUID(), live.GetUID())
		case meta.IsDeleting(live):
			return fmt.Errorf("%s is being deleted", meta.KeyOf(owner))
		}
		return nil
	}
}

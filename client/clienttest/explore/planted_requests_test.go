package explore

import (
	"context"
	"errors"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// plantedRequests are bugs that show when the server refuses a request, or says something else than it has done.
func plantedRequests() []planted {
	return []planted{
		{
			name: "the conflict of a quota is taken for a child that exists", by: []kind{conflict},
			do: makes(apierrors.AlreadyExists, apierrors.Conflict), mended: makes(apierrors.AlreadyExists),
		},
		{
			name: "a refusal by admission is final", by: []kind{refused, forbidden},
			do: final(apierrors.Forbidden), mended: right,
		},
		{
			name: "a child that may not be read has gone", by: []kind{forbidden},
			do: cleansWhatItSees(apierrors.NotFound, apierrors.Forbidden), mended: cleansWhatItSees(apierrors.NotFound),
		},
		{
			name: "what was read before a list expires is taken for all of it", by: []kind{expired},
			do: sweeps(apierrors.Expired), mended: sweeps(),
		},
		{
			name: "a timeout is taken for success", by: []kind{timeoutBefore},
			do: makes(apierrors.AlreadyExists, apierrors.Timeout), mended: makes(apierrors.AlreadyExists),
		},
		{
			name: "a server that is busy and does not say for how long is given up", by: []kind{overloaded},
			do: final(apierrors.TooManyRequests), mended: right,
		},
		{
			name: "a write that a policy refuses is done as far as the status says", by: []kind{invalid},
			do: makes(apierrors.AlreadyExists, apierrors.Invalid), mended: makes(apierrors.AlreadyExists),
		},
		{
			name: "a child is made under another name after an error of the server", by: []kind{failureAfter},
			do: renames, mended: makes(apierrors.AlreadyExists),
		},
	}
}

// emptyChild returns a child whose content does not depend on when it is made.
func emptyChild(box *Box) *ConfigMap {
	child := childOf(box)
	child.Data = nil
	return child
}

// makes makes a child once, and takes some errors for success.
func makes(success ...apierrors.Reason) reconcile {
	return func(ctx context.Context, p *program, _ meta.Key, box *Box) error {
		if box == nil || meta.IsDeleting(box) || box.Status.Child != "" {
			return nil
		}
		_, err := p.maps.Create(ctx, emptyChild(box))
		if err := apierrors.Ignore(err, success...); err != nil {
			return err
		}
		return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
	}
}

// final gives up after some errors.
func final(reasons ...apierrors.Reason) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		err := right(ctx, p, key, box)
		if err != nil && apierrors.Ignore(err, reasons...) == nil {
			return controller.Terminal(err)
		}
		return err
	}
}

// cleansWhatItSees deletes a child that it reads first, from the server. It takes some errors for its absence.
func cleansWhatItSees(absent ...apierrors.Reason) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box == nil || !meta.IsDeleting(box) || len(box.Finalizers) == 0 {
			return right(ctx, p, key, box)
		}
		_, err := p.maps.Get(ctx, key)
		if err := apierrors.Ignore(err, absent...); err != nil {
			return err
		}
		if err == nil {
			if err := p.remove(ctx, key); err != nil {
				return err
			}
		}
		return p.release(ctx, box)
	}
}

// sweeps makes each child once, and deletes those without a Box. It takes some errors for the end of a list.
func sweeps(end ...apierrors.Reason) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		there := map[meta.Key]bool{}
		for b, err := range p.boxes.All(ctx, client.ListOptions{PageSize: 1}) {
			if err := apierrors.Ignore(err, end...); err != nil {
				return err
			}
			if err == nil {
				there[b.Key()] = true
			}
		}
		for child := range p.child.All() {
			if !there[child.Key()] {
				if err := p.remove(ctx, child.Key()); err != nil {
					return err
				}
			}
		}
		return makes(apierrors.AlreadyExists)(ctx, p, key, box)
	}
}

// renames uses another name if the server says that it has failed.
func renames(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) || box.Status.Child != "" {
		return nil
	}
	child := emptyChild(box)
	if p.memory[box.Key()] > 0 {
		child.Name += "-2"
	}
	_, err := p.maps.Create(ctx, child)
	if errors.Is(err, apierrors.InternalError) {
		p.memory[box.Key()]++
	}
	if err := apierrors.Ignore(err, apierrors.AlreadyExists); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = "made" })
}

package explore

import (
	"context"
	"errors"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// plantedEdits are bugs that show when a person changes an object of the program, or its namespace, at a bad moment.
// The same edit at rest is mended.
func plantedEdits() []planted {
	return []planted{
		{
			name: "a child elsewhere is made before the finalizer that cleans it up", by: []kind{terminated},
			do: elsewhere(false), mended: elsewhere(true), history: inANamespace,
		},
		{
			name: "a conflict with a person is taken for one with a replica that has done the work", by: []kind{edited},
			do: writes(true), mended: writes(false),
		},
		{
			name: "a cleanup by labels misses a child whose labels were taken away", by: []kind{unlabeled},
			do: labels(removeByLabel), mended: labels(removeByKey),
		},
		{
			name: "a child without an owner is adopted at one place and left alone at another", by: []kind{disowned}, long: true,
			do: adoptsOrphans(false), mended: adoptsOrphans(true),
		},
	}
}

// namespace is the type of namespaces.
type namespace struct {
	meta.ObjectMeta `json:"metadata"`
}

// inANamespace is a history in which a Box lives in a namespace of people.
func inANamespace(h *History) {
	work := &namespace{ObjectMeta: meta.ObjectMeta{Name: "work"}}
	Create(h, client.Type[*namespace]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}, work)
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "work", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
	Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
	h.Rest()
}

// elsewhere makes the child in another namespace, so no garbage collector deletes it. The Box has a finalizer before
// there is something to clean up, or after it.
func elsewhere(holdsFirst bool) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box == nil {
			return nil
		}
		child := emptyChild(box)
		child.Namespace, child.Name = "default", box.Namespace+"-"+box.Name
		held := slices.Contains(box.Finalizers, boxFinalizer)
		switch {
		case meta.IsDeleting(box) && !held:
			return nil
		case meta.IsDeleting(box):
			if err := p.remove(ctx, child.Key()); err != nil {
				return err
			}
			return p.release(ctx, box)
		case holdsFirst && !held:
			return p.hold(ctx, box) // the event of it brings the key again
		}
		if _, found := p.child.Get(child.Key()); !found {
			if _, err := p.maps.Create(ctx, child); apierrors.Ignore(err, apierrors.AlreadyExists) != nil {
				return err
			}
		}
		if !held {
			return p.hold(ctx, box)
		}
		return nil
	}
}

// writes is a controller of a child with the text of the Box. It counts the generation of a Box as done after a
// conflict, or tries again.
func writes(believes bool) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if believes && box != nil && !meta.IsDeleting(box) && p.memory[key] == int(box.Generation) {
			return nil
		}
		err := right(ctx, p, key, box)
		if believes && errors.Is(err, apierrors.Conflict) {
			p.memory[key] = int(box.Generation)
			return nil
		}
		return err
	}
}

// labels is a controller of a child with a label. It says that it cleans up before it does so.
func labels(remove func(context.Context, *program, meta.Key) error) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box == nil || !meta.IsDeleting(box) {
			return labeled(ctx, p, box)
		}
		if !slices.Contains(box.Finalizers, boxFinalizer) {
			return nil
		}
		if box.Status.Child != "going" {
			if err := p.say(ctx, box, func(b *Box) { b.Status.Child = "going" }); err != nil {
				return err
			}
		}
		if err := remove(ctx, p, key); err != nil {
			return err
		}
		return p.release(ctx, box)
	}
}

// labeled keeps the finalizer of a Box that stays, and the label and the text of its child.
func labeled(ctx context.Context, p *program, box *Box) error {
	if box == nil {
		return nil
	}
	if !slices.Contains(box.Finalizers, boxFinalizer) {
		return p.hold(ctx, box)
	}
	child, found := p.child.Get(box.Key())
	want := childOf(box)
	want.Labels = map[string]string{"box": box.Name}
	switch {
	case !found:
		_, err := p.maps.Create(ctx, want)
		return err
	case child.Labels["box"] != box.Name || child.Data["text"] != box.Spec.Text:
		child = meta.Clone(child)
		child.Labels, child.Data = want.Labels, want.Data
		_, err := p.maps.Update(ctx, child)
		return err
	}
	return nil
}

func removeByLabel(ctx context.Context, p *program, key meta.Key) error {
	return p.maps.DeleteCollection(ctx, client.Selection{Namespace: key.Namespace, LabelSelector: "box=" + key.Name}, client.DeleteOptions{})
}

func removeByKey(ctx context.Context, p *program, key meta.Key) error { return p.remove(ctx, key) }

// adoptsOrphans makes a child with the label of a Box its own again when the child has lost its owner. When the text
// changes it reads the child from the server. There it does the same, or takes the child for a stranger's, and makes
// another one.
func adoptsOrphans(always bool) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box == nil || meta.IsDeleting(box) {
			return nil
		}
		child, found := p.child.Get(key)
		switch {
		case !found:
			_, err := p.maps.Create(ctx, ownChild(box))
			return err
		case !isOrphanOf(child, box) && !isOwn(child, box):
			return nil // until it goes
		case isOwn(child, box) && child.Data["text"] == box.Spec.Text:
			return nil
		case isOwn(child, box):
			is, err := p.maps.Get(ctx, key)
			if err != nil {
				return err
			}
			if child = is; !always && !isOwn(child, box) {
				other := ownChild(box)
				other.Name += "-2"
				_, err := p.maps.Create(ctx, other)
				return apierrors.Ignore(err, apierrors.AlreadyExists)
			}
		}
		if !isOrphanOf(child, box) && !isOwn(child, box) {
			return nil
		}
		child = meta.Clone(child)
		if child.Data = childOf(box).Data; !isOwn(child, box) {
			child.OwnerReferences = ownChild(box).OwnerReferences
		}
		_, err := p.maps.Update(ctx, child)
		return err
	}
}

// isOrphanOf reports whether a ConfigMap has the label of a Box, and no owner.
func isOrphanOf(child *ConfigMap, box *Box) bool {
	return child.Labels["box"] == box.Name && len(child.OwnerReferences) == 0
}

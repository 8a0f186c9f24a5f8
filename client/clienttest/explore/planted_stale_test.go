package explore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// plantedStale are bugs that show when something that is read is old.
func plantedStale() []planted {
	return []planted{
		{
			name: "a child whose owner is not in an old cache is deleted", by: []kind{timeTravel},
			run: reconcile(sweepsByCache).runStale, mendedRun: reconcile(sweepsByServer).runStale, history: childrenWithNotes,
		},
		{
			name: "a deletion that was done once is done again to the successor", by: []kind{timeTravel}, long: true,
			run: cleansWith(removeByName).runStale, mendedRun: cleansWith(removeByOwner).runStale, history: successors,
		},
		{
			name: "a sweep of leftovers lists the owners from the server's cache", by: []kind{staleRead},
			do: sweepsByOldList, mended: sweepsByList, history: childrenWithNotes,
		},
		{
			name: "a child is recorded under a name that is only in a cache", by: []kind{lag},
			do: takesFreeNames, mended: takesOneName,
		},
	}
}

// note makes a person write into the child of a Box.
func note(h *History, key meta.Key) {
	Modify(h, mapType(), key, func(m *ConfigMap) error { m.Data["note"] = "keep this"; return nil })
	h.Rest()
}

// childrenWithNotes is a history in which a person writes into a child. A child that is made again has no note.
func childrenWithNotes(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
	note(h, a.Key())
	Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
	h.Rest()
}

// successors is a history in which a Box is deleted, and made again under its name.
func successors(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
	Delete(h, boxType(), a.Key())
	h.Rest()
	Create(h, boxType(), a)
	h.Rest()
	note(h, a.Key())
	Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = "two"; return nil })
	h.Rest()
}

// keeps makes the child as it should be, and keeps what others wrote into it.
func keeps(ctx context.Context, p *program, box *Box) error {
	child, found := p.child.Get(box.Key())
	if !found {
		child = childOf(box)
		child.OwnerReferences = ownedBy(box)
		_, err := p.maps.Create(ctx, child)
		return err
	}
	if child.Data["text"] == box.Spec.Text {
		return nil
	}
	_, err := p.maps.Modify(ctx, box.Key(), func(m *ConfigMap) error { m.Data["text"] = box.Spec.Text; return nil })
	return err
}

// ownedBy returns the owner reference to a Box.
func ownedBy(box *Box) []meta.OwnerReference {
	gvk := boxType().GVK()
	return []meta.OwnerReference{{APIVersion: gvk.APIVersion(), Kind: gvk.Kind, Name: box.Name, UID: box.UID, Controller: new(true)}}
}

// ownerOf returns the uid of the Box that owns a child; empty if no Box owns it.
func ownerOf(child *ConfigMap) string {
	if owner, _ := meta.ControllerOf(child); owner.Kind == boxType().Kind {
		return owner.UID
	}
	return ""
}

// isOrphan reports whether the cache has a child with a key that a Box owns, but not the given one. Others leave it
// alone.
func (p *program) isOrphan(key meta.Key, box *Box) bool {
	child, found := p.child.Get(key)
	return found && ownerOf(child) != "" && (box == nil || ownerOf(child) != box.UID)
}

// keepsAndSays does that, and says so in the status.
func keepsAndSays(ctx context.Context, p *program, box *Box) error {
	if err := keeps(ctx, p, box); err != nil || box.Status.Text == box.Spec.Text {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text = box.Spec.Text })
}

func sweepsByCache(ctx context.Context, p *program, key meta.Key, box *Box) error {
	switch {
	case box != nil:
		return keepsAndSays(ctx, p, box)
	case p.isOrphan(key, nil):
		return p.remove(ctx, key)
	}
	return nil
}

// removeOrphan deletes the child, unless the Box that owns it is on the server.
func (p *program) removeOrphan(ctx context.Context, key meta.Key) error {
	child, err := p.maps.Get(ctx, key)
	if err != nil || ownerOf(child) == "" {
		return apierrors.Ignore(err, apierrors.NotFound)
	}
	box, err := p.boxes.Get(ctx, key)
	switch {
	case errors.Is(err, apierrors.NotFound):
	case err != nil:
		return err
	case ownerOf(child) == box.UID:
		return nil
	}
	return apierrors.Ignore(p.maps.Delete(ctx, key, client.DeleteOptions{UID: child.UID}), apierrors.NotFound)
}

func sweepsByServer(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if p.isOrphan(key, box) {
		return p.removeOrphan(ctx, key) // its deletion brings the key again
	}
	if box == nil {
		return nil
	}
	return keepsAndSays(ctx, p, box)
}

// cleansWith has a finalizer, and a function that removes the child of a Box that is being deleted.
func cleansWith(remove func(context.Context, *program, *Box) error) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		switch {
		case box != nil && meta.IsDeleting(box):
			if !slices.Contains(box.Finalizers, boxFinalizer) {
				return nil
			}
			if err := remove(ctx, p, box); err != nil {
				return err
			}
			return p.release(ctx, box)
		case box != nil && !slices.Contains(box.Finalizers, boxFinalizer):
			return p.hold(ctx, box)
		}
		if p.isOrphan(key, box) {
			return p.removeOrphan(ctx, key) // its deletion brings the key again
		}
		if box == nil {
			return nil
		}
		return keeps(ctx, p, box)
	}
}

func removeByName(ctx context.Context, p *program, box *Box) error { return p.remove(ctx, box.Key()) }

func removeByOwner(ctx context.Context, p *program, box *Box) error {
	child, err := p.maps.Get(ctx, box.Key())
	if err != nil || ownerOf(child) != box.UID {
		return apierrors.Ignore(err, apierrors.NotFound)
	}
	return apierrors.Ignore(p.maps.Delete(ctx, box.Key(), client.DeleteOptions{UID: child.UID}), apierrors.NotFound)
}

// sweepWith deletes the children whose Boxes are not in a list.
func sweepWith(ctx context.Context, p *program, box *Box, o client.ListOptions) error {
	if box == nil || box.Status.Text == box.Spec.Text {
		return nil
	}
	if err := keeps(ctx, p, box); err != nil {
		return err
	}
	boxes, err := p.boxes.List(ctx, o)
	if err != nil {
		return err
	}
	owners := map[meta.Key]bool{}
	for _, b := range boxes.Items {
		owners[b.Key()] = true
	}
	for child := range p.child.All() {
		if ownerOf(child) != "" && !owners[child.Key()] {
			if err := p.remove(ctx, child.Key()); err != nil {
				return err
			}
		}
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text = box.Spec.Text })
}

func sweepsByOldList(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	return sweepWith(ctx, p, box, client.ListOptions{ResourceVersion: "0"})
}

func sweepsByList(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	return sweepWith(ctx, p, box, client.ListOptions{})
}

// takesFreeNames records the child in the status, and makes it first if the status in the cache has none. Two watches may bring
// the child before the status at one moment, so it waits for both: only a cache that is behind for longer shows the bug.
func takesFreeNames(ctx context.Context, p *program, key meta.Key, _ *Box) error {
	time.Sleep(time.Second)
	box, found := p.box.Get(key)
	if !found || box.Status.Child != "" {
		return nil
	}
	taken := maps.Collect(func(yield func(string, bool) bool) {
		for child := range p.child.All() {
			if !yield(child.Name, true) {
				return
			}
		}
	})
	child := emptyChild(box)
	for child.Name = box.Name; taken[child.Name]; {
		child.Name += "x"
	}
	if _, err := p.maps.Create(ctx, child); err != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = child.Name })
}

func takesOneName(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || box.Status.Child != "" {
		return nil
	}
	if _, err := p.maps.Create(ctx, emptyChild(box)); apierrors.Ignore(err, apierrors.AlreadyExists) != nil {
		return err
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Child = box.Name })
}

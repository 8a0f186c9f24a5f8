package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// plantedOthers are bugs that show when people and other programs do something at a bad moment.
func plantedOthers() []planted {
	return []planted{
		{name: "a label makes a stranger a child", by: []kind{stranger}, do: adopts, mended: owns},
		{name: "a deletion by labels deletes what others have made", by: []kind{stranger}, do: deletesByLabel, mended: deletesOwn},
		{name: "a cleanup without a uid deletes what a person has made under the name", by: []kind{replaced}, do: deletesByName, mended: deletesOwn, long: true},
		{name: "a PUT of the own finalizers removes those of others", by: []kind{finalized}, do: dropsFinalizers, mended: right},
		{name: "a PUT of the own owner removes those of others", by: []kind{coowned}, do: dropsOwners, mended: owns},
		{name: "a child that is held by a finalizer is never made again", by: []kind{finalized}, do: makesAgain(true), mended: makesAgain(false)},
		{name: "a child that has just gone is a nil pointer", by: []kind{deleted}, do: panics, mended: right},
		{name: "a child is made for a Box that has gone, and forgotten", by: []kind{deleted}, do: forgets, mended: right},
		{name: "a garbage collector that is late has failed", by: []kind{collectorLate}, do: reports(true), mended: reports(false)},
	}
}

func TestPlantedBugsOfRequestsAreFound(t *testing.T) { arePlanted(t, plantedRequests()) }

func TestPlantedBugsOfOthersAreFound(t *testing.T) { arePlanted(t, plantedOthers()) }

func TestPlantedBugsOfEditsAreFound(t *testing.T) { arePlanted(t, plantedEdits()) }

// arePlanted checks that each bug is found by one disturbance of its kinds, and that nothing is found in the corrected
// version.
func arePlanted(t *testing.T, bugs []planted) {
	for _, b := range usual(bugs) {
		t.Run(b.name, func(t *testing.T) {
			s := b.search(t, b.do, nil, b.by, time.Minute)
			if s.failed == nil {
				t.Fatalf("nothing was found in %d runs", s.counts.runs)
			}
			t.Logf("%v, in run %d: %q", s.failed.schedule, s.counts.runs, s.failed.wrong)
			if len(s.failed.schedule) != 1 {
				t.Errorf("the schedule is %q: want one disturbance of %q", s.failed.schedule, b.by)
			}
			if s := b.search(t, b.mended, nil, b.by, 5*time.Second); s.failed != nil {
				t.Errorf("a false alarm in the corrected version, under %q: %q\n%s", s.failed.schedule, s.failed.wrong, s.failed.tale())
			}
		})
	}
}

func TestNothingIsFoundInCorrectedControllers(t *testing.T) {
	for _, b := range slices.Concat(plantedRequests(), plantedOthers(), plantedEdits()) {
		t.Run(b.name, func(t *testing.T) {
			s := &search{t: t, plan: b.plan(b.mended, nil), limit: *each, seed: *seed}
			if *whole {
				s.limit = 30 * time.Second
			}
			if s.reference() {
				s.sample()
			}
			if s.failed != nil {
				t.Errorf("a false alarm under %q: %q\n%s", s.failed.schedule, s.failed.wrong, s.failed.tale())
			}
		})
	}
}

// ownChild returns the child of a Box, with a label and an owner.
func ownChild(box *Box) *ConfigMap {
	child := childOf(box)
	child.Labels = map[string]string{"box": box.Name}
	child.OwnerReferences = []meta.OwnerReference{{
		APIVersion: "example.com/v1", Kind: "Box", Name: box.Name, UID: box.UID, Controller: new(true),
	}}
	return child
}

// isOwn reports whether a ConfigMap is the child of a Box.
func isOwn(child *ConfigMap, box *Box) bool {
	return slices.ContainsFunc(child.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == box.UID })
}

// owns is a controller without a bug: its child has an owner, and goes by the garbage collector. It leaves alone what
// is not its own.
func owns(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) {
		return nil
	}
	child, found := p.child.Get(key)
	switch {
	case !found:
		if _, err := p.maps.Create(ctx, ownChild(box)); err != nil {
			return err
		}
	case !isOwn(child, box):
		return nil // until it goes
	case child.Data["text"] != box.Spec.Text || child.Labels["box"] != box.Name:
		child = meta.Clone(child)
		child.Data = childOf(box).Data
		if child.Labels == nil {
			child.Labels = map[string]string{}
		}
		child.Labels["box"] = box.Name
		if _, err := p.maps.Update(ctx, child); err != nil {
			return err
		}
	}
	if box.Status.Text == box.Spec.Text {
		return nil
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text = box.Spec.Text })
}

// adopts makes each ConfigMap with the label its own.
func adopts(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || meta.IsDeleting(box) {
		return nil
	}
	for child := range p.child.All() {
		if child.Labels["box"] == box.Name && !isOwn(child, box) {
			child = meta.Clone(child)
			child.OwnerReferences = ownChild(box).OwnerReferences
			if _, err := p.maps.Update(ctx, child); err != nil {
				return err
			}
		}
	}
	return owns(ctx, p, key, box)
}

// finishes is owns with a finalizer and a cleanup.
func finishes(ctx context.Context, p *program, key meta.Key, box *Box, clean func() error) error {
	switch {
	case box == nil:
		return nil
	case meta.IsDeleting(box):
		if !slices.Contains(box.Finalizers, boxFinalizer) {
			return nil
		}
		if err := clean(); err != nil {
			return err
		}
		return p.release(ctx, box)
	case !slices.Contains(box.Finalizers, boxFinalizer):
		return p.hold(ctx, box)
	}
	return owns(ctx, p, key, box)
}

func deletesByLabel(ctx context.Context, p *program, key meta.Key, box *Box) error {
	return finishes(ctx, p, key, box, func() error {
		return p.maps.DeleteCollection(ctx, client.Selection{Namespace: key.Namespace, LabelSelector: "box=" + key.Name}, client.DeleteOptions{})
	})
}

func deletesByName(ctx context.Context, p *program, key meta.Key, box *Box) error {
	return finishes(ctx, p, key, box, func() error {
		if child, found := p.child.Get(key); !found || !isOwn(child, box) {
			return nil
		}
		return p.remove(ctx, key)
	})
}

func deletesOwn(ctx context.Context, p *program, key meta.Key, box *Box) error {
	return finishes(ctx, p, key, box, func() error {
		child, found := p.child.Get(key)
		if !found || !isOwn(child, box) {
			return nil
		}
		return apierrors.Ignore(p.maps.Delete(ctx, key, client.DeleteOptions{UID: child.UID}), apierrors.NotFound)
	})
}

func dropsFinalizers(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box != nil && meta.IsDeleting(box) && slices.Contains(box.Finalizers, boxFinalizer) {
		if err := p.remove(ctx, key); err != nil {
			return err
		}
		box.Finalizers = nil
		_, err := p.boxes.Update(ctx, box)
		return apierrors.Ignore(err, apierrors.NotFound)
	}
	return right(ctx, p, key, box)
}

func dropsOwners(ctx context.Context, p *program, key meta.Key, box *Box) error {
	child, found := p.child.Get(key)
	if box == nil || meta.IsDeleting(box) || !found || child.Data["text"] == box.Spec.Text {
		return owns(ctx, p, key, box)
	}
	_, err := p.maps.Update(ctx, ownChild(box)) // without a resource version
	return apierrors.Ignore(err, apierrors.NotFound)
}

// makesAgain deletes a child that must change, and makes it again.
func makesAgain(gives bool) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		child, found := p.child.Get(key)
		switch {
		case gives && box != nil && !meta.IsDeleting(box) && p.memory[key] > 0:
			return nil
		case box == nil || meta.IsDeleting(box) || !found || child.Data["text"] == box.Spec.Text:
			return right(ctx, p, key, box)
		}
		if err := p.remove(ctx, key); err != nil {
			return err
		}
		_, err := p.maps.Create(ctx, childOf(box))
		if gives && errors.Is(err, apierrors.AlreadyExists) {
			p.memory[key]++ // it is there
			return nil
		}
		return err
	}
}

// forgets deletes a child only if it has written the status after it has made the child.
func forgets(ctx context.Context, p *program, key meta.Key, box *Box) error {
	switch {
	case box == nil && p.memory[key] > 0:
		return p.remove(ctx, key)
	case box == nil:
		return nil
	}
	if err := p.ensure(ctx, box); err != nil {
		return err
	}
	if _, err := p.boxes.Status().Modify(ctx, key, func(b *Box) error { b.Status.Text = box.Spec.Text; return nil }); err != nil {
		return err
	}
	p.memory[key]++
	return nil
}

func panics(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if _, found := p.child.Get(key); found && box != nil && !meta.IsDeleting(box) {
		child, _ := p.maps.Get(ctx, key)
		if child.Data["text"] != box.Spec.Text {
			child.Data = childOf(box).Data
			if _, err := p.maps.Update(ctx, child); err != nil {
				return err
			}
		}
	}
	return right(ctx, p, key, box)
}

// reports says in a ConfigMap that a child is left over. If it is hasty, it says so before the garbage collector has
// come to it.
func reports(hasty bool) reconcile {
	return func(ctx context.Context, p *program, key meta.Key, box *Box) error {
		if box != nil {
			return owns(ctx, p, key, box)
		}
		if _, err := p.boxes.Get(ctx, key); !errors.Is(err, apierrors.NotFound) {
			return err
		}
		child, found := p.child.Get(key)
		switch {
		case !found || len(child.OwnerReferences) == 0:
			return nil
		case !hasty:
			return errors.New("the garbage collector has not come to the child")
		}
		_, err := p.maps.Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: "left-over-" + key.Name}})
		return apierrors.Ignore(err, apierrors.AlreadyExists)
	}
}

// sample plays single disturbances of all kinds, in an order that is the same each time, until the search is over.
func (s *search) sample() {
	for d := range s.candidates(s.want) {
		s.all = append(s.all, d)
	}
	r := rand.New(rand.NewPCG(s.seed, 1))
	r.Shuffle(len(s.all), func(i, j int) { s.all[i], s.all[j] = s.all[j], s.all[i] })
	work(func(yield func(func()) bool) {
		for _, d := range s.all {
			if !yield(func() { s.try(schedule{d}) }) {
				return
			}
		}
	}, s.over)
}

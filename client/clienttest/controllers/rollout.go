package controllers

import (
	"context"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// rollout is one reconcile of a deployment: it brings the deployment one step nearer to its template, and writes what
// it finds into the status.
type rollout struct {
	c   *deployments
	d   *deployment   // as the server has it after the writes so far
	new *replicaSet   // has the present template; nil if there is none
	old []*replicaSet // the others, the oldest first
	now time.Time
}

func newRollout(c *deployments, d *deployment, sets []*replicaSet) *rollout {
	r := &rollout{c: c, d: d, now: time.Now()}
	for _, set := range slices.SortedFunc(slices.Values(sets), older) {
		if r.new == nil && set.Spec.Template.equal(&d.Spec.Template) {
			r.new = set
		} else {
			r.old = append(r.old, set)
		}
	}
	return r
}

// older orders replica sets by their age, the oldest first.
func older(a, b *replicaSet) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	return a.Key().Compare(b.Key())
}

// all returns every replica set of the deployment.
func (r *rollout) all() []*replicaSet {
	if r.new == nil {
		return slices.Clone(r.old)
	}
	return append(slices.Clone(r.old), r.new)
}

// active returns those of the sets that should have pods.
func active(sets []*replicaSet) []*replicaSet {
	return slices.DeleteFunc(slices.Clone(sets), func(s *replicaSet) bool { return s.replicas() == 0 })
}

// sum adds up a number of all sets.
func sum(sets []*replicaSet, of func(*replicaSet) int) (total int) {
	for _, s := range sets {
		total += of(s)
	}
	return total
}

func wanted(s *replicaSet) int    { return s.replicas() }
func existing(s *replicaSet) int  { return s.Status.Replicas }
func ready(s *replicaSet) int     { return s.Status.ReadyReplicas }
func available(s *replicaSet) int { return s.Status.AvailableReplicas }

func (r *rollout) run(ctx context.Context) error {
	if meta.IsDeleting(r.d) {
		if err := r.syncRevision(ctx); err != nil {
			return err
		}
		return r.writeStatus(ctx, r.status())
	}
	if err := r.notePause(ctx); err != nil {
		return err
	}
	if r.d.Spec.Paused {
		return r.resize(ctx)
	}
	if err := r.syncRevision(ctx); err != nil {
		return err
	}
	switch {
	case r.isResized():
		return r.resize(ctx)
	case r.d.isRolling():
		return r.replaceSlowly(ctx)
	}
	return r.recreate(ctx)
}

// isResized reports whether the number of replicas of the deployment has changed since its sets were scaled.
func (r *rollout) isResized() bool {
	for _, set := range active(r.all()) {
		if n, ok := annotatedNumber(set, desiredAnnotation); ok && n != r.d.replicas() {
			return true
		}
	}
	return false
}

// replaceSlowly is a step of the strategy RollingUpdate: the new set grows as far as the surge allows, or else old sets
// shrink as far as the available pods allow.
func (r *rollout) replaceSlowly(ctx context.Context) error {
	if err := r.ensureNew(ctx); err != nil {
		return err
	}
	scaled, err := r.grow(ctx)
	if err == nil && !scaled {
		scaled, err = r.shrink(ctx)
	}
	if err == nil && !scaled && r.isComplete(r.d.Status) {
		err = r.cleanUp(ctx)
	}
	if err != nil {
		return err
	}
	return r.writeProgress(ctx)
}

// grow scales the new set, and reports whether that was necessary.
func (r *rollout) grow(ctx context.Context) (bool, error) {
	return r.scale(ctx, r.new, r.newReplicas(), false)
}

// newReplicas returns how many pods the new set may have now.
func (r *rollout) newReplicas() int {
	if !r.d.isRolling() {
		return r.d.replicas()
	}
	have := 0
	if r.new != nil {
		have = r.new.replicas()
	}
	if have >= r.d.replicas() {
		return r.d.replicas()
	}
	room := r.d.replicas() + r.d.surge() - sum(r.old, wanted) - have
	return have + max(0, min(room, r.d.replicas()-have))
}

// shrink scales old sets down: first by pods that are not available, whose end costs nothing, and then by others.
func (r *rollout) shrink(ctx context.Context) (scaled bool, err error) {
	least := r.d.replicas() - r.d.maxUnavailable()
	surplus := sum(r.all(), wanted) - least - (r.new.replicas() - r.new.Status.AvailableReplicas)
	if surplus <= 0 || sum(r.old, wanted) == 0 {
		return false, nil
	}
	for _, set := range active(r.old) {
		n := min(surplus, set.replicas()-set.Status.AvailableReplicas)
		if n <= 0 {
			continue
		}
		if _, err := r.scale(ctx, set, set.replicas()-n, false); err != nil {
			return scaled, err
		}
		surplus -= n
		scaled = true
	}
	spare := sum(r.all(), available) - least
	for _, set := range active(r.old) {
		n := min(spare, set.replicas())
		if n <= 0 {
			break
		}
		if _, err := r.scale(ctx, set, set.replicas()-n, false); err != nil {
			return scaled, err
		}
		spare -= n
		scaled = true
	}
	return scaled, nil
}

// recreate is a step of the strategy Recreate: old pods end before new ones are made.
func (r *rollout) recreate(ctx context.Context) error {
	scaled := false
	for _, set := range active(r.old) {
		if _, err := r.scale(ctx, set, 0, false); err != nil {
			return err
		}
		scaled = true
	}
	if scaled || r.oldPodsExist() {
		return r.writeProgress(ctx)
	}
	if err := r.ensureNew(ctx); err != nil {
		return err
	}
	if _, err := r.scale(ctx, r.new, r.d.replicas(), false); err != nil {
		return err
	}
	if r.isComplete(r.d.Status) {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeProgress(ctx)
}

// oldPodsExist reports whether a pod of an old set has not ended.
func (r *rollout) oldPodsExist() bool {
	if sum(r.old, existing) > 0 {
		return true
	}
	for _, set := range r.old {
		for p := range r.c.podsOf.Get(ownedBy{set.Namespace, set.UID}) {
			if !p.isTerminal() {
				return true
			}
		}
	}
	return false
}

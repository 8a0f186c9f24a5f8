package controllers

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The annotations of the replica sets of a deployment: the replicas of the deployment when the set was scaled, and that
// number plus the surge.
const (
	desiredAnnotation = "deployment.kubernetes.io/desired-replicas"
	maxAnnotation     = "deployment.kubernetes.io/max-replicas"
)

// annotatedNumber returns the number in an annotation of a set, if it has one.
func annotatedNumber(set *replicaSet, annotation string) (int, bool) {
	n, err := strconv.ParseUint(set.Annotations[annotation], 10, 31)
	return int(n), err == nil
}

// annotateReplicas sets the two annotations.
func (r *rollout) annotateReplicas(set *replicaSet) {
	annotate(&set.ObjectMeta, desiredAnnotation, strconv.Itoa(r.d.replicas()))
	annotate(&set.ObjectMeta, maxAnnotation, strconv.Itoa(r.d.replicas()+r.d.surge()))
}

func annotate(m *meta.ObjectMeta, key, value string) {
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[key] = value
}

// scale sets the number of replicas of a set, and reports whether the number was different. If always is set, it writes
// the annotations even if the number is the same.
func (r *rollout) scale(ctx context.Context, set *replicaSet, replicas int, always bool) (scaled bool, err error) {
	scaled = set.replicas() != replicas
	if !scaled && !always {
		return false, nil
	}
	changed := meta.Clone(set)
	changed.Spec.Replicas = &replicas
	r.annotateReplicas(changed)
	return scaled, r.writeSet(ctx, set, changed)
}

// writeSet changes a set on the server, and replaces it by the server's answer.
func (r *rollout) writeSet(ctx context.Context, set, changed *replicaSet) error {
	written, err := write(ctx, r.c.sets.Patch, set, changed)
	if err != nil {
		return err
	}
	if set == r.new {
		r.new = written
	}
	if i := slices.Index(r.old, set); i >= 0 {
		r.old[i] = written
	}
	return nil
}

// resize scales the sets of a deployment that is paused, or whose number of replicas has changed: the only active one,
// or else all in proportion to their sizes.
func (r *rollout) resize(ctx context.Context) error {
	if err := r.syncRevision(ctx); err != nil {
		return err
	}
	if err := r.resizeSets(ctx); err != nil {
		return err
	}
	if r.d.Spec.Paused {
		if err := r.cleanUp(ctx); err != nil {
			return err
		}
	}
	return r.writeStatus(ctx, r.status())
}

func (r *rollout) resizeSets(ctx context.Context) error {
	sets := active(r.all())
	switch {
	case len(sets) <= 1:
		set := r.new
		if len(sets) == 1 {
			set = sets[0]
		} else if set == nil && len(r.old) > 0 {
			set = r.old[len(r.old)-1]
		}
		if set == nil {
			return nil
		}
		_, err := r.scale(ctx, set, r.d.replicas(), false)
		return err
	case r.isSaturated():
		for _, set := range active(r.old) {
			if _, err := r.scale(ctx, set, 0, false); err != nil {
				return err
			}
		}
		return nil
	case r.d.isRolling():
		return r.resizeInProportion(ctx, sets)
	}
	return nil
}

// isSaturated reports whether the new set has all pods of the deployment, and they are available.
func (r *rollout) isSaturated() bool {
	if r.new == nil {
		return false
	}
	desired, ok := annotatedNumber(r.new, desiredAnnotation)
	return ok && r.new.replicas() == r.d.replicas() && desired == r.d.replicas() && r.new.Status.AvailableReplicas == r.d.replicas()
}

// resizeInProportion distributes the difference in replicas over the sets by their sizes. The largest gets what is left
// over.
func (r *rollout) resizeInProportion(ctx context.Context, sets []*replicaSet) error {
	size := 0
	if r.d.replicas() > 0 {
		size = r.d.replicas() + r.d.surge()
	}
	add := size - sum(sets, wanted)
	slices.SortFunc(sets, func(a, b *replicaSet) int {
		age := older(a, b)
		if add > 0 {
			age = -age // among sets of one size, the newer grows first, and the older shrinks first
		}
		return cmp.Or(-cmp.Compare(a.replicas(), b.replicas()), age)
	})
	sizes, left := make([]int, len(sets)), add
	for i, set := range sets {
		share := 0
		switch {
		case add > 0:
			share = min(r.share(set), left)
		case add < 0:
			share = max(r.share(set), left)
		}
		sizes[i] = set.replicas() + share
		left -= share
	}
	sizes[0] = max(0, sizes[0]+left)
	for i, set := range sets {
		if _, err := r.scale(ctx, set, sizes[i], true); err != nil {
			return err
		}
	}
	return nil
}

// share returns by how much a set would grow, or shrink if it is negative, if all sets kept their proportions.
func (r *rollout) share(set *replicaSet) int {
	if r.d.replicas() == 0 {
		return -set.replicas()
	}
	before, ok := annotatedNumber(set, maxAnnotation)
	if !ok || before == 0 {
		before = r.d.Status.Replicas
	}
	if before == 0 {
		return 0
	}
	size := float64(set.replicas()) * float64(r.d.replicas()+r.d.surge()) / float64(before)
	return int(math.Round(size)) - set.replicas()
}

// cleanUp deletes the oldest sets beyond the limit of the history, if they have no pods.
func (r *rollout) cleanUp(ctx context.Context) error {
	limit := r.d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == math.MaxInt32 {
		return nil
	}
	sets := slices.DeleteFunc(slices.Clone(r.old), meta.IsDeleting)
	slices.SortStableFunc(sets, func(a, b *replicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	for _, set := range sets[:max(0, len(sets)-*limit)] {
		if set.Status.Replicas != 0 || set.replicas() != 0 || set.Generation > set.Status.ObservedGeneration {
			continue
		}
		if err := apierrors.Ignore(r.c.sets.Delete(ctx, set.Key(), client.DeleteOptions{}), apierrors.NotFound); err != nil {
			return err
		}
	}
	return nil
}

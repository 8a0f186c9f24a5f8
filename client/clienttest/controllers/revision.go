package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The annotations with the revision of a template, and with the revisions that it had before.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history"
)

// historyLength is how long the annotation with earlier revisions may be.
const historyLength = 2000

// revisionOf returns the revision of a set, 0 if it has none.
func revisionOf(set *replicaSet) int64 {
	n, err := strconv.ParseInt(set.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// nextRevision returns the revision of the new set: one more than the highest revision of the old sets.
func (r *rollout) nextRevision() (next int64) {
	for _, set := range r.old {
		next = max(next, revisionOf(set))
	}
	return next + 1
}

// syncRevision gives the new set, if there is one, the next revision and the annotations of the deployment, and the
// deployment the revision of the set.
func (r *rollout) syncRevision(ctx context.Context) error {
	if r.new == nil {
		return nil
	}
	changed := meta.Clone(r.new)
	r.annotateSet(changed)
	changed.Spec.MinReadySeconds = r.d.Spec.MinReadySeconds
	if err := r.writeSet(ctx, r.new, changed); err != nil {
		return err
	}
	d := meta.Clone(r.d)
	annotate(&d.ObjectMeta, revisionAnnotation, r.new.Annotations[revisionAnnotation])
	if d.hasDeadline() && meta.FindCondition(d.Status.Conditions, progressing) == nil {
		d.Status.set(progressing, "True", "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", r.new.Name), r.now)
	}
	return r.save(ctx, d)
}

// annotateSet sets the annotations of the new set.
func (r *rollout) annotateSet(set *replicaSet) {
	for k, v := range r.d.Annotations {
		switch k {
		case "kubectl.kubernetes.io/last-applied-configuration", revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation,
			"deprecated.deployment.rollback.to":
		default:
			annotate(&set.ObjectMeta, k, v)
		}
	}
	before, had := set.Annotations[revisionAnnotation]
	next := r.nextRevision()
	if had && revisionOf(set) >= next {
		return
	}
	annotate(&set.ObjectMeta, revisionAnnotation, strconv.FormatInt(next, 10))
	if had {
		history := strings.FieldsFunc(set.Annotations[historyAnnotation], func(c rune) bool { return c == ',' })
		history = append(history, before)
		for len(history) > 1 && len(strings.Join(history, ",")) > historyLength {
			history = history[1:]
		}
		annotate(&set.ObjectMeta, historyAnnotation, strings.Join(history, ","))
	}
}

// ensureNew creates the new set if there is none.
func (r *rollout) ensureNew(ctx context.Context) error {
	if r.new != nil {
		return nil
	}
	set, err := r.makeSet()
	if err != nil {
		return err
	}
	created, err := r.c.sets.Create(ctx, set)
	switch {
	case errors.Is(err, apierrors.AlreadyExists):
		return r.collided(ctx, set, err)
	case err != nil && ignoreEnding(err) == nil:
		return err
	case err != nil:
		d := meta.Clone(r.d)
		if d.hasDeadline() {
			d.Status.set(progressing, "False", "ReplicaSetCreateError", fmt.Sprintf("Failed to create new replica set %q: %v", set.Name, err), r.now)
		}
		return errors.Join(err, r.save(ctx, d))
	}
	r.new = created
	d := meta.Clone(r.d)
	annotate(&d.ObjectMeta, revisionAnnotation, created.Annotations[revisionAnnotation])
	if d.hasDeadline() {
		d.Status.set(progressing, "True", "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", created.Name), r.now)
	}
	return r.save(ctx, d)
}

// makeSet returns the set that has the template of the deployment, with the label of its hash.
func (r *rollout) makeSet() (*replicaSet, error) {
	hash, err := r.d.Spec.Template.hash(r.d.Status.CollisionCount)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(r.d.Spec.Template.Metadata.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hashLabel] = hash
	selector := meta.Clone(r.d.Spec.Selector)
	if selector.MatchLabels == nil {
		selector.MatchLabels = map[string]string{}
	}
	selector.MatchLabels[hashLabel] = hash

	set := &replicaSet{}
	const longest = 253 // the length limit of a name
	name := r.d.Name
	set.Namespace, set.Name = r.d.Namespace, name[:min(len(name), longest-1-len(hash))]+"-"+hash
	set.Labels = labels
	set.Spec.MinReadySeconds, set.Spec.Selector, set.Spec.Template = r.d.Spec.MinReadySeconds, selector, r.d.Spec.Template
	set.Spec.Template.Metadata.Labels = labels
	replicas := r.newReplicas()
	set.Spec.Replicas = &replicas
	r.annotateSet(set)
	r.annotateReplicas(set)
	return set, client.SetController(set, client.OwnerOf(deploymentType(), r.d))
}

// collided handles a new set whose name is taken. If the set of that name belongs to this deployment and has its
// template, the cache did not have it, and it becomes the new set. Otherwise collided counts a collision, which changes
// the hash.
func (r *rollout) collided(ctx context.Context, set *replicaSet, failure error) error {
	live, err := r.c.sets.Get(ctx, set.Key())
	if err != nil {
		return err
	}
	owner, _ := meta.ControllerOf(live)
	if owner.UID == r.d.UID && live.Spec.Template.equal(&r.d.Spec.Template) {
		r.new = live
		r.old = slices.DeleteFunc(r.old, func(s *replicaSet) bool { return s.UID == live.UID })
		return r.syncRevision(ctx)
	}
	d := meta.Clone(r.d)
	count := 1
	if c := d.Status.CollisionCount; c != nil {
		count += *c
	}
	d.Status.CollisionCount = &count
	return errors.Join(failure, r.save(ctx, d))
}

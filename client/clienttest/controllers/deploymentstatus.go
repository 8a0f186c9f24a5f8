package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// progressing is the condition that says how the rollout of a deployment goes.
const progressing = "Progressing"

// The reasons of the condition Progressing that decide what happens next.
const (
	setAvailable  = "NewReplicaSetAvailable"
	timedOut      = "ProgressDeadlineExceeded"
	pausedReason  = "DeploymentPaused"
	resumedReason = "DeploymentResumed"
)

// set sets a condition. It changes nothing if the condition has that status and reason.
func (s *deploymentStatus) set(kind, status, reason, message string, now time.Time) {
	had := meta.FindCondition(s.Conditions, kind)
	if had != nil && had.Status == status && had.Reason == reason {
		return
	}
	at := meta.Time{Time: now}
	c := workloadCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: at, LastTransitionTime: at}
	if had != nil && had.Status == status {
		c.LastTransitionTime = had.LastTransitionTime
	}
	s.remove(kind)
	s.Conditions = append(s.Conditions, c)
}

// remove removes a condition.
func (s *deploymentStatus) remove(kind string) {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c workloadCondition) bool { return c.Type == kind })
}

// save writes the status and the annotations of the deployment.
func (r *rollout) save(ctx context.Context, d *deployment) error {
	written, err := write(ctx, r.c.deployments.Status().Patch, r.d, d)
	if err == nil {
		r.d = written
	}
	return err
}

func (r *rollout) writeStatus(ctx context.Context, s deploymentStatus) error {
	d := meta.Clone(r.d)
	d.Status = s
	return r.save(ctx, d)
}

// notePause says in the condition Progressing that the deployment is paused, or no longer is, so that the deadline does
// not count the time of the pause.
func (r *rollout) notePause(ctx context.Context) error {
	had := meta.FindCondition(r.d.Status.Conditions, progressing)
	if !r.d.hasDeadline() || had != nil && had.Reason == timedOut {
		return nil
	}
	d := meta.Clone(r.d)
	switch noted := had != nil && had.Reason == pausedReason; {
	case d.Spec.Paused && !noted:
		d.Status.set(progressing, "Unknown", pausedReason, "Deployment is paused", r.now)
	case !d.Spec.Paused && noted:
		d.Status.set(progressing, "Unknown", resumedReason, "Deployment is resumed", r.now)
	}
	return r.save(ctx, d)
}

// status returns the status with the numbers of pods, and the condition Available.
func (r *rollout) status() deploymentStatus {
	all, d := r.all(), r.d
	s := deploymentStatus{
		ObservedGeneration: d.Generation,
		Replicas:           sum(all, existing), ReadyReplicas: sum(all, ready), AvailableReplicas: sum(all, available),
		TerminatingReplicas: terminatingOf(all), CollisionCount: d.Status.CollisionCount,
		Conditions: slices.Clone(d.Status.Conditions),
	}
	if r.new != nil {
		s.UpdatedReplicas = r.new.Status.Replicas
	}
	s.UnavailableReplicas = max(0, sum(all, wanted)-s.AvailableReplicas)
	if s.AvailableReplicas >= d.replicas()-d.maxUnavailable() {
		s.set("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", r.now)
	} else {
		s.set("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", r.now)
	}
	return s
}

// terminatingOf returns how many pods of the sets are being deleted. It is nil if a set does not say.
func terminatingOf(sets []*replicaSet) *int {
	total := 0
	for _, s := range sets {
		switch {
		case s.Status.TerminatingReplicas != nil:
			total += *s.Status.TerminatingReplicas
		case s.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &total
}

// isComplete reports whether a status says that all pods are new and available.
func (r *rollout) isComplete(s deploymentStatus) bool {
	n := r.d.replicas()
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n && s.ObservedGeneration >= r.d.Generation
}

// writeProgress writes the status, with the condition Progressing.
func (r *rollout) writeProgress(ctx context.Context) error {
	s := r.status()
	had := meta.FindCondition(r.d.Status.Conditions, progressing)
	if !r.d.hasDeadline() {
		s.remove(progressing)
	} else if had == nil || had.Reason != setAvailable || s.Replicas != s.UpdatedReplicas {
		r.setProgress(&s, had)
	}
	if failure := r.failure(); failure != nil {
		s.set(failure.Type, failure.Status, failure.Reason, failure.Message, failure.LastTransitionTime.Time)
	} else {
		s.remove(replicaFailure)
	}
	return r.writeStatus(ctx, s)
}

// setProgress sets the condition Progressing of a rollout that was not complete before.
func (r *rollout) setProgress(s *deploymentStatus, had *workloadCondition) {
	subject := fmt.Sprintf("Deployment %q", r.d.Name)
	if r.new != nil {
		subject = fmt.Sprintf("ReplicaSet %q", r.new.Name)
	}
	before := r.d.Status
	switch {
	case r.isComplete(*s):
		s.set(progressing, "True", setAvailable, subject+" has successfully progressed.", r.now)
	case s.UpdatedReplicas > before.UpdatedReplicas || s.Replicas-s.UpdatedReplicas < before.Replicas-before.UpdatedReplicas ||
		s.ReadyReplicas > before.ReadyReplicas || s.AvailableReplicas > before.AvailableReplicas:
		s.remove(progressing) // each step forward sets a new time of update
		s.set(progressing, "True", "ReplicaSetUpdated", subject+" is progressing.", r.now)
		if had != nil && had.Status == "True" {
			meta.FindCondition(s.Conditions, progressing).LastTransitionTime = had.LastTransitionTime
		}
	case had != nil && (had.Reason == timedOut || r.expires(had).Before(r.now)):
		s.set(progressing, "False", timedOut, subject+" has timed out progressing.", r.now)
	}
}

// expires returns when the deadline passes if there is no further progress.
func (r *rollout) expires(c *workloadCondition) time.Time {
	return c.LastUpdateTime.Add(time.Duration(*r.d.Spec.ProgressDeadline) * time.Second)
}

// failure returns the condition of a set that cannot create or delete pods, the new one first.
func (r *rollout) failure() *workloadCondition {
	sets := slices.Clone(r.old)
	if r.new != nil {
		sets = slices.Insert(sets, 0, r.new)
	}
	for _, set := range sets {
		if c := meta.FindCondition(set.Status.Conditions, replicaFailure); c != nil {
			return c
		}
	}
	return nil
}

// deadline returns when the deployment must be looked at again although nothing happens, and the zero time if never.
func (r *rollout) deadline() time.Time {
	c := meta.FindCondition(r.d.Status.Conditions, progressing)
	if !r.d.hasDeadline() || c == nil || c.Reason == timedOut || r.isComplete(r.d.Status) || r.d.Spec.Paused || meta.IsDeleting(r.d) {
		return time.Time{}
	}
	return r.expires(c).Add(time.Second)
}

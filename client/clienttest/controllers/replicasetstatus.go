package controllers

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// status returns the status of the set with these active pods. failure is why pods could not be created or deleted.
func (rs *replicaSet) status(pods []*podObject, terminating int, failure error, now time.Time) replicaSetStatus {
	s := replicaSetStatus{
		Replicas: len(pods), TerminatingReplicas: &terminating, ObservedGeneration: rs.Generation,
		Conditions: slices.Clone(rs.Status.Conditions),
	}
	for _, p := range pods {
		if hasAll(p.Labels, rs.Spec.Template.Metadata.Labels) {
			s.FullyLabeledReplicas++
		}
		at, ready := p.availableAt(rs.Spec.MinReadySeconds)
		if ready {
			s.ReadyReplicas++
		}
		if ready && !at.After(now) {
			s.AvailableReplicas++
		}
	}
	had := meta.FindCondition(s.Conditions, replicaFailure)
	switch {
	case failure == nil:
		s.Conditions = slices.DeleteFunc(s.Conditions, func(c workloadCondition) bool { return c.Type == replicaFailure })
	case had == nil:
		reason := "FailedCreate"
		if len(pods) > rs.replicas() {
			reason = "FailedDelete"
		}
		s.Conditions = append(s.Conditions, workloadCondition{
			Type: replicaFailure, Status: "True", LastTransitionTime: meta.Time{Time: now}, Reason: reason, Message: failure.Error(),
		})
	}
	return s
}

// hasAll reports whether labels has all of wanted, with the same values.
func hasAll(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, has := labels[k]; !has || got != v {
			return false
		}
	}
	return true
}

// nextAvailable returns when the next of the pods becomes available, and the zero time if every ready pod is available.
func nextAvailable(pods []*podObject, minReadySeconds int, now time.Time) (next time.Time) {
	for _, p := range pods {
		if at, ready := p.availableAt(minReadySeconds); ready && at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

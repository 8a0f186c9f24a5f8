package controllers

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// The time between the failure of a pod of a job and the creation of the pod that replaces it; it doubles with each
// failure in a row.
const (
	firstBackoff = 10 * time.Second
	longBackoff  = 10 * time.Minute
)

// backoff is how many pods of a job have failed since one succeeded, and when the last of them failed.
type backoff struct {
	failures int
	last     time.Time
}

// after returns the backoff after further pods have ended.
func (b backoff) after(succeeded, failed []*podObject) backoff {
	var success time.Time
	for _, p := range succeeded {
		b.failures, b.last = 0, time.Time{}
		if at := p.endedAt(); at.After(success) {
			success = at
		}
	}
	for _, p := range failed {
		if at := p.endedAt(); len(succeeded) == 0 || at.After(success) {
			b.failures++
			if at.After(b.last) {
				b.last = at
			}
		}
	}
	return b
}

// until returns when the next pod may be made. It is the zero time if no pod has failed.
func (b backoff) until() time.Time {
	if b.failures == 0 {
		return time.Time{}
	}
	wait := firstBackoff
	for i := 1; i < b.failures && wait < longBackoff; i++ {
		wait *= 2
	}
	return b.last.Add(min(wait, longBackoff))
}

// endedAt returns when the containers of a pod ended. If the status does not say that, it returns when the pod stopped
// being ready, was deleted or was created.
func (p *podObject) endedAt() (at time.Time) {
	sidecars := slices.DeleteFunc(slices.Clone(p.Status.InitContainers), func(s containerStatus) bool {
		return !slices.ContainsFunc(p.Spec.InitContainers, func(c containerSpec) bool { return c.Name == s.Name && c.isSidecar() })
	})
	for _, s := range slices.Concat(p.Status.Containers, sidecars) {
		if s.State.Terminated == nil || s.State.Terminated.FinishedAt.IsZero() {
			at = time.Time{}
			break
		}
		if end := s.State.Terminated.FinishedAt.Time; end.After(at) {
			at = end
		}
	}
	c := meta.FindCondition(p.Status.Conditions, "Ready")
	switch {
	case !at.IsZero():
		return at
	case c != nil && c.Status == "False" && !c.LastTransitionTime.IsZero():
		return c.LastTransitionTime.Time
	case p.DeletionTimestamp != nil:
		return p.DeletionTimestamp.Add(-time.Duration(or(p.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return p.CreationTimestamp.Time
}

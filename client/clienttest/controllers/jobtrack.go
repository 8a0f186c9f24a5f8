package controllers

import (
	"context"
	"errors"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// mostUncounted is how many pods one reconcile counts at most.
const mostUncounted = 500

// track counts pods that have ended. Each is counted once, even if the controller is stopped at any point: the status
// names the pods whose finalizers are about to go, and the counters grow when the finalizers are gone.
//
// changed says that the status must be written in any case.
func (r *jobRun) track(ctx context.Context, changed bool) error {
	tracked := map[string]bool{}
	for _, p := range r.pods {
		if isTracked(p) {
			tracked[p.UID] = true
		}
	}
	changed = r.countWithout(tracked) || changed
	countable, all, news := r.countable()
	changed = changed || news
	if r.j.isIndexed() {
		changed = r.writeIndexes() || changed
	}
	changed = r.announce() || changed
	if changed {
		if err := r.save(ctx); err != nil {
			return err
		}
		r.c.mu.Lock()
		r.c.backoffs[r.j.UID] = r.backoff
		r.c.mu.Unlock()
	}
	var errs []error
	for _, p := range countable {
		if err := r.c.untrack(ctx, p); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(tracked, p.UID)
	}
	changed = r.countWithout(tracked)
	err := errors.Join(errs...)
	if err == nil && all && r.finish() {
		changed = true
	}
	if changed {
		err = errors.Join(err, r.save(ctx))
	}
	return err
}

// save writes the status.
func (r *jobRun) save(ctx context.Context) error {
	written, err := write(ctx, r.c.jobs.Status().Patch, r.live, r.j)
	if err != nil {
		return err
	}
	r.live = written
	r.j.ObjectMeta = written.ObjectMeta
	return nil
}

// countWithout moves the pods that no longer have the finalizer from the lists into the counters. It reports whether
// there were any.
func (r *jobRun) countWithout(tracked map[string]bool) bool {
	s := &r.j.Status
	gone := func(uid string) bool { return !tracked[uid] }
	leftSucceeded := slices.DeleteFunc(slices.Clone(s.Uncounted.Succeeded), gone)
	leftFailed := slices.DeleteFunc(slices.Clone(s.Uncounted.Failed), gone)
	newSucceeded, newFailed := len(s.Uncounted.Succeeded)-len(leftSucceeded), len(s.Uncounted.Failed)-len(leftFailed)
	s.Succeeded += newSucceeded
	s.Failed += newFailed
	s.Uncounted = &uncounted{Succeeded: leftSucceeded, Failed: leftFailed}
	return newSucceeded+newFailed > 0
}

// countable returns the pods that lose the finalizer now, after it has put those that count into the status. all is
// false if there are more, and news is true if the status has changed.
func (r *jobRun) countable() (pods []*podObject, all, news bool) {
	s := &r.j.Status
	counted := indexes{}
	for _, p := range r.pods {
		if !isTracked(p) || !r.canUntrack(p) {
			continue
		}
		pods = append(pods, p)
		i, known := r.index(p)
		inFailed := slices.Contains(s.Uncounted.Failed, p.UID)
		switch {
		case p.Status.Phase == succeeded && !inFailed && r.j.isIndexed():
			if known && !r.doneBefore[i] {
				counted[i], news = true, true
			}
		case p.Status.Phase == succeeded && !inFailed:
			if !slices.Contains(s.Uncounted.Succeeded, p.UID) {
				s.Uncounted.Succeeded, news = append(s.Uncounted.Succeeded, p.UID), true
			}
		case inFailed || r.j.isIndexed() && !known:
		case p.Status.Phase != failed && r.end != nil && r.end.Type == successCriteriaMet: // deleted because the job is done
		case r.hasFailed(p) || r.end != nil:
			if action, _ := r.j.Spec.PodFailurePolicy.action(p); action != ignoreFailure {
				s.Uncounted.Failed, news = append(s.Uncounted.Failed, p.UID), true
			}
		}
		if len(counted)+len(s.Uncounted.Succeeded)+len(s.Uncounted.Failed) >= mostUncounted {
			return pods, false, news
		}
	}
	return pods, true, news
}

// canUntrack reports whether a pod can lose the finalizer.
func (r *jobRun) canUntrack(p *podObject) bool {
	if meta.IsDeleting(r.j) || r.end != nil || p.Status.Phase == succeeded {
		return true
	}
	if !r.hasFailed(p) {
		return false
	}
	i, ok := r.index(p)
	return !ok || r.waiting[i] != p
}

// writeIndexes puts the indexes into the status, and reports whether they have changed.
func (r *jobRun) writeIndexes() (changed bool) {
	s := &r.j.Status
	text := r.done.String()
	changed = text != s.CompletedIndexes
	s.Succeeded, s.CompletedIndexes = len(r.done), text
	if r.failedIndexes != nil {
		text := r.failedIndexes.String()
		changed = changed || s.FailedIndexes == nil || *s.FailedIndexes != text
		s.FailedIndexes = &text
	}
	return changed
}

// announce puts the condition that announces the end of the job into the status, and sets r.end to the condition that
// will follow it. It reports whether the status has changed.
func (r *jobRun) announce() bool {
	if r.end == nil || r.end.Type != failureTarget && r.end.Type != successCriteriaMet {
		return false
	}
	announced := *r.end
	had := meta.FindCondition(r.j.Status.Conditions, announced.Type) != nil
	if !had {
		r.j.Status.Conditions = append(r.j.Status.Conditions, announced)
	}
	final := "Complete"
	if announced.Type == failureTarget {
		final = "Failed"
	}
	r.end = r.condition(final, announced.Reason, announced.Message)
	return !had
}

// finish puts the last condition into the status, if every pod is counted and none is terminating.
func (r *jobRun) finish() bool {
	s := &r.j.Status
	if r.end == nil || len(s.Uncounted.Succeeded)+len(s.Uncounted.Failed) > 0 || r.terminating > 0 {
		return false
	}
	s.Conditions = append(s.Conditions, *r.end)
	if r.end.Type == "Complete" {
		s.CompletionTime = &r.end.LastTransitionTime
	}
	return true
}

package controllers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// The conditions that announce the end of a job. The condition Failed or Complete follows when all pods of the job have
// ended and are counted.
const (
	failureTarget      = "FailureTarget"
	successCriteriaMet = "SuccessCriteriaMet"
)

// jobRun is one reconcile of a job.
type jobRun struct {
	c    *jobs
	live *job // as the server has it after the writes so far
	j    *job // with the status that is to be written
	now  time.Time
	wake time.Time // when the job must be looked at again although nothing happens; the zero time means never

	pods, active       []*podObject
	ready, terminating int
	succeeded, failed  int // of all pods, counted in the status or not
	backoff            backoff

	doneBefore, done indexes            // that have succeeded: by the status, and by the pods too
	failedIndexes    indexes            // nil unless each index has its own limit
	waiting          map[int]*podObject // the last failed pod of indexes that another pod will try again

	end *jobCondition // that the job gets; nil while it goes on
}

func newJobRun(c *jobs, j *job, pods []*podObject) *jobRun {
	r := &jobRun{c: c, live: j, j: meta.Clone(j), now: time.Now(), pods: pods}
	slices.SortFunc(r.pods, func(a, b *podObject) int { return a.Key().Compare(b.Key()) })
	if r.j.Status.Uncounted == nil {
		r.j.Status.Uncounted = &uncounted{}
	}
	for _, p := range pods {
		switch {
		case p.isActive():
			r.active = append(r.active, p)
			if p.isReady() {
				r.ready++
			}
		case p.isTerminating():
			r.terminating++
		}
	}
	r.count()
	return r
}

// completions returns how many pods must succeed. If the job does not say, it returns the largest number, so that the
// job has every index.
func (r *jobRun) completions() int { return or(r.j.Spec.Completions, math.MaxInt32) }

// index returns the completion index of a pod, and whether it is one of the job.
func (r *jobRun) index(p *podObject) (int, bool) {
	i, ok := completionIndex(p)
	return i, ok && i < r.completions()
}

// hasFailed reports whether a pod has failed. One that is being deleted counts too, unless the job waits for its end.
func (r *jobRun) hasFailed(p *podObject) bool {
	return p.Status.Phase == failed || !r.j.replacesOnlyFailed() && meta.IsDeleting(p) && p.Status.Phase != succeeded
}

// count counts the pods that have ended.
func (r *jobRun) count() {
	s := &r.j.Status
	var newSucceeded, newFailed []*podObject
	counting := 0
	for _, p := range r.pods {
		_, known := r.index(p)
		switch {
		case !isTracked(p) || r.j.isIndexed() && !known:
		case p.Status.Phase == succeeded && !slices.Contains(s.Uncounted.Succeeded, p.UID):
			newSucceeded = append(newSucceeded, p)
		case r.hasFailed(p) && !slices.Contains(s.Uncounted.Failed, p.UID):
			newFailed = append(newFailed, p)
			if action, _ := r.j.Spec.PodFailurePolicy.action(p); action != ignoreFailure {
				counting++
			}
		}
	}
	r.succeeded = s.Succeeded + len(newSucceeded) + len(s.Uncounted.Succeeded)
	r.failed = s.Failed + counting + len(s.Uncounted.Failed)
	r.c.mu.Lock()
	r.backoff = r.c.backoffs[r.j.UID].after(newSucceeded, newFailed)
	r.c.mu.Unlock()
}

func (r *jobRun) condition(kind, reason, message string) *jobCondition {
	at := meta.Time{Time: r.now}
	return &jobCondition{Type: kind, Status: "True", LastProbeTime: at, LastTransitionTime: at, Reason: reason, Message: message}
}

func (r *jobRun) run(ctx context.Context) (controller.Result, error) {
	if r.j.Status.StartTime == nil && !r.j.Spec.Suspend {
		r.j.Status.StartTime = &meta.Time{Time: r.now}
	}
	r.decide()
	if r.j.isIndexed() {
		r.decideByIndex()
	}
	changed, failure := false, error(nil)
	if r.end != nil {
		failure = r.stop(ctx)
	} else {
		changed, failure = r.goOn(ctx)
	}
	s := &r.j.Status
	active := len(r.active)
	changed = changed || active != s.Active || s.Ready == nil || *s.Ready != r.ready || s.Terminating == nil || *s.Terminating != r.terminating
	s.Active, s.Ready, s.Terminating = active, &r.ready, &r.terminating
	if err := r.track(ctx, changed); err != nil {
		return controller.Result{}, errors.Join(failure, unlessGone(err))
	}
	return controller.Result{RequeueAt: r.wake}, failure
}

// wakeAt makes the job be looked at again at that time, or earlier.
func (r *jobRun) wakeAt(at time.Time) {
	if r.wake.IsZero() || at.Before(r.wake) {
		r.wake = at
	}
}

// decide decides whether the job ends, without regard to its indexes.
func (r *jobRun) decide() {
	if c := meta.FindCondition(r.j.Status.Conditions, successCriteriaMet); c != nil && c.Status == "True" {
		r.end = c
		return
	}
	if c := meta.FindCondition(r.j.Status.Conditions, failureTarget); c != nil && c.Status == "True" {
		r.end = r.condition("Failed", c.Reason, c.Message)
		return
	}
	for _, p := range r.pods {
		if !r.hasFailed(p) {
			continue
		}
		if action, message := r.j.Spec.PodFailurePolicy.action(p); action == failJob {
			r.end = r.condition(failureTarget, "PodFailurePolicy", message)
			return
		}
	}
	limit := or(r.j.Spec.BackoffLimit, math.MaxInt32) // the server has a default
	switch {
	case r.failed > limit || r.restartsExceed(limit):
		r.end = r.condition(failureTarget, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case r.j.Spec.ActiveDeadlineSeconds == nil || r.j.Spec.Suspend:
	default:
		at := r.j.Status.StartTime.Add(time.Duration(*r.j.Spec.ActiveDeadlineSeconds) * time.Second)
		if !at.After(r.now) {
			r.end = r.condition(failureTarget, "DeadlineExceeded", "Job was active longer than specified deadline")
			return
		}
		r.wakeAt(at)
	}
}

// restartsExceed reports whether containers have been restarted in place too often.
func (r *jobRun) restartsExceed(limit int) bool {
	total, onFailure := 0, false
	for _, p := range r.pods {
		onFailure = onFailure || p.Spec.RestartPolicy == "OnFailure"
		if p.Status.Phase == running || p.Status.Phase == pending {
			for _, s := range slices.Concat(p.Status.InitContainers, p.Status.Containers) {
				total += s.RestartCount
			}
		}
	}
	return onFailure && total > 0 && total >= limit
}

// decideByIndex decides whether a job with indexes ends.
func (r *jobRun) decideByIndex() {
	r.doneBefore = parseIndexes(r.j.Status.CompletedIndexes, r.completions())
	r.done = r.doneBefore.with(nil)
	for _, p := range r.pods {
		if i, ok := r.index(p); ok && p.Status.Phase == succeeded && isTracked(p) {
			r.done[i] = true
		}
	}
	r.succeeded = len(r.done)
	if r.j.Spec.BackoffLimitPerIndex != nil {
		r.findFailedIndexes()
		n := len(r.failedIndexes)
		switch {
		case r.end != nil:
		case r.j.Spec.MaxFailedIndexes != nil && n > *r.j.Spec.MaxFailedIndexes:
			r.end = r.condition(failureTarget, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
		case n > 0 && n+len(r.done) >= r.completions():
			r.end = r.condition(failureTarget, "FailedIndexes", "Job has failed indexes")
		}
		r.waiting = r.findWaiting()
	}
	if r.end == nil {
		if rule, met := r.j.Spec.SuccessPolicy.met(r.done, r.completions()); met {
			r.end = r.condition(successCriteriaMet, "SuccessPolicy", fmt.Sprintf("Matched rules at index %d", rule))
		}
	}
}

// findFailedIndexes adds the indexes whose last pod may not be replaced.
func (r *jobRun) findFailedIndexes() {
	r.failedIndexes = indexes{}
	if text := r.j.Status.FailedIndexes; text != nil {
		r.failedIndexes = parseIndexes(*text, r.completions())
	}
	for _, p := range r.pods {
		i, ok := r.index(p)
		if !ok || !isTracked(p) || !r.hasFailed(p) {
			continue
		}
		action, _ := r.j.Spec.PodFailurePolicy.action(p)
		counted, _ := indexFailures(p)
		if action == failIndex || action != ignoreFailure && counted >= *r.j.Spec.BackoffLimitPerIndex {
			r.failedIndexes[i] = true
		}
	}
}

// findWaiting returns, by index, the failed pods that keep their finalizers until another pod has taken their places,
// because they say how often the index has failed.
func (r *jobRun) findWaiting() map[int]*podObject {
	busy := r.indexesOf(r.active)
	waiting := map[int]*podObject{}
	for _, p := range r.pods {
		i, ok := r.index(p)
		if !ok || !isTracked(p) || !r.hasFailed(p) || r.done[i] || r.failedIndexes[i] || busy[i] {
			continue
		}
		last := waiting[i]
		if last == nil || allIndexFailures(last) <= allIndexFailures(p) && !p.endedAt().Before(last.endedAt()) {
			waiting[i] = p
		}
	}
	return waiting
}

// indexesOf returns the completion indexes of pods.
func (r *jobRun) indexesOf(pods []*podObject) indexes {
	set := indexes{}
	for _, p := range pods {
		if i, ok := completionIndex(p); ok {
			set[i] = true
		}
	}
	return set
}

// goOn makes and deletes pods of a job that has not ended, finds whether all that was wanted is done, and notes whether
// the job is suspended. It reports whether the condition Suspended has changed.
func (r *jobRun) goOn(ctx context.Context) (changed bool, err error) {
	if !meta.IsDeleting(r.j) {
		err = r.manage(ctx)
	}
	complete := r.succeeded > 0
	if r.j.Spec.Completions != nil {
		complete = r.succeeded >= *r.j.Spec.Completions
	}
	switch {
	case complete && len(r.active) == 0:
		r.end = r.condition(successCriteriaMet, "CompletionsReached", "Reached expected number of succeeded pods")
	case meta.IsDeleting(r.j):
	case r.j.Spec.Suspend:
		if changed = r.setSuspended("True", "JobSuspended", "Job suspended"); changed {
			r.j.Status.StartTime = nil
		}
	default:
		if changed = r.setSuspended("False", "JobResumed", "Job resumed"); changed {
			r.j.Status.StartTime = &meta.Time{Time: r.now}
		}
	}
	return changed, err
}

// setSuspended sets the condition Suspended, and reports whether it changed. A job that was never suspended has none.
func (r *jobRun) setSuspended(status, reason, message string) bool {
	c := r.condition("Suspended", reason, message)
	c.Status = status
	had := meta.FindCondition(r.j.Status.Conditions, "Suspended")
	switch {
	case had == nil && status == "False", had != nil && had.Status == status && had.Reason == reason:
		return false
	case had == nil:
		r.j.Status.Conditions = append(r.j.Status.Conditions, *c)
	default:
		*had = *c
	}
	return true
}

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The annotations of pods of a job with indexes. The first is a label too.
const (
	indexAnnotation           = "batch.kubernetes.io/job-completion-index"
	indexFailuresAnnotation   = "batch.kubernetes.io/job-index-failure-count"
	ignoredFailuresAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count"
)

// completionIndex returns the completion index of a pod, if it has one.
func completionIndex(p *podObject) (int, bool) {
	n, err := strconv.ParseUint(p.Annotations[indexAnnotation], 10, 31)
	return int(n), err == nil
}

// indexFailures returns how many pods of the index have failed before this one, and how many failures did not count.
func indexFailures(p *podObject) (counted, ignored int) {
	counted, _ = strconv.Atoi(p.Annotations[indexFailuresAnnotation]) // 0 without one
	ignored, _ = strconv.Atoi(p.Annotations[ignoredFailuresAnnotation])
	return counted, ignored
}

func allIndexFailures(p *podObject) int {
	counted, ignored := indexFailures(p)
	return counted + ignored
}

// manage makes missing pods, or deletes surplus ones.
func (r *jobRun) manage(ctx context.Context) error {
	if r.j.Spec.Suspend {
		return r.remove(ctx, slices.Clone(r.active))
	}
	parallelism := or(r.j.Spec.Parallelism, 1)
	want := parallelism
	switch {
	case r.j.Spec.Completions != nil:
		want = max(0, min(*r.j.Spec.Completions-r.succeeded, parallelism))
	case r.succeeded > 0:
		want = len(r.active) // others are not needed, and those that run may end
	}
	if surplus := r.surplus(max(0, len(r.active)-want)); len(surplus) > 0 {
		return r.remove(ctx, surplus[:min(len(surplus), burst)])
	}
	missing := want - len(r.active)
	if r.j.replacesOnlyFailed() {
		missing -= r.terminating
	}
	if missing <= 0 {
		return nil
	}
	if at := r.backoff.until(); r.j.Spec.BackoffLimitPerIndex == nil && at.After(r.now) {
		r.wakeAt(at)
		return nil
	}
	return r.create(ctx, min(missing, burst))
}

// surplus returns the active pods to delete: at least n, the extra pods of indexes that have several, and the pods of
// indexes that the job no longer has.
func (r *jobRun) surplus(n int) []*podObject {
	if !r.j.isIndexed() {
		return surplus(r.active, nil, n)
	}
	byIndex := map[int][]*podObject{}
	var gone, left []*podObject
	for _, p := range r.active {
		if i, ok := r.index(p); ok {
			byIndex[i] = append(byIndex[i], p)
		} else {
			gone = append(gone, p)
		}
	}
	for _, pods := range byIndex {
		gone = append(gone, surplus(pods, nil, len(pods)-1)...)
	}
	for _, p := range r.active {
		if !slices.Contains(gone, p) {
			left = append(left, p)
		}
	}
	return append(gone, surplus(left, nil, max(0, n-len(gone)))...)
}

// remove deletes pods that the job does not need. They lose the finalizer first, because their end does not count.
func (r *jobRun) remove(ctx context.Context, pods []*podObject) error {
	var errs []error
	for _, p := range pods {
		err := r.c.untrack(ctx, p)
		if err == nil {
			err = r.delete(ctx, p)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// delete deletes an active pod.
func (r *jobRun) delete(ctx context.Context, p *podObject) error {
	if err := apierrors.Ignore(r.c.pods.Delete(ctx, p.Key(), client.DeleteOptions{UID: p.UID}), apierrors.NotFound); err != nil {
		return err
	}
	r.active = slices.DeleteFunc(slices.Clone(r.active), func(a *podObject) bool { return a == p })
	r.terminating++
	if p.isReady() {
		r.ready--
	}
	return nil
}

// stop deletes the active pods of a job that ends. The job does not end before all of them are being deleted.
func (r *jobRun) stop(ctx context.Context) error {
	var errs []error
	for _, p := range slices.Clone(r.active) {
		errs = append(errs, r.delete(ctx, p))
	}
	err := errors.Join(errs...)
	if err != nil {
		r.end = nil
	}
	return err
}

// create makes up to n pods.
func (r *jobRun) create(ctx context.Context, n int) error {
	if !r.j.isIndexed() {
		for range n {
			if err := r.createPod(ctx, r.j.Spec.Template.pod(r.j.Namespace, prefix(r.j.Name))); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range r.nextIndexes(n) {
		p, err := r.indexedPod(i)
		if err == nil {
			err = r.createPod(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *jobRun) createPod(ctx context.Context, p *newPod) error {
	if !slices.Contains(p.Finalizers, trackingFinalizer) {
		p.Finalizers = append(p.Finalizers, trackingFinalizer)
	}
	if err := createPod(ctx, r.c.pods, p, client.OwnerOf(jobType(), r.j)); err != nil {
		return err
	}
	r.active = append(r.active, &podObject{ObjectMeta: p.ObjectMeta}) // so that it is counted
	return nil
}

// nextIndexes returns the first n indexes that need a pod now. If each index has its own backoff and none may have a
// pod yet, it returns none, and the job is looked at again later.
func (r *jobRun) nextIndexes(n int) (next []int) {
	busy := r.done.with(r.indexesOf(r.active)).with(r.failedIndexes)
	if r.j.replacesOnlyFailed() {
		for _, p := range r.pods {
			if i, ok := completionIndex(p); ok && p.isTerminating() {
				busy[i] = true
			}
		}
	}
	for i := 0; i < r.completions() && len(next) < n; i++ {
		if !busy[i] {
			next = append(next, i)
		}
	}
	if r.j.Spec.BackoffLimitPerIndex == nil {
		return next
	}
	return slices.DeleteFunc(next, func(i int) bool {
		p := r.waiting[i]
		if p == nil {
			return false
		}
		at := backoff{failures: allIndexFailures(p) + 1, last: p.endedAt()}.until()
		if at.After(r.now) {
			r.wakeAt(at)
			return true
		}
		return false
	})
}

// indexedPod returns the pod of an index.
func (r *jobRun) indexedPod(index int) (*newPod, error) {
	number := strconv.Itoa(index)
	suffix := "-" + number + "-"
	const longest = 58 // of a generateName that is not cut
	p := r.j.Spec.Template.pod(r.j.Namespace, r.j.Name[:min(len(r.j.Name), longest-len(suffix))]+suffix)
	annotate(&p.ObjectMeta, indexAnnotation, number)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[indexAnnotation] = number
	if r.j.Spec.BackoffLimitPerIndex != nil {
		counted, ignored := r.failuresBefore(index)
		annotate(&p.ObjectMeta, indexFailuresAnnotation, strconv.Itoa(counted))
		if ignored > 0 {
			annotate(&p.ObjectMeta, ignoredFailuresAnnotation, strconv.Itoa(ignored))
		}
	}
	var err error
	p.Spec, err = withIndex(p.Spec, r.j.Name+"-"+number)
	return p, err
}

// failuresBefore returns how often an index has failed, and how often without being counted.
func (r *jobRun) failuresBefore(index int) (counted, ignored int) {
	p := r.waiting[index]
	if p == nil {
		return 0, 0
	}
	counted, ignored = indexFailures(p)
	if action, _ := r.j.Spec.PodFailurePolicy.action(p); action == ignoreFailure {
		return counted, ignored + 1
	}
	return counted + 1, ignored
}

// withIndex returns the spec of a pod with a host name, and with the environment variable that tells each container the
// index.
func withIndex(spec json.RawMessage, host string) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(spec, &all); err != nil {
		return nil, fmt.Errorf("read the pod template: %w", err)
	}
	for _, list := range []string{"initContainers", "containers"} {
		var containers []map[string]any
		if len(all[list]) == 0 {
			continue
		}
		if err := json.Unmarshal(all[list], &containers); err != nil {
			return nil, fmt.Errorf("read the %s of the pod template: %w", list, err)
		}
		for _, c := range containers {
			addIndexVariable(c)
		}
		text, err := json.Marshal(containers)
		if err != nil {
			return nil, err
		}
		all[list] = text
	}
	text, err := json.Marshal(host)
	if err != nil {
		return nil, err
	}
	all["hostname"] = text
	return json.Marshal(all)
}

// addIndexVariable adds the variable to the environment of a container that does not set it.
func addIndexVariable(container map[string]any) {
	const name = "JOB_COMPLETION_INDEX"
	env, _ := container["env"].([]any) // nil if there is none
	for _, v := range env {
		if v, ok := v.(map[string]any); ok && v["name"] == name {
			return
		}
	}
	path := fmt.Sprintf("metadata.labels['%s']", indexAnnotation)
	container["env"] = append(env, map[string]any{
		"name": name, "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": path}},
	})
}

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// isUnscheduled reports whether the pod waits for the scheduler.
func (p *podObject) isUnscheduled() bool {
	return p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) == 0 && p.isActive() &&
		(p.Spec.SchedulerName == "" || p.Spec.SchedulerName == "default-scheduler")
}

// unscheduled returns the pods that wait for the scheduler. A change of a node may let the scheduler bind them.
func (r *kubeletRun) unscheduled(*nodeObject) (keys []meta.Key) {
	for p := range r.onNode.Get("") {
		if p.isUnscheduled() {
			keys = append(keys, p.Key())
		}
	}
	return keys
}

// schedule binds a pod to the node with the fewest pods among those that fit.
func (r *kubeletRun) schedule(ctx context.Context, key meta.Key) (controller.Result, error) {
	p, found := r.podCache.Get(key)
	if !found || !p.isUnscheduled() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.assumed, key) // the cache knows
		return controller.Result{}, nil
	}
	best := r.choose(p)
	if best == "" {
		return controller.Result{}, r.refuse(ctx, p)
	}
	// Another scheduler may have been faster, or the pod may be being deleted.
	return controller.Result{}, apierrors.Ignore(client.Bind(ctx, r.pods, key, best), apierrors.Conflict, apierrors.NotFound)
}

// choose returns the node for a pod, and counts the pod there. It is empty if no node fits.
func (r *kubeletRun) choose(p *podObject) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.assumed, p.Key()) // of an attempt that failed
	best, fewest := "", 0
	for _, name := range r.k.nodes {
		n, found := r.nodeCache.Get(meta.Key{Name: name})
		if !found || n.Spec.Unschedulable || !hasAll(n.Labels, p.Spec.NodeSelector) {
			continue
		}
		if load := r.load(name); best == "" || load < fewest {
			best, fewest = name, load
		}
	}
	if best != "" {
		r.assumed[p.Key()] = best
	}
	return best
}

// load counts the pods of a node that have not ended, including those that the cache does not show there yet. The
// caller holds the lock.
func (r *kubeletRun) load(node string) (n int) {
	for p := range r.onNode.Get(node) {
		delete(r.assumed, p.Key())
		if !p.isTerminal() {
			n++
		}
	}
	for _, on := range r.assumed {
		if on == node {
			n++
		}
	}
	return n
}

// refuse says in the status of a pod that no node fits.
func (r *kubeletRun) refuse(ctx context.Context, p *podObject) error {
	refused := meta.Clone(p)
	refused.Status.setCondition(podCondition{
		Type: "PodScheduled", Status: "False", Reason: "Unschedulable", ObservedGeneration: p.Generation,
		Message: fmt.Sprintf("0/%d nodes are available: none is schedulable and has the labels of the nodeSelector.", len(r.k.nodes)),
	}, time.Now())
	_, err := write(ctx, r.pods.Status().Patch, p, refused)
	return apierrors.Ignore(err, apierrors.NotFound)
}

// setCondition sets a condition. Its time changes with its status.
func (s *podStatus) setCondition(c podCondition, now time.Time) {
	c.LastTransitionTime = meta.Time{Time: now}
	had := meta.FindCondition(s.Conditions, c.Type)
	if had == nil {
		s.Conditions = append(s.Conditions, c)
		return
	}
	if had.Status == c.Status {
		c.LastTransitionTime = had.LastTransitionTime
	}
	*had = c
}

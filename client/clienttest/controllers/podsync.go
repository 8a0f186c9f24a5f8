package controllers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
)

// reconcile brings a pod on one of the nodes to the present time, and writes its status. When the containers of a pod
// that is being deleted have ended, it deletes the pod.
func (r *kubeletRun) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	p, found := r.podCache.Get(key)
	if !found || !slices.Contains(r.k.nodes, p.Spec.NodeName) {
		r.k.drop(key)
		return controller.Result{}, nil
	}
	s, ok := r.sync(p)
	if !ok {
		return controller.Result{}, nil
	}
	synced := meta.Clone(p)
	synced.Status = s.status
	_, err := write(ctx, r.pods.Status().Patch, p, synced)
	if err == nil && s.over && meta.IsDeleting(p) && grace(p) > 0 {
		err = r.pods.Delete(ctx, key, client.DeleteOptions{UID: p.UID, GracePeriod: client.NoGracePeriod})
	}
	switch {
	case errors.Is(err, apierrors.NotFound):
		r.k.drop(key)
		return controller.Result{}, nil
	case err != nil:
		return controller.Result{}, err
	}
	r.k.wrote(s)
	return controller.Result{RequeueAt: s.next}, nil
}

// synced is the state of a pod's run at some time.
type synced struct {
	run    *podRun
	words  int
	status podStatus
	over   bool
	next   time.Time
}

// sync advances the run of a pod. It is false for a pod that had ended before this kubelet ran.
func (r *kubeletRun) sync(p *podObject) (synced, bool) {
	r.k.mu.Lock()
	defer r.k.mu.Unlock()
	now := time.Now()
	run := r.k.pods[p.Key()]
	if run == nil || run.uid != p.UID {
		if p.isTerminal() {
			return synced{}, false
		}
		run = newPodRun(p, r.address(p), r.k.life, now)
		r.k.pods[p.Key()] = run
	}
	run.meta = &p.ObjectMeta
	if meta.IsDeleting(p) {
		if run.stopped.IsZero() {
			run.stopped = now
		}
		if at := run.stopped.Add(grace(p)); run.stopAt.IsZero() || at.Before(run.stopAt) {
			run.stopAt = at
		}
	}
	s := synced{run: run, words: run.words, next: run.advance(now)}
	if at, has := run.deadline(p); has && !run.isOver() {
		if at.After(now) && (s.next.IsZero() || at.Before(s.next)) {
			s.next = at
		}
		if !at.After(now) && run.failure == nil {
			run.failure = &podFailure{at: now, reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline"}
			s.next = run.advance(now)
		}
	}
	s.status, s.over = run.status(p, now), run.isOver()
	r.k.announce()
	return s, true
}

// deadline returns when a pod fails although its containers go on, if it does.
func (r *podRun) deadline(p *podObject) (time.Time, bool) {
	if p.Spec.ActiveDeadlineSeconds == nil {
		return time.Time{}, false
	}
	return r.started.Add(time.Duration(*p.Spec.ActiveDeadlineSeconds) * time.Second), true
}

// address returns the address of a new pod: that of its status, or one that no other pod of the node has.
func (r *kubeletRun) address(p *podObject) string {
	switch {
	case p.Status.PodIP != "":
		return p.Status.PodIP
	case p.Spec.HostNetwork:
		return hostIP(p.Spec.NodeName)
	}
	used := map[string]bool{}
	for other := range r.onNode.Get(p.Spec.NodeName) {
		used[other.Status.PodIP] = true
	}
	for _, run := range r.k.pods {
		used[run.ip] = true
	}
	n := 1
	for used[podIP(p.Spec.NodeName, n)] {
		n++
	}
	return podIP(p.Spec.NodeName, n)
}

// drop forgets a pod that is no longer on a node.
func (k *Kubelet) drop(key meta.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[key] != nil {
		delete(k.pods, key)
		k.announce()
	}
}

// wrote notes that the server has the status.
func (k *Kubelet) wrote(s synced) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.run.written = max(s.run.written, s.words)
	k.announce()
}

// announce wakes the methods that wait for a change. The caller holds the lock.
func (k *Kubelet) announce() {
	if k.news != nil {
		close(k.news)
		k.news = nil
	}
}

// next returns a channel that is closed at the next change. The caller holds the lock.
func (k *Kubelet) next() <-chan struct{} {
	if k.news == nil {
		k.news = make(chan struct{})
	}
	return k.news
}

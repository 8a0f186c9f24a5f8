package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Finish ends a container that runs, with an exit code from 0 to 255. It waits for the container to run. The restart
// policy of the pod decides what happens then. An empty name means the only container of the pod. Finish returns an
// error at once if the pod has no such container, or has ended.
func (k *Kubelet) Finish(ctx context.Context, pod meta.Key, container string, code int) error {
	what := fmt.Sprintf("finish container %q of pod %s", container, pod)
	if code < 0 || code > 255 {
		return fmt.Errorf("%s: the code must be from 0 to 255, got %d", what, code)
	}
	return k.say(ctx, pod, what, func(r *podRun, now time.Time) (string, error) {
		c, err := r.find(container)
		if err != nil {
			return "", err
		}
		if c.state != working {
			return fmt.Sprintf("for container %q to run", c.name), r.ending()
		}
		c.end(now, code)
		return "", nil
	})
}

// SetReady makes all containers of a pod ready, or not ready, until they are restarted or SetReady is called again. It
// waits for all of them to run. SetReady returns an error at once if the pod has ended.
func (k *Kubelet) SetReady(ctx context.Context, pod meta.Key, ready bool) error {
	what := fmt.Sprintf("set the readiness of pod %s", pod)
	return k.say(ctx, pod, what, func(r *podRun, _ time.Time) (string, error) {
		for _, c := range r.all() {
			if c.state != working && !c.init {
				return fmt.Sprintf("for container %q to run", c.name), r.ending()
			}
		}
		for _, c := range r.all() {
			c.ready = &ready
		}
		return "", nil
	})
}

// Start starts the containers of a pod that wait for their start, because of their Life or after a failure. It waits
// for such a container. Start returns an error at once if the pod has ended, or if all of its containers run.
func (k *Kubelet) Start(ctx context.Context, pod meta.Key) error {
	return k.say(ctx, pod, fmt.Sprintf("start the containers of pod %s", pod), func(r *podRun, now time.Time) (string, error) {
		found, wait := false, ""
		for _, c := range r.all() {
			switch c.state {
			case waiting:
				c.startAt, found = now, true
			case idle:
				wait = fmt.Sprintf("for the turn of container %q", c.name)
			}
		}
		switch {
		case found:
			return "", nil
		case wait == "":
			return "", errors.New("no container waits for its start")
		}
		return wait, r.ending()
	})
}

// Evict makes a pod fail with the reason Evicted and a message, as a kubelet does when its node lacks memory or disk:
// the containers are killed, and the pod stays. It waits for the pod to be on its node. It returns an error at once if
// the pod has ended. [client.Evict] is something else: it asks the API to delete a pod.
func (k *Kubelet) Evict(ctx context.Context, pod meta.Key, message string) error {
	return k.say(ctx, pod, fmt.Sprintf("evict pod %s", pod), func(r *podRun, now time.Time) (string, error) {
		if err := r.ending(); err != nil {
			return "", err
		}
		r.failure = &podFailure{at: now, reason: "Evicted", message: message, disrupted: true}
		return "", nil
	})
}

// find returns the container with a name, or the only one.
func (r *podRun) find(name string) (*containerRun, error) {
	if name == "" && len(r.main) == 1 {
		return r.main[0], nil
	}
	var names []string
	for _, c := range r.all() {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	return nil, fmt.Errorf("the pod has the containers %s", strings.Join(names, ", "))
}

// ending returns an error if the pod has ended, or is about to.
func (r *podRun) ending() error {
	switch {
	case r.isOver():
		return errors.New("the pod has ended")
	case r.failure != nil:
		return fmt.Errorf("the pod is failing: %s", r.failure.reason)
	case !r.stopped.IsZero():
		return errors.New("the pod is being deleted")
	}
	return nil
}

// say changes the run of a pod, and waits until the server has the new status. word changes the run, or returns what
// must happen first. Then say calls it again after each change of the pod.
func (k *Kubelet) say(ctx context.Context, pod meta.Key, what string, word func(*podRun, time.Time) (wait string, err error)) error {
	said, err := k.apply(ctx, pod, word)
	if err == nil {
		select {
		case said.words <- pod:
			err = k.until(ctx, func() bool { return k.pods[pod] != said.run || said.run.written >= said.number })
		case <-said.stopped:
			err = errors.New("the kubelet has stopped before the server had the status")
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// said is a word that has been applied.
type said struct {
	run     *podRun
	number  int             // of the word, among those for the pod
	words   chan<- meta.Key // for the pod
	stopped <-chan struct{} // closed at the end of the Run of the kubelet
}

// apply waits until the word can be applied, and applies it.
func (k *Kubelet) apply(ctx context.Context, pod meta.Key, word func(*podRun, time.Time) (string, error)) (said, error) {
	for {
		wait, err := "for the kubelet to run", error(nil)
		k.mu.Lock()
		if k.stopped != nil {
			wait = "for the pod to come to one of the nodes " + strings.Join(k.nodes, ", ")
		}
		run := k.pods[pod]
		if run != nil {
			if wait, err = word(run, time.Now()); wait == "" && err == nil {
				run.words++
			}
		}
		result := said{run: run, words: k.words, stopped: k.stopped}
		if run != nil {
			result.number = run.words
		}
		news := k.next()
		k.mu.Unlock()
		if err != nil || wait == "" {
			return result, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return said{}, fmt.Errorf("%w while waiting %s", context.Cause(ctx), wait)
		}
	}
}

// until waits until met reports that the server has the status. It calls met with the lock held.
func (k *Kubelet) until(ctx context.Context, met func() bool) error {
	for {
		k.mu.Lock()
		done, news := met(), k.next()
		k.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting for the server to have the status", context.Cause(ctx))
		}
	}
}

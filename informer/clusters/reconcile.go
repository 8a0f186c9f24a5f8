package clusters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/clustering"
	"github.com/bowline-go/bowline/workqueue"
)

// RemovedError is the cause of the context of a reconcile whose cluster has been removed.
type RemovedError struct {
	// Cluster is the name of the cluster.
	Cluster string
}

// Error names the cluster.
func (e *RemovedError) Error() string { return fmt.Sprintf("cluster %q has been removed", e.Cluster) }

// work is a reconcile in progress, and its context.
type work struct {
	of string // the cluster
	context.Context
	cancel context.CancelCauseFunc
}

// interrupted reports whether err is the error of the context, and the context has ended because the cluster was
// removed. If the context has ended for another reason, such as Options.Timeout, or has not ended, err is a failure
// like any other.
func (w *work) interrupted(err error) bool {
	cause := context.Cause(w)
	return errors.As(cause, new(*RemovedError)) && (errors.Is(err, w.Err()) || errors.Is(err, cause))
}

type workKey struct{}

// Value returns the work itself for workKey, and otherwise the value of the context.
func (w *work) Value(key any) any {
	if key == (workKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// reconcile is the function of the embedded controller.
func (c *Controller[V]) reconcile(ctx context.Context, k Key) (controller.Result, error) {
	m, w := c.enter(ctx, k)
	if m == nil { // the key is settled, and so leaves the queue
		return controller.Result{}, nil
	}
	returned := false
	defer func() {
		if !returned { // fn panics, or ends its goroutine: the key is retried
			c.leave(m, k, true)
		}
	}()
	// Before the controller called this function, it checked whether the key must wait. If the cluster was added since
	// then, the key must wait now.
	if m.added.Holds(k) {
		returned = true
		c.leave(m, k, false)
		return controller.Result{RequeueAfter: time.Nanosecond}, nil
	}
	result, err := c.fn(w, m.value, k)
	returned = true
	interrupted := w.interrupted(err) // leave ends the context
	_, again := result.Delay(time.Now())
	if stays := c.leave(m, k, err != nil || again); stays {
		return result, err
	}
	switch {
	case err == nil:
		return controller.Result{}, nil
	case interrupted:
		return controller.Result{}, &clustering.Interruption{Err: err}
	}
	return controller.Result{}, controller.Terminal(err)
}

// enter notes that a reconcile begins. It returns nil if the cluster is not there.
func (c *Controller[V]) enter(ctx context.Context, k Key) (*member[V], *work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.members[k.Cluster]
	if m == nil {
		return nil, nil
	}
	w := &work{of: k.Cluster}
	w.Context, w.cancel = context.WithCancelCause(ctx)
	m.running[k.Key] = w
	return m, w
}

// begin forgets the keys that waited in the queue of the last Run.
func (c *Controller[V]) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members {
		clear(m.later)
	}
}

// leave notes that a reconcile ends. later says that the key will come again even if no source names it. leave returns
// false if the cluster has been removed.
func (c *Controller[V]) leave(m *member[V], k Key, later bool) (stays bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.running[k.Key].cancel(nil)
	delete(m.running, k.Key)
	switch {
	case m.gone:
		if m.left != nil {
			close(m.left)
			m.left = nil
		}
		return false
	case later:
		m.later[k.Key] = true
	default:
		delete(m.later, k.Key)
	}
	return true
}

// rest is a source that names keys of removed clusters, so that they leave the queue.
type rest struct {
	begin func()        // called when a Run begins, before the first reconcile
	wake  chan struct{} // holds a token when there are keys

	mu      sync.Mutex // guards the fields below
	running bool
	keys    []Key
}

func (r *rest) add(keys []Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running || len(keys) == 0 { // each Run has its own queue
		return
	}
	r.keys = append(r.keys, keys...)
	select {
	case r.wake <- struct{}{}:
	default: // a token is there already
	}
}

// ExpectsSources says that clusters bring sources; see clustering.Expectant.
func (r *rest) ExpectsSources() {}

// String names the source.
func (r *rest) String() string { return "removed clusters" }

// Run makes rest a source. The controller calls RunWith instead.
func (r *rest) Run(ctx context.Context, add func(Key), synced func()) error {
	return r.RunWith(ctx, func(k Key, _ workqueue.AddOptions) { add(k) }, synced)
}

// RunWith names the keys with a low priority, because their reconciles do nothing.
func (r *rest) RunWith(ctx context.Context, add func(Key, workqueue.AddOptions), synced func()) error {
	r.mu.Lock()
	r.running, r.keys = true, nil
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.running, r.keys = false, nil
	}()
	r.begin()
	synced()
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return nil
		}
		r.mu.Lock()
		keys := r.keys
		r.keys = nil
		r.mu.Unlock()
		for _, k := range keys {
			add(k, workqueue.AddOptions{Priority: workqueue.LowPriority})
		}
	}
}

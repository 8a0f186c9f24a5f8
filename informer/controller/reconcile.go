// One reconcile: its context, its outcome, and its report.

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/workqueue"
)

// reconcile runs the function on one key. It returns an error if the queue is to retry the key.
func (c *Controller[K]) reconcile(work context.Context, queue *workqueue.Queue[K], key K) error {
	ctx := work
	if c.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(work, c.options.Timeout, c.timeout)
		defer cancel()
	}
	result, err := c.call(ctx, key)

	// The cause distinguishes our deadline from the end of the controller, and from a deadline of the caller of Run.
	timedOut := context.Cause(ctx) == c.timeout
	if timedOut && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", c.timeout, err)
	}
	if err == nil {
		c.record(timedOut, nil)
		c.settled(queue, key, c.log.Works)
		if result.RequeueAfter > 0 {
			queue.AddAfter(key, result.RequeueAfter)
		}
		return nil
	}
	failures := queue.Failures(key) + 1
	if isTerminal(err) && !interrupted(work, err) { // for the queue, the key is done
		c.settled(queue, key, c.log.GivenUp)
		c.failed(timedOut, &ReconcileError{Controller: c.name, Key: key, Failures: failures, Err: err})
		return nil
	}
	if failures == 1 {
		c.failing.Add(1)
	}
	if interrupted(work, err) { // the queue counts it, and nobody else
		c.record(timedOut, nil)
		return err
	}
	c.failed(timedOut, &ReconcileError{Controller: c.name, Key: key, Failures: failures, Err: err})
	return err
}

// settled notes that a key that had failed is no longer retried, and calls end if it was the last such key.
func (c *Controller[K]) settled(queue *workqueue.Queue[K], key K, end func(topic string)) {
	if c.failing.Load() > 0 && queue.Failures(key) > 0 && c.failing.Add(-1) == 0 {
		end(reconciling)
	}
}

// call calls the function and converts its panic into an error.
func (c *Controller[K]) call(ctx context.Context, key K) (result Result, err error) {
	if !c.options.CrashOnPanic {
		defer func() {
			if value := recover(); value != nil {
				err = &cache.PanicError{Value: value, Stack: debug.Stack()}
			}
		}()
	}
	return c.fn(ctx, key)
}

// exited counts a reconcile that has ended its goroutine, and returns its error. The queue has not counted it yet.
func (c *Controller[K]) exited(queue *workqueue.Queue[K], key K) *ReconcileError {
	failures := queue.Failures(key) + 1
	if failures == 1 {
		c.failing.Add(1)
	}
	return &ReconcileError{Controller: c.name, Key: key, Failures: failures, Err: errExited}
}

// failed records and reports a failure.
func (c *Controller[K]) failed(timedOut bool, err *ReconcileError) {
	c.record(timedOut, err)
	if c.options.OnError != nil {
		c.options.OnError(err)
		return
	}
	about := []any{"controller", err.Controller, "key", err.Key, "failures", err.Failures}
	var panicked *cache.PanicError
	if errors.As(err, &panicked) {
		about = append(about, "stack", string(panicked.Stack))
	}
	topic := report.Topic{Key: reconciling, Fails: c.String() + ": reconcile fails", Works: c.String() + ": reconciles work again"}
	if isTerminal(err) { // no success follows
		topic = report.Topic{Key: "terminal", Fails: topic.Fails}
	}
	c.log.Failed(topic, err.Err, []string{fmt.Sprint(err.Key)}, about...)
}

// reconciling is the key of the topic of errors that are retried.
const reconciling = "reconcile"

// record counts one reconcile in the status; err is nil unless it failed.
func (c *Controller[K]) record(timedOut bool, err *ReconcileError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Reconciles++
	if timedOut {
		c.status.Timeouts++
	}
	if err == nil {
		return
	}
	c.status.Errors++
	c.status.LastError = err
	if isPanic(err) {
		c.status.Panics++
	}
	if isTerminal(err) {
		c.status.Terminal++
	}
}

// interrupted reports whether a reconcile failed because the controller ends.
func interrupted(work context.Context, err error) bool {
	return work.Err() != nil && !isPanic(err) && (errors.Is(err, work.Err()) || errors.Is(err, context.Cause(work)))
}

func isPanic(err error) bool {
	var panicked *cache.PanicError
	return errors.As(err, &panicked)
}

// isTerminal reports whether err forbids a retry. A panic does not, whatever its value is.
func isTerminal(err error) bool {
	var terminal *TerminalError
	return errors.As(err, &terminal) && !isPanic(err)
}

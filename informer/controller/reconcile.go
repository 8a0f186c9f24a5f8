// One reconcile: its context, its outcome, and its report.

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/inside"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/workqueue"
)

// reconcile runs the function on one key. It returns an error if the queue is to retry the key.
func (c *Controller[K]) reconcile(work context.Context, queue *workqueue.Queue[K], key K) (err error) {
	if c.awaits(queue, key) || c.slowed(work, queue, key) || !c.admit(work, key) {
		return nil
	}
	settled := false
	work, leave, ok := c.enterShard(work, key)
	if !ok {
		c.settled(queue, key, c.log.GivenUp) // another replica goes on with it
		return nil
	}
	defer func() { leave(settled && err == nil) }()
	s := &scope[K]{Context: work, c: c, queue: queue, key: key}
	c.contests.look(work, key, &s.round)
	ctx, release := c.enter(s)
	defer release()
	end := ReconcileEnd{Outcome: Failed, Err: errExited} // stays if the function ends its goroutine
	inner, ended := c.observe(ctx, queue, key)
	if ended != nil {
		end.Began = time.Now()
		defer func() {
			if end.Err == errExited {
				end.Duration = time.Since(end.Began)
			}
			ended(end)
		}()
	}
	result, err := c.call(inner, key)
	settled = true

	if ended != nil {
		end.Duration = time.Since(end.Began)
	}
	c.watch(work, s)
	// The cause distinguishes our deadline from the end of the controller, and from a deadline of the caller of Run.
	end.TimedOut = context.Cause(ctx) == c.timeout
	if end.TimedOut && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", c.timeout, err)
	}
	end.Err = err
	if err == nil {
		end.Outcome, end.Result = Succeeded, result
		if _, again := result.Delay(time.Now()); again {
			end.Outcome = Requeued
		}
		c.record(end, nil)
		c.settled(queue, key, c.log.Works)
		c.requeue(queue, key, result)
		return nil
	}

	failures := queue.Failures(key) + 1
	retry := true // for the queue, the key has failed
	var dropped *inside.Interruption
	switch {
	case interrupted(work, err):
		end.Outcome = Interrupted
	case deleted(ctx, err): // the key has been added
		end.Outcome, retry = Interrupted, false
	case errors.As(err, &dropped) && !isPanic(err):
		end.Outcome, end.Err, retry = Interrupted, dropped.Err, false
	case isTerminal(err):
		end.Outcome, retry = FailedForGood, false
	case failures < loudConflicts && isConflict(err):
		end.Outcome = Conflicted
	}
	if !retry {
		c.settled(queue, key, c.log.GivenUp)
	} else if failures == 1 {
		c.failing.Add(1)
	}
	if end.Outcome == Failed || end.Outcome == FailedForGood {
		c.failed(end, &ReconcileError{Controller: c.name, Key: key, Failures: failures, Err: err})
	} else {
		c.record(end, nil)
		c.log.Logger().V(1).Info("reconcile ends early", "controller", c.name, "key", fmt.Sprint(key), "outcome", end.Outcome.String(), "reason", err.Error())
	}
	if !retry {
		return nil
	}
	return err
}

// requeue asks for the reconcile that a result names.
func (c *Controller[K]) requeue(queue *workqueue.Queue[K], key K, result Result) {
	d, again := result.Delay(time.Now())
	if !again {
		return
	}
	if result.Priority == 0 {
		of, _ := queue.Inspect(key)
		result.Priority = of.RunPriority
	}
	if d > 0 {
		queue.AddWith(key, workqueue.AddOptions{After: d, Priority: result.Priority})
		return
	}
	if row := queue.AddOverdue(key, result.Priority); row > 1 && c.isNewlyOverdue(key) {
		c.log.Logger().Info(c.String()+": a reconcile has asked for a time that has passed, again: its key waits as if it had failed. "+
			"Return the zero Result if nothing is due", "controller", c.name, "key", key, "overdue", -d)
	}
}

// maxOverdue bounds the keys of which the log says that their times stay in the past.
const maxOverdue = 20

// isNewlyOverdue reports whether the log is to say that the times of key stay in the past.
func (c *Controller[K]) isNewlyOverdue(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, said := c.overdue[key]; said || len(c.overdue) == maxOverdue {
		return false
	}
	if c.overdue == nil {
		c.overdue = make(map[K]struct{})
	}
	c.overdue[key] = struct{}{}
	return true
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
func (c *Controller[K]) failed(end ReconcileEnd, err *ReconcileError) {
	c.record(end, err)
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
func (c *Controller[K]) record(end ReconcileEnd, err *ReconcileError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.Reconciles++
	if end.TimedOut {
		c.status.Timeouts++
	}
	if end.Outcome == Conflicted {
		c.status.Conflicts++
	}
	if err == nil {
		return
	}
	c.status.Errors++
	c.status.LastError = err
	if isPanic(err) {
		c.status.Panics++
	}
	if end.Outcome == FailedForGood {
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

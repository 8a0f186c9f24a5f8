// One reconcile: its way through the gates, its outcome, and its report.

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/clustering"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/workqueue"
)

// reconcile runs the function on one key. It returns an error if the queue must retry the key.
func (e *epoch[K]) reconcile(work context.Context, key K) error {
	v := &visit[K]{Context: work, epoch: e, key: key, end: ReconcileEnd{Outcome: Failed, Err: guard.ErrExited}}
	defer v.leave(0) // also if the function ends its goroutine
	ctx, ok := v.enter(v, e.gates)
	if !ok {
		return nil
	}
	v.call(ctx)
	return v.conclude(ctx)
}

// call calls the function within the gates of around.
func (v *visit[K]) call(outer context.Context) {
	entered := len(v.leaves)
	ctx, _ := v.enter(outer, v.epoch.around)
	var began time.Time
	if v.timed {
		began = time.Now()
	}
	defer func() {
		if v.timed {
			v.end.Duration = time.Since(began)
		}
		v.leave(entered)
	}()
	v.end.Err = v.epoch.c.guarded(func() (err error) {
		v.end.Result, err = v.epoch.c.fn(ctx, v.key)
		return err
	})
}

// conclude decides what the end of the call means for the key, and reports it. It returns an error if the queue must
// retry the key.
func (v *visit[K]) conclude(ctx context.Context) error {
	e, c, err := v.epoch, v.epoch.c, v.end.Err
	if err == nil {
		v.end.Outcome = Succeeded
		if _, again := v.end.Result.Delay(time.Now()); again {
			v.end.Outcome = Requeued
		}
		c.record(v.end, nil)
		e.settled(v.key, c.log.Works)
		e.requeue(v.key, v.end.Result)
		v.settled = true
		return nil
	}
	v.end.Result = Result{}
	failures := e.queue.Failures(v.key) + 1
	retry := true // conclude returns an error, so that the queue retries the key
	dropped, ok := errors.AsType[*clustering.Interruption](err)
	switch {
	case interrupted(ctx, err):
		v.end.Outcome = Interrupted
	case v.interrupted:
		v.end.Outcome, retry = Interrupted, false
	case ok && !isPanic(err):
		v.end.Outcome, v.end.Err, retry = Interrupted, dropped.Err, false
	case isTerminal(err):
		v.end.Outcome, retry = FailedForGood, false
	case failures < loudConflicts && isConflict(err):
		v.end.Outcome = Conflicted
	}
	if !retry {
		e.settled(v.key, c.log.GivenUp)
	} else if failures == 1 {
		e.failing.Add(1)
	}
	if v.end.Outcome == Failed || v.end.Outcome == FailedForGood {
		c.failed(v.end, &ReconcileError{Controller: c.name, Key: v.key, Failures: failures, Err: err})
	} else {
		c.record(v.end, nil)
		c.log.Logger().V(1).Info("reconcile ends early", "controller", c.name, "key", fmt.Sprint(v.key), "outcome", v.end.Outcome.String(), "reason", err.Error())
	}
	if v.settled = !retry; v.settled {
		return nil
	}
	return err
}

// requeue schedules the reconcile that a result asks for.
func (e *epoch[K]) requeue(key K, result Result) {
	d, again := result.Delay(time.Now())
	if !again {
		return
	}
	if result.Priority == 0 {
		of, _ := e.queue.Inspect(key)
		result.Priority = of.RunPriority
	}
	if d > 0 {
		e.queue.AddWith(key, workqueue.AddOptions{After: d, Priority: result.Priority})
		return
	}
	if row := e.queue.AddOverdue(key, result.Priority); row > 1 && e.isNewlyOverdue(key) {
		e.c.log.Logger().Info(e.c.String()+": a Result asks for a time in the past again, "+
			"so the key waits as after a failure; return the zero Result if nothing is due", "controller", e.c.name, "key", key, "overdue", -d)
	}
}

// maxOverdue bounds the number of keys for which the log says that their times stay in the past.
const maxOverdue = 20

// isNewlyOverdue reports whether the log should say that the times of key stay in the past.
func (e *epoch[K]) isNewlyOverdue(key K) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, said := e.overdue[key]; said || len(e.overdue) == maxOverdue {
		return false
	}
	if e.overdue == nil {
		e.overdue = make(map[K]struct{})
	}
	e.overdue[key] = struct{}{}
	return true
}

// settled notes that a key that had failed is no longer retried, and calls end if it was the last such key.
func (e *epoch[K]) settled(key K, end func(topic string)) {
	if e.failing.Load() > 0 && e.queue.Failures(key) > 0 && e.failing.Add(-1) == 0 {
		end(reconciling)
	}
}

// exited counts a reconcile that has ended its goroutine, and returns its error. The queue has not counted it yet.
func (e *epoch[K]) exited(key K) *ReconcileError {
	failures := e.queue.Failures(key) + 1
	if failures == 1 {
		e.failing.Add(1)
	}
	return &ReconcileError{Controller: e.c.name, Key: key, Failures: failures, Err: guard.ErrExited}
}

// failed records and reports a failure.
func (c *Controller[K]) failed(end ReconcileEnd, err *ReconcileError) {
	c.record(end, err)
	if c.options.OnError != nil {
		c.options.OnError(err)
		return
	}
	about := []any{"controller", err.Controller, "key", err.Key, "failures", err.Failures}
	if panicked, ok := errors.AsType[*cache.PanicError](err); ok {
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
	return errors.As(err, new(*cache.PanicError))
}

// isTerminal reports whether err forbids a retry. A panic does not, whatever its value is.
func isTerminal(err error) bool {
	return errors.As(err, new(*TerminalError)) && !isPanic(err)
}

// The status of a controller.

package controller

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/workqueue"
)

// State is the phase of a controller's life.
type State int

const (
	// Idle is the zero value: Run has not been called.
	Idle State = iota
	// Syncing means that sources have not delivered what existed at the start, and no worker runs yet.
	Syncing
	// Standby means that all sources have delivered, and [Controller.RunLed] waits for a call of work.
	Standby
	// Running means that the workers run.
	Running
	// Stopping means that Run waits for reconciles in progress and for sources.
	Stopping
	// Stopped means that Run has returned.
	Stopped
)

// String returns the state in lower case.
func (s State) String() string {
	return shown.Name("State", int(s), "idle", "syncing", "standby", "running", "stopping", "stopped")
}

// Status is a snapshot of a controller's activity.
type Status struct {
	// Name is the name of the controller.
	Name string
	// State is the phase of its life.
	State State
	// Workers is how many keys it reconciles at a time, unless it is paused.
	Workers int
	// Paused says that [Controller.Pause] was called, and that no reconcile starts until [Controller.Resume].
	Paused bool
	// Unsynced has an error for each source that the workers wait for, or that Run gave up waiting for. It also has
	// one for each source of [Controller.AddSource] and [Controller.AddSourcesFor] that has not delivered yet or has
	// failed, although no worker waits for it. Each error begins with the name of the source, and wraps the reason if
	// the source gives one, such as the last error of the server. If Options.Shards have a method WhyIdle, "Shards" is
	// listed too while the controller runs and this replica has no ranges.
	Unsynced []error
	// Reconciles is how many reconciles have ended, whatever their outcome, since the controller was made.
	Reconciles int
	// Errors is how many of them failed, by an error or a panic. A reconcile that was interrupted has not failed; see
	// [Interrupted].
	Errors int
	// Panics is how many of the failures were panics, Terminal how many were terminal errors.
	Panics, Terminal int
	// Conflicts is how many reconciles returned a Conflict and are retried quietly. They are not among the Errors.
	Conflicts int
	// Timeouts is how many reconciles Options.Timeout ended, failed or not.
	Timeouts int
	// LastError is the latest failure, a *ReconcileError, or nil if there was none. A success does not clear it.
	LastError error
	// Failing is how many keys have failed, or returned a Conflict, and are retried.
	Failing int
	// Elsewhere is how often a key was left to other replicas, since the controller was made: with Options.Shards, this
	// replica did not have the range of the key, or no cache of it had the object. These are not among the Reconciles.
	Elsewhere int
	// Waiting is how many keys wait aside for caches now; see [Fresh]. Waits is how many such waits have ended since
	// the controller was made, Waited is their total duration, and WentAhead is how many of them ended by
	// Options.FreshTimeout.
	Waiting, Waits, WentAhead int
	Waited                    time.Duration
	// Fighting is the number of current fights, and Fights are the first noticed of them, at most 20; see [FightError].
	// FightsNoticed is how many have been noticed since the controller was made.
	Fighting, FightsNoticed int
	Fights                  []*FightError
	// Queue says how many keys are in progress, ready and delayed.
	Queue workqueue.Stats
}

// String returns the status in one line for people. Its form may change.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "controller %q: %v", s.Name, s.State)
	if len(s.Unsynced) > 0 {
		fmt.Fprintf(&b, " (waiting for %v)", several(s.Unsynced))
	}
	if s.Paused {
		b.WriteString(", paused")
	}
	fmt.Fprintf(&b, ", %d reconciles, %d errors", s.Reconciles, s.Errors)
	for _, part := range []struct {
		count int
		name  string
	}{
		{s.Panics, "panics"},
		{s.Terminal, "terminal"},
		{s.Conflicts, "conflicts"},
		{s.Timeouts, "timeouts"},
		{s.Elsewhere, "left to other replicas"},
		{s.Queue.InProgress, "in progress"},
		{s.Queue.Ready, "ready"},
		{s.Queue.Delayed, "delayed"},
		{s.Queue.Throttled, "throttled"},
		{s.Waiting, "waiting for caches"},
		{s.WentAhead, "gone ahead of caches"},
		{s.Fighting, "fights"},
	} {
		if part.count > 0 {
			fmt.Fprintf(&b, ", %d %s", part.count, part.name)
		}
	}
	if s.LastError != nil {
		fmt.Fprintf(&b, "; last error: %v", s.LastError)
	}
	return b.String()
}

// Status returns a snapshot of the controller's activity. It may be called at any time, also from a reconcile.
func (c *Controller[K]) Status() Status {
	c.mu.Lock()
	s, e := c.status, c.epoch
	c.mu.Unlock()
	s.Unsynced = c.unsynced(true)
	if c.sharding != nil {
		s.Elsewhere = int(c.sharding.elsewhere.Load())
		if s.State == Syncing || s.State == Standby || s.State == Running {
			if why := c.sharding.whyIdle(); why != nil {
				s.Unsynced = append(s.Unsynced, fmt.Errorf("Shards: %w", why))
			}
		}
	}
	s.Workers, s.Paused = c.crew.state()
	if e != nil {
		s.Failing, s.Queue, s.Waiting = int(e.failing.Load()), e.queue.Stats(), e.fresh.waits.Waiting()
		s.Fighting, s.Fights = e.fights.on()
	}
	return s
}

// unsynced returns the sources that have not delivered: all of them, or only those that the workers wait for.
func (c *Controller[K]) unsynced(all bool) (unsynced []error) {
	c.set.mu.Lock()
	var feeds []*feed[K]
	var failed []error
	var lacking []bool // it has delivered, and may lack a namespace that was added since
	for _, f := range c.set.feeds {
		if all && (f.unsynced || f.partial != nil && f.stop != nil) || f.blocks() && f.covers == nil {
			feeds, failed, lacking = append(feeds, f), append(failed, f.failed), append(lacking, !f.unsynced)
		}
	}
	c.set.mu.Unlock()
	for i, f := range feeds {
		why := failed[i]
		if why == nil {
			why = whyUnsynced(f.source)
		}
		switch {
		case why != nil:
			unsynced = append(unsynced, fmt.Errorf("%s: %w", nameOf(f.source), why))
		case !lacking[i]:
			unsynced = append(unsynced, errors.New(nameOf(f.source)))
		}
	}
	return unsynced
}

// queueNow returns the queue of the current Run, or of the last one; nil before the first.
func (c *Controller[K]) queueNow() *workqueue.Queue[K] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch == nil {
		return nil
	}
	return c.epoch.queue
}

// keys is RunInfo.Keys.
func (c *Controller[K]) keys() iter.Seq[workqueue.KeyInfo[any]] {
	return func(yield func(workqueue.KeyInfo[any]) bool) {
		for k := range c.queueNow().Keys() {
			if !yield(workqueue.KeyInfo[any]{
				Key: k.Key, Group: k.Group, Pending: k.Pending, Due: k.Due, Priority: k.Priority, Started: k.Started, RunPriority: k.RunPriority,
				Failures: k.Failures, LastError: k.LastError,
			}) {
				return
			}
		}
	}
}

// String names the controller.
func (c *Controller[K]) String() string { return fmt.Sprintf("controller %q", c.name) }

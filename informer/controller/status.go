// The status of a controller.

package controller

import (
	"fmt"
	"iter"
	"strings"

	"github.com/bowline-go/bowline/workqueue"
)

// State is the phase of a controller's life.
type State int

const (
	// Idle is the zero value: Run has not been called.
	Idle State = iota
	// Syncing means that sources have not delivered what existed at the start, and no worker runs yet.
	Syncing
	// Standby means that all sources have delivered, and [Controller.RunLed] waits to be called to work.
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
	return nameIn("State", int(s), "idle", "syncing", "standby", "running", "stopping", "stopped")
}

// nameIn returns the name of the i-th value of a type.
func nameIn(of string, i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%s(%d)", of, i)
	}
	return names[i]
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
	// Unsynced are the sources that the workers wait for, or have waited for in vain, and why they have not delivered; and
	// sources of [Controller.AddSource] and [Controller.AddSourcesFor] that have not delivered yet, or have failed, for which no
	// worker waits. With Options.Shards that have a method Idle, "Shards" is one of them while the controller runs and this replica has no
	// ranges, and Err says why.
	Unsynced []Unsynced
	// Reconciles is how many reconciles have ended, whatever their outcome, since the controller was made.
	Reconciles int
	// Errors is how many of them failed, by an error or a panic. A reconcile that was interrupted has not failed; see [Interrupted].
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
	// Elsewhere is how often a key was left to other replicas, since the controller was made: with Options.Shards, this replica did not
	// have the range of the key, or no cache of it knew the object. It is not among the Reconciles.
	Elsewhere int
	// Fresh says how many keys have waited for caches; see [Fresh].
	Fresh FreshStats
	// Fights says who undoes the writes of reconciles; see [Fight].
	Fights FightStats
	// Queue says how many keys are in progress, ready and delayed.
	Queue workqueue.Stats
}

// Unsynced is a source that has not delivered what existed at the start.
type Unsynced struct {
	// Source is the name of the source, or "Shards".
	Source string
	// Err is the reason, such as the last error of the server; nil if the source gives none.
	Err error
}

// String names the source and the reason.
func (u Unsynced) String() string {
	if u.Err == nil {
		return u.Source
	}
	return fmt.Sprintf("%s: %v", u.Source, u.Err)
}

func join(all []Unsynced) string {
	parts := make([]string, len(all))
	for i, u := range all {
		parts[i] = u.String()
	}
	return strings.Join(parts, "; ")
}

// String returns the status in one line for people. Its form may change.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "controller %q: %v", s.Name, s.State)
	if len(s.Unsynced) > 0 {
		fmt.Fprintf(&b, " (waiting for %s)", join(s.Unsynced))
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
		{s.Fresh.Waiting, "waiting for caches"},
		{s.Fresh.Timeouts, "gone ahead of caches"},
		{s.Fights.On, "fights"},
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
				s.Unsynced = append(s.Unsynced, Unsynced{Source: "Shards", Err: why})
			}
		}
	}
	s.Workers, s.Paused = c.crew.state()
	if e != nil {
		noticed := s.Fights.Noticed
		s.Failing, s.Queue, s.Fresh.Waiting, s.Fights = int(e.failing.Load()), e.queue.Stats(), e.fresh.waits.Waiting(), e.fights.stats()
		s.Fights.Noticed = noticed
	}
	return s
}

// unsynced returns the sources that have not delivered: all of them, or those that the workers wait for.
func (c *Controller[K]) unsynced(all bool) (unsynced []Unsynced) {
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
		u := Unsynced{Source: nameOf(f.source), Err: failed[i]}
		if u.Err == nil {
			u.Err = whyUnsynced(f.source)
		}
		if u.Err != nil || !lacking[i] {
			unsynced = append(unsynced, u)
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

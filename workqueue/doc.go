// Package workqueue holds keys that need work and hands each to one worker at a time.
//
// A key is any comparable value; the package knows nothing of Kubernetes. Producers call [Queue.Add]; workers call
// [Queue.Do], which takes one key, runs a function on it and settles the key when the function returns:
//
//	for queue.Do(ctx, sync) == nil {
//	}
//
// is a complete worker, and so is queue.Work(ctx, sync). No other call is needed: no marking as done, no forgetting, no
// shutting down. [Queue.Drain] ends when nothing is left to do at once.
//
// # Guarantees
//
//   - A key is in progress at most once, however many workers there are.
//   - A key has at most one pending run. Another request moves that run to the earlier of the two times, so Add of a
//     delayed key runs it now, instead of now and once more later.
//   - No request is lost: after a call of Add(k), a run of k starts that had not started before, unless Cancel takes it
//     away. If k is in progress, that run starts after the present one has ended.
//   - Ready keys of one priority are handed out in the order in which they became ready.
//   - A ready key is overtaken only by keys of a higher priority, and only by those that become ready less than (their
//     priority - its priority) × Options.Ageing after it. So no load can starve a key.
//   - With Options.Group, these two hold among the keys of one group, and no group can starve another.
//   - Memory is proportional to the distinct keys that are pending or in progress. A key that succeeded leaves nothing
//     behind, and the queue shrinks after a peak. A queue of a steady size allocates nothing.
//   - While no worker waits, the queue runs nothing: no goroutine, no timer. Delays keep counting; the next call sees
//     the keys that have become ready meanwhile.
//
// A function that finds that its key has to wait for something calls [Queue.Hold] and returns: the key leaves the
// worker free, and comes back at [Queue.Release] or after a time. Requests meanwhile do not bring it back earlier.
//
// # Failures
//
// A function that returns an error, panics, or ends its goroutine has failed: its key runs again after a delay that
// doubles with each failure in a row, from 5 ms to 1000 s, jittered down by up to half. A function that returns nil
// resets the key's failures. An Add meanwhile runs the key at once, because something has changed; the failures stay
// counted until a run succeeds.
//
// A function whose key is due again at a time that has passed calls [Queue.AddOverdue]: the key runs at once the first
// time, and waits like a failed one if that goes on, without a failure.
//
// Options.RetryRate limits the retries of all keys together. It never delays keys of Add or AddAfter. A retry takes its
// token when it becomes ready, not when it is requested: a retry that an Add replaced, or a request that repeats a
// pending one, costs nothing, so no debt builds up that would delay others.
//
// # Priorities
//
// [Queue.AddWith] gives a run a priority, from -100, which is [LowPriority], to 100; Add and AddAfter have priority 0.
// The worker takes the key for which
//
//	the moment at which it became ready - its priority × Options.Ageing
//
// is earliest. That moment does not change while the key waits, so waiting for Options.Ageing is worth as much as one
// priority.
//
// A pending run keeps the highest priority that it was asked for with, and the earliest time. A ready key whose
// priority is raised moves forward, to where it would be had it become ready with that priority; a request with a lower
// priority changes nothing. The priority of a run ends with the run, except that a retry has at least the priority of
// the run that failed.
//
// # Groups
//
// With Options.Group, each key is in a group, such as its namespace, its tenant or its cluster, and the groups share
// the workers. A group waits if it has ready keys. Its share is
//
//	the workers × its weight / the weights of all groups that have keys ready or in progress
//
// A worker that is free takes a key of a waiting group that has fewer keys in progress than its share, if there is one.
// If there are several such groups they take turns, as often as their weights say. So:
//
//   - While a group waits for its share, the others get workers only up to their own shares, rounded up.
//   - While a group waits for its share, each other group starts a limited number of runs: its weight / the weight of
//     the group that waits, rounded up. So a group of weight 1 waits for one run of each other group of weight 1, and
//     for three runs of a group of weight 3; a group of weight 3 waits for one run of a group of weight 1. A group
//     whose wait began later, and whose weight is not greater, starts no run before it.
//   - No worker waits while a key is ready. If no group waits for its share, the others may have more: the group comes
//     first that has the fewest keys in progress in proportion to its weight. A group alone has all workers.
//   - A group that was idle has saved nothing up: it comes after one turn of those that waited before it.
//   - Within a group, the order is that of priorities and ageing. A priority gets a group no turn of another.
//   - Memory is proportional to the groups that have keys in the queue.
//
// A run is not interrupted, so a group that begins to wait for its share also waits until one of the runs in progress
// ends. Turns are counted in runs, not in time: if there are more groups than workers, a group of slow keys has the
// workers for longer. Delays, failures and Options.RetryRate know no groups.
//
// The workers that count are those that have a key, and the one that takes the next. Workers that wait are about to
// take a key themselves if one is ready, so they need no count.
//
// # Observing
//
// [Queue.Stats] counts keys, [Queue.Inspect] and [Queue.Keys] say of single keys what they wait for, since when if they
// are ready, until when if they are not, how often they failed and with what. [Queue.Groups] says how many workers each
// group has, and for how long it waits. [Hooks] are for metrics.
//
// # Limits
//
// The queue is in memory: it does not survive the process. A key says that something changed, not what changed or how
// often. A key must equal itself (NaN does not, and would never be removed).
package workqueue

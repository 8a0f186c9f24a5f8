// Package workqueue holds keys that need work and hands each to one worker at a time.
//
// A key is any comparable value; the package knows nothing of Kubernetes. Producers call [Queue.Add]; workers call
// [Queue.Do], which takes one key, runs a function on it and settles the key when the function returns:
//
//	for queue.Do(ctx, sync) == nil {
//	}
//
// is a complete worker, and so is queue.Work(ctx, sync). No other call is needed: no marking as done, no forgetting,
// no shutting down. [Queue.Drain] returns when no key is ready or in progress.
//
// # Guarantees
//
//   - A key is in progress at most once, however many workers there are.
//   - A key has at most one pending run. Another request moves that run to the earlier of the two times, so Add of a
//     delayed key runs it now, instead of now and once more later.
//   - No request is lost: after each call of Add(k), a new run of k starts, unless Cancel removes it. If k is in
//     progress, the new run starts after the present one has ended.
//   - Ready keys of one priority are handed out in the order in which they became ready.
//   - A ready key is overtaken only by keys of a higher priority, and only by those that become ready less than (their
//     priority - its priority) × Options.Ageing after it. So no load can starve a key.
//   - With Options.Group, the last two guarantees hold among the keys of one group, and no group can starve another.
//   - Memory is proportional to the distinct keys that are pending or in progress. A key that succeeded leaves nothing
//     behind, and the queue shrinks after a peak. A queue of a steady size allocates nothing.
//   - While no worker waits, the queue runs nothing: no goroutine, no timer. Delays keep counting; the next call sees
//     the keys that have become ready in the meantime.
//
// A function whose key must wait for something calls [Queue.Hold] and returns. That frees the worker; the key comes
// back at [Queue.Release] or after a time. Requests during the hold do not bring it back earlier.
//
// # Failures
//
// A function that returns an error, panics, or ends its goroutine has failed: its key runs again after a delay that
// doubles with each failure in a row, from 5 ms to 1000 s, jittered down by up to half. A function that returns nil
// resets the key's failures. An Add during the delay makes the key ready at once, because something has changed; the
// failures stay counted until a run succeeds.
//
// If the time at which a key is due again has already passed, its function calls [Queue.AddOverdue]. The key becomes
// ready at once the first time. If the calls go on, it waits like a failed key, but no failure is counted.
//
// Options.RetryRate limits the retries of all keys together. It never delays keys that Add or AddAfter requested. A
// retry takes its token when it becomes ready, not when it is requested: a retry that an Add replaced, or a request
// that repeats a pending one, costs nothing, so no debt builds up to delay other keys.
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
// A pending run keeps the highest priority and the earliest time of all its requests. A ready key whose priority is
// raised moves forward, to the place that it would have if it had become ready with that priority; a request with a
// lower priority changes nothing. The priority of a run ends with the run, except that a retry has at least the
// priority of the run that failed.
//
// # Groups
//
// With Options.Group, each key is in a group, such as its namespace, its tenant or its cluster, and the groups share
// the workers. A group waits if it has ready keys. Its share is
//
//	the workers × its weight / the weights of all groups that have keys ready or in progress
//
// A worker that is free takes a key of a waiting group that has fewer keys in progress than its share, if there is
// one. Several such groups take turns, in proportion to their weights. So:
//
//   - While a group waits for its share, the others get workers only up to their own shares, rounded up.
//   - While a group waits for its share, each other group starts a limited number of runs: its weight / the weight of
//     the group that waits, rounded up. So a group of weight 1 waits for one run of each other group of weight 1, and
//     for three runs of a group of weight 3; a group of weight 3 waits for one run of a group of weight 1. A group
//     whose wait began later, and whose weight is not greater, starts no run before it.
//   - No worker waits while a key is ready. If no group waits for its share, groups may have more than their shares:
//     the group with the fewest keys in progress, in proportion to its weight, comes first. A group that is alone has
//     all workers.
//   - A group gains no credit while it is idle: when it returns, it comes after one turn of the groups that were
//     already waiting.
//   - Within a group, the order is that of priorities and ageing. A priority does not give a group the turn of another
//     group.
//   - Memory is proportional to the groups that have keys in the queue.
//
// A run is not interrupted, so a group that begins to wait for its share also waits until one of the runs in progress
// ends. Turns are counted in runs, not in time: if there are more groups than workers, a group of slow keys has the
// workers for longer. Groups have no effect on delays, failures and Options.RetryRate.
//
// The number of workers is the number of those that have a key, plus the one that takes the next. Waiting workers do
// not count: if a key is ready, each of them is about to take one.
//
// # Observing
//
// [Queue.Stats] counts keys. [Queue.Inspect] and [Queue.Keys] report for single keys what they wait for, since when
// (if ready) or until when (if not), how often they failed and with which error. [Queue.Groups] reports how many
// workers each group has, and how long its oldest ready key has waited. [Hooks] are for metrics.
//
// # Limits
//
// The queue is in memory: it does not survive the process. A key says that something changed, not what changed or how
// often. A key must equal itself (NaN does not, and would never be removed).
package workqueue

// Package workqueue holds keys that need work and hands each to one worker at a time.
//
// A key is any comparable value; the package knows nothing of Kubernetes. Producers call [Queue.Add]; workers call
// [Queue.Do], which takes one key, runs a function on it and settles the key when the function returns:
//
//	for queue.Do(ctx, sync) == nil {
//	}
//
// is a complete worker. No other call is needed: no marking as done, no forgetting, no shutting down.
//
// # Guarantees
//
//   - A key is in progress at most once, however many workers there are.
//   - A key has at most one pending run. Another request moves that run to the earlier of the two times, so Add of a
//     delayed key runs it now, instead of now and once more later.
//   - No request is lost: after a call of Add(k), a run of k starts that had not started before. If k is in progress, that
//     run starts after the present one has ended.
//   - Ready keys are handed out in the order in which they became ready.
//   - Memory is proportional to the distinct keys that are pending or in progress. A key that succeeded leaves nothing
//     behind, and the queue shrinks after a peak.
//   - While no Do waits, the queue runs nothing: no goroutine, no timer. Delays keep counting; the next call sees the keys
//     that have become ready meanwhile.
//
// A function that finds that its key has to wait for something calls [Queue.Hold] and returns: the key leaves the worker
// free, and comes back at [Queue.Release] or after a time. Requests meanwhile do not bring it back earlier.
//
// # Failures
//
// A function that returns an error, panics, or ends its goroutine has failed: its key runs again after a delay that
// doubles with each failure in a row, from 5 ms to 1000 s, jittered down by up to half. A function that returns nil resets
// the key's failures. An Add meanwhile runs the key at once, because something has changed; the failures stay counted
// until a run succeeds.
//
// Options.RetryRate limits the retries of all keys together. It never delays keys of Add or AddAfter. A retry takes its
// token when it becomes ready, not when it is requested: a retry that an Add replaced, or a request that repeats a pending
// one, costs nothing, so no debt builds up that would delay others.
//
// # Limits
//
// The queue is in memory: it does not survive the process. A key says that something changed, not what changed or how
// often. Keys are ordered only by time. A key must equal itself (NaN does not, and would never be removed).
package workqueue

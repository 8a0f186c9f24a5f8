// Package workqueue holds keys that need work and hands each to one worker at a time.
//
// A key is any comparable value; the package knows nothing of Kubernetes. Producers call [Queue.Add]; workers call
// [Queue.Do], which takes one key, runs a function on it and settles the key when the function returns:
//
//	for queue.Do(ctx, sync) == nil {
//	}
//
// is a whole worker. There is nothing else to call afterwards: no marking as done, no forgetting, no shutting down.
//
// # What is guaranteed
//
//   - A key is in progress at most once, however many workers there are.
//   - A key has at most one pending run. Whoever asks again moves that run to the earlier of the two times, so Add of a
//     delayed key runs it now, instead of now and once more later.
//   - No request is lost: once Add(k) has been called, a run of k starts that had not started before. If k is in progress,
//     that run starts after the present one has ended.
//   - Ready keys are handed out in the order in which they became ready.
//   - Memory follows the distinct keys that are pending or in progress. A key that succeeded leaves nothing behind, and
//     the queue shrinks after a peak.
//   - Nothing of the queue runs while no Do waits: no goroutine, no timer. Delays count on; the next call sees what has
//     become ready meanwhile.
//
// # Failures
//
// A function that returns an error, panics, or ends its goroutine has failed: its key runs again after a delay that
// doubles with each failure in a row, from 5 ms to 1000 s, jittered down by up to half. A function that returns nil makes
// the key's next failure its first. An Add meanwhile runs the key at once, because something has changed; the failures
// stay counted until a run succeeds.
//
// Options.RetryRate limits the retries of all keys together. It never delays what Add or AddAfter asked for, and a retry
// pays when it becomes ready, not when it is asked for: a retry that an Add replaced, or a request that repeats a pending
// one, costs nothing, so no debt builds up that would delay others.
//
// # What is not guaranteed
//
// The queue is memory: it does not survive the process. A key says that something changed, not what, nor how often. Keys
// are ordered by nothing but time. A key must equal itself (NaN does not, and would never be let go).
package workqueue

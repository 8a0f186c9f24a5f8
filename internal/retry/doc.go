// Package retry says how long to wait before the next attempt, and waits.
//
// It is the only package that imports github.com/cenkalti/backoff/v4. It guarantees:
//
//   - Full jitter. The n-th wait in a row is drawn evenly from 0 up to min(Max, Base·2ⁿ), so that clients which failed
//     together do not come back together.
//   - A server's Retry-After is a lower bound, never rounded down, and jittered upward.
//   - Growth ends with health, not with a single success: a connection that lives for a moment and dies again goes on
//     with the next wait; one that was healthy for Reset starts low again at its next failure.
//   - Time is monotonic: setting the wall clock neither resets nor prolongs anything. Inside a testing/synctest bubble
//     it is the bubble's time.
package retry

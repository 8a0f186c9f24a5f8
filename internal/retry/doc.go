// Package retry says how long to wait before the next attempt, and waits.
//
// It is the only package that imports github.com/cenkalti/backoff/v4. It guarantees:
//
//   - Full jitter. The n-th wait in a row, counted from 0, is drawn evenly from 0 up to min(Max, Base·2ⁿ), so that
//     clients which failed together do not come back together.
//   - A server's Retry-After is a lower bound, never rounded down, and jittered upward.
//   - Growth ends with health, not with a single success: after a connection that lived only for a moment, the waits
//     continue to grow; after one that was healthy for Reset, they start low again.
//   - Time is monotonic: setting the wall clock neither resets nor prolongs anything. Inside a testing/synctest bubble
//     it is the bubble's time.
package retry

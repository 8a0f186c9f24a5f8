// This file says how long to wait: exponential growth with full jitter, a floor, and a reset after health.

package retry

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Policy says how waits grow. Its zero value is that of a watch: 800 ms growing to 30 s, low again after 2 minutes of
// health. For conflicts between writers, use a policy such as {Base: 10 * time.Millisecond, Max: time.Second}.
type Policy struct {
	// Base bounds the first wait; each further one in a row is bounded by twice the bound before. 0 = 800 ms.
	Base time.Duration
	// Max bounds every wait, unless a floor is higher. 0 = 30 s. A Base above Max counts as Max.
	Max time.Duration
	// Reset is how long health must last for the next wait to be bounded by Base again. 0 = 2 minutes.
	Reset time.Duration
}

// Backoff is the state of one sequence of attempts. It belongs to the loop that makes the attempts, and is not safe
// for use by several goroutines at once. It holds no timer and no goroutine.
type Backoff struct {
	growth  *backoff.ExponentialBackOff
	reset   time.Duration
	healthy time.Time // since when attempts have succeeded; zero while they fail
}

// New returns a Backoff whose first wait is bounded by the policy's Base.
func New(p Policy) *Backoff {
	if p.Base <= 0 {
		p.Base = 800 * time.Millisecond
	}
	if p.Max <= 0 {
		p.Max = 30 * time.Second
	}
	if p.Reset <= 0 {
		p.Reset = 2 * time.Minute
	}
	// The library draws evenly from interval·(1 ± factor), both ends included. With a factor of 1 that is 0 to twice
	// the interval, so intervals of half the size give exactly full jitter. (Half of 1 ns is 0, which would never
	// grow.)
	growth := &backoff.ExponentialBackOff{
		InitialInterval:     max(1, min(p.Base, p.Max)/2),
		MaxInterval:         max(1, p.Max/2),
		RandomizationFactor: 1,
		Multiplier:          2,
		MaxElapsedTime:      0, // never gives up: that is the caller's decision
		Stop:                backoff.Stop,
		Clock:               backoff.SystemClock,
	}
	growth.Reset()
	return &Backoff{growth: growth, reset: p.Reset}
}

// Next returns how long to wait after one more failure. A floor above 0 is what the server asked for (Retry-After):
// the wait is then never shorter. If the floor exceeds the wait that was drawn, the wait is the floor plus up to a
// tenth. The caller decides how long a floor it accepts.
func (b *Backoff) Next(floor time.Duration) time.Duration {
	if !b.healthy.IsZero() && time.Since(b.healthy) >= b.reset {
		b.growth.Reset()
	}
	b.healthy = time.Time{}

	wait := b.growth.NextBackOff()
	if wait < floor {
		wait = floor + rand.N(min(floor/10, math.MaxInt64-floor)+1)
	}
	return wait
}

// Healthy records that the attempts succeed now. Health counts from the first call after a failure; further calls
// change nothing until the next failure.
func (b *Backoff) Healthy() {
	if b.healthy.IsZero() {
		b.healthy = time.Now()
	}
}

// Reset makes the next wait low again. Call it when the cause of the failures is known to be gone.
func (b *Backoff) Reset() {
	b.growth.Reset()
	b.healthy = time.Time{}
}

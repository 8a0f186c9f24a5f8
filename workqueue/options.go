// Options of a queue: backoff, the rate of retries, priorities, groups and hooks.

package workqueue

import (
	"math"
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"
)

// Options configure a queue. The zero value is ready for use. Invalid values are accepted: a number below 0 counts as
// 0.
type Options[K comparable] struct {
	// MinBackoff is the delay after the first failure of a key; it doubles with each further one in a row. 0 = 5 ms.
	MinBackoff time.Duration
	// MaxBackoff bounds the delay after a failure. 0 = 1000 s. A MinBackoff above it counts as equal to it.
	MaxBackoff time.Duration
	// Backoff, if set, replaces MinBackoff and MaxBackoff: it returns the delay after the failures-th failure of k in a
	// row, counted from 1. Its result is not jittered. It must be quick and safe for use by several goroutines.
	Backoff func(k K, failures int) time.Duration

	// RetryRate is how many retries a second become ready, for all keys together. 0 = no limit. It does not apply to
	// Add and AddAfter: failing keys do not delay the others.
	RetryRate float64
	// RetryBurst is how many retries may become ready at once after a quiet time. 0 = the retries of one second, at
	// least 1.
	RetryBurst int

	// OnError, if set, is called with every error that the function of [Queue.Do] returned, by the goroutine that ran
	// it and while the key is still in progress.
	OnError func(k K, err error)

	// Ageing is how long a ready key waits until it counts as one priority higher. 0 = 500 ms; at most a year.
	Ageing time.Duration

	// Group, if set, returns the group of a key, such as its namespace or its tenant. The groups share the workers
	// fairly, as the package documentation says. Each call of Add, AddAfter, AddWith, AddOverdue and AddRateLimited
	// calls it, with no lock held. The result counts only if the key is not in the queue: a key stays in its group
	// until it has left the queue. It must be quick and safe for use by several goroutines; a panic goes to the caller
	// of Add, and no key is added.
	Group func(k K) string
	// Weight, if set, returns the weight of a group, from 1 to 100; a result outside counts as the nearer bound, so no
	// group is excluded. It is called after each call of Group. The result for the latest key that joined the group
	// counts. nil = all groups have the same weight. It has no effect without Group.
	Weight func(group string) int

	// Hooks are called on events that a program may want to observe.
	Hooks Hooks[K]
}

// LowPriority is the lowest priority, for keys without urgency, such as all objects of a first list. With the default
// of Options.Ageing, a key of priority 0 overtakes such a key if it becomes ready less than 50 s after it.
const LowPriority = minPriority

// The priorities of keys. Add and AddAfter have priority 0.
const minPriority, maxPriority = -100, 100

// clamp returns the priority that p counts as.
func clamp(p int) int8 { return int8(min(max(p, minPriority), maxPriority)) }

func (o Options[K]) withDefaults() Options[K] {
	if o.MinBackoff <= 0 {
		o.MinBackoff = 5 * time.Millisecond
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 1000 * time.Second
	}
	if o.Ageing <= 0 {
		o.Ageing = 500 * time.Millisecond
	}
	o.Ageing = min(o.Ageing, 365*24*time.Hour)
	if o.Backoff == nil {
		base, limit := min(o.MinBackoff, o.MaxBackoff), o.MaxBackoff
		o.Backoff = func(_ K, failures int) time.Duration { return jitter(exponential(base, limit, failures)) }
	}
	return o
}

// bucket returns the limiter of all retries together, nil if there is no limit.
func (o Options[K]) bucket() *rate.Limiter {
	if !(o.RetryRate > 0) || math.IsInf(o.RetryRate, 1) { // excludes NaN too
		return nil
	}
	burst := o.RetryBurst
	if burst <= 0 {
		burst = int(math.Ceil(min(o.RetryRate, math.MaxInt32)))
	}
	return rate.NewLimiter(rate.Limit(o.RetryRate), burst)
}

// exponential returns base, which is above 0, for the first failure, twice as much for each further one, and at most
// limit.
func exponential(base, limit time.Duration, failures int) time.Duration {
	doublings := max(0, failures-1)
	if base > limit>>doublings { // always true from 63 doublings on
		return limit
	}
	return base << doublings
}

// jitter returns d less up to half of it. So a key that fails repeatedly never comes back at once, and many that
// failed together do not come back together.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/2+1) }

package faults

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Step is one fault of a history.
type Step struct {
	At   time.Duration // when it begins
	Kind string
	Who  int           // which process it befalls
	For  time.Duration // how long it lasts
	By   time.Duration // its strength, such as the step of a clock; it may be negative
}

func (s Step) String() string {
	return fmt.Sprintf("%v: %s, process %d, for %v, by %v", s.At, s.Kind, s.Who, s.For, s.By)
}

// Times are the durations of a lease. A zero means the default of the package that keeps the lease.
type Times struct{ Lease, Deadline, Retry time.Duration }

// SomeTimes chooses between short and long leases, and a deadline near the end of one.
func SomeTimes(rng *rand.Rand) Times {
	return []Times{
		{Lease: 15 * time.Second},
		{Lease: 15 * time.Second, Deadline: 14 * time.Second},
		{Lease: 4 * time.Second, Deadline: 3 * time.Second, Retry: 500 * time.Millisecond},
		{Lease: 30 * time.Second, Deadline: 20 * time.Second, Retry: 5 * time.Second},
	}[rng.IntN(4)]
}

// Begin is the time in which faults begin, and Healing bounds how long one of them lasts.
func Begin(lease time.Duration) time.Duration   { return 5 * lease }
func Healing(lease time.Duration) time.Duration { return 2 * lease }

// Steps returns n faults, each of one of the kinds, which befall some of the processes.
func Steps(rng *rand.Rand, n int, kinds []string, processes int, lease time.Duration) []Step {
	within := func(most ...time.Duration) time.Duration {
		return time.Duration(rng.Int64N(int64(most[rng.IntN(len(most))])))
	}
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Step{
			At: within(Begin(lease)), Kind: kinds[rng.IntN(len(kinds))], Who: rng.IntN(processes),
			For: within(2*time.Second, lease, Healing(lease)),
			By:  within(2*time.Second, 20*time.Second, time.Hour) * time.Duration(1-2*rng.IntN(2)),
		}
	}
	return steps
}

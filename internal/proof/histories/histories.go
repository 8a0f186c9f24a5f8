// Package histories says which random histories a test plays. A seed fixes a history. By default each test plays as
// many histories as it needs to notice a broken rule. Flags of the test ask for others:
//
//	go test ./informer -run Oracle -seeds 100000              more of them
//	go test ./informer -run Oracle -first 40001 -seeds 1000   others
//	go test ./informer -run Oracle -first 17 -seeds 1 -v      one again
//
// Only packages whose tests import this one have the flags. Only tests import it.
package histories

import (
	"flag"
	"iter"
	"testing"
)

var (
	number = flag.Int("seeds", 0, "how many random histories each test plays; 0 means its usual number, a quarter of it with -short")
	first  = flag.Uint64("first", 1, "the seed of the first random history")
)

// Count returns how many histories a test plays: usual, unless the flags ask for another number. It is at least one.
func Count(usual int) int {
	switch {
	case *number > 0:
		return *number
	case testing.Short():
		return (usual + 3) / 4
	}
	return usual
}

// Seeds yields the seeds of the histories that a test plays. There are [Count] of them.
func Seeds(usual int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := *first; seed < *first+uint64(Count(usual)) && yield(seed); seed++ {
		}
	}
}

// One reports whether the flags ask for a single history, which a test then describes if it is verbose.
func One() bool { return *number == 1 }

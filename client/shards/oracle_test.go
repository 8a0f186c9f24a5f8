package shards_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/faults"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// usualSeeds is how many seeds the oracle tries if no flag asks for others.
const usualSeeds = 4

// enoughFailures is how many seeds may fail before the oracle stops.
const enoughFailures = 3

// The oracle: random histories of replicas that share ranges, on machines that stop, sleep and have wrong clocks, before a server that
// breaks requests and goes away, with people who delete and edit leases, and with replicas of another Options.By. Nothing is sent for a
// range by a replica after another one has begun to work on it; no range has no owner for longer than a lease, a drain and the time to
// prepare; and once the faults have ended each range has an owner.
//
//	go test ./client/shards -run Oracle -seeds 10000               more of them
//	go test ./client/shards -run Oracle -first 40001 -seeds 1000   others
//	go test ./client/shards -run Oracle -first 17 -seeds 1 -v      one again, with its history
//
// A seed fixes the faults and when they begin. It does not fix the order of what happens at one moment, nor jitter. A history
// that fails is tried again without some of its steps, and the rest is printed.
func TestOracle(t *testing.T) {
	failed, total, seeds := 0, ledger{}, histories.Count(usualSeeds)
	for seed := range histories.Seeds(usualSeeds) {
		h := newHistory(seed)
		if testing.Verbose() && histories.One() {
			t.Log(h)
		}
		wrong, l := h.play(t)
		total.accepted += l.accepted
		total.passed += l.passed
		total.longest = max(total.longest, l.longest)
		if len(wrong) == 0 {
			continue
		}
		small, why := h, wrong
		small.steps, why = histories.Shorten(h.steps, wrong, mostTries, func(steps []faults.Step) []string {
			rest := h
			rest.steps = steps
			wrong, _ := rest.play(t)
			return wrong
		})
		t.Errorf("%s\n\nThe shortest history that was found to fail:\n%v\nIt fails with:\n%s\n\nAgain with: go test ./client/shards -run Oracle -first %d -seeds 1",
			strings.Join(wrong, "\n"), small, strings.Join(why, "\n"), seed)
		if failed++; failed == enoughFailures {
			break
		}
	}
	t.Logf("%d writes, %d times a range passed to another replica; it had no owner for at most %v where only replicas failed", total.accepted, total.passed, total.longest)
	if total.passed < 5*seeds && seeds > 3 {
		t.Error("the histories do not test what they should")
	}
}

// mostTries bounds how often a failing history is played again.
const mostTries = 60

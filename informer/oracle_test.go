package informer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/histories"
)

// enoughFailures is how many seeds may fail before the oracle stops.
const enoughFailures = 3

// The differential oracle: random histories through random faults. At rest every cache, and every handler that folds what
// it was told, is what the server has.
//
//	go test ./informer -run Oracle -seeds 100000              more of them
//	go test ./informer -run Oracle -first 40001 -seeds 1000   others
//	go test ./informer -run Oracle -first 17 -seeds 1 -v      one again, with its history
//
// A seed fixes the history: who follows what, and the steps that happen one after the other (history_test.go). Jitter and
// scheduler are not in its hands. A history that fails is tried again without some of its steps, until no step can be left
// out, and the rest is printed.
func TestOracle(t *testing.T) {
	failed := 0
	for seed := range histories.Seeds(100) {
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			h := newHistory(seed)
			if testing.Verbose() && histories.One() {
				t.Log(h)
			}
			faults := h.play(t)
			if len(faults) == 0 {
				return
			}
			small, why := h, faults
			small.steps, why = histories.Shorten(h.steps, faults, mostTries, func(steps []step) []string {
				return history{config: h.config, steps: steps}.play(t)
			})
			t.Errorf("%s\n\nThe shortest history that was found to fail:\n%v\nIt fails with:\n%s\n\nAgain with: go test ./informer -run Oracle -first %d -seeds 1",
				strings.Join(faults, "\n"), small, strings.Join(why, "\n"), seed)
		})
		if !ok {
			if failed++; failed == enoughFailures {
				return
			}
		}
	}
}

// mostTries bounds how often a failing history is played again.
const mostTries = 200

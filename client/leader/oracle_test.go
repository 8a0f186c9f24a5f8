package leader_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/faults"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

// ConfigMap is written by those who lead.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// ConfigMaps describes the resource.
var ConfigMaps = client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// usualSeeds is how many seeds the oracle tries if no flag asks for others.
const usualSeeds = 30

// enoughFailures is how many seeds may fail before the oracle stops.
const enoughFailures = 3

// The oracle: random histories of processes that contend for a lease, on machines that stop, sleep and have wrong clocks, before a
// server that breaks requests and goes away. No write of a former leader is sent when another process can have the lease, no two
// processes believe that they lead, and once the faults have ended somebody leads.
//
//	go test ./client/leader -run Oracle -seeds 10000               more of them
//	go test ./client/leader -run Oracle -first 40001 -seeds 1000   others
//	go test ./client/leader -run Oracle -first 17 -seeds 1 -v      one again, with its history
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
		total.inFlight += l.inFlight
		total.terms += l.terms
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
		t.Errorf("%s\n\nThe shortest history that was found to fail:\n%v\nIt fails with:\n%s\n\nAgain with: go test ./client/leader -run Oracle -first %d -seeds 1",
			strings.Join(wrong, "\n"), small, strings.Join(why, "\n"), seed)
		if failed++; failed == enoughFailures {
			break
		}
	}
	t.Logf("%d terms, %d writes of leaders, of which %d were under way when the lease ran out", total.terms, total.accepted, total.inFlight)
	if total.terms < 2*seeds && seeds > 20 || total.inFlight == 0 && seeds > 1000 {
		t.Error("the histories do not test what they should")
	}
}

// mostTries bounds how often a failing history is played again.
const mostTries = 60

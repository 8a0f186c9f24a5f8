package shards

import (
	"github.com/bowline-go/bowline/internal/election"
	"github.com/bowline-go/bowline/internal/proof/machine"
)

// RunsOn gives g the clocks of m, before Run.
func RunsOn(m *machine.Machine, g *Group) { g.clock = election.Clock{Mono: m.Mono, Wall: m.Wall} }

// Turn returns the number of the turn in which g has range n; 0 if it does not.
func Turn(g *Group, n int) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds[n] == nil {
		return 0
	}
	return g.holds[n].number
}

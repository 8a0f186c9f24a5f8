package shards

import "github.com/bowline-go/bowline/internal/machine"

// RunsOn gives g the clocks of m, before Run.
func RunsOn(m *machine.Machine, g *Group) { g.clock = clock{mono: m.Mono, wall: m.Wall} }

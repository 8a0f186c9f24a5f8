package leader_test

import (
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/internal/proof/machine"
)

// runsOn gives an Elector the clocks of m, before Run.
func runsOn(m *machine.Machine, e *leader.Elector) { leader.SetClock(e, m.Mono, m.Wall) }

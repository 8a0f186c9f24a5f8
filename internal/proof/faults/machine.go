package faults

import (
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/proof/machine"
)

// Machine is the computer of one process, with faults.
type Machine struct {
	*machine.Machine
	began func()

	mu      sync.Mutex // guards the fields below
	stepped time.Time  // when the wall clock was last set back
	crashed bool
}

// NewMachine returns a machine. began, unless it is nil, is called when a fault of the machine begins.
func NewMachine(began func()) *Machine {
	if began == nil {
		began = func() {}
	}
	return &Machine{Machine: machine.New(), began: began}
}

// MachineKinds are the kinds of faults that [Machine.Do] knows.
func MachineKinds() []string { return []string{"stop", "stop", "sleep", "sleep", "step", "step"} }

// Do makes a step, and returns when its fault has ended. It ignores other kinds.
func (m *Machine) Do(step Step) {
	switch step.Kind {
	case "stop":
		m.began()
		m.freeze(step.For, false)
	case "sleep":
		// A wall clock that is set back right before a sleep hides it; see the DESIGN.md of package leader.
		m.mu.Lock()
		wait := 1100*time.Millisecond - time.Since(m.stepped)
		m.mu.Unlock()
		time.Sleep(wait)
		m.began()
		m.freeze(step.For, true)
	case "step":
		m.began()
		if step.By < 0 && m.IsFrozen() {
			return
		}
		if step.By < 0 {
			m.mu.Lock()
			m.stepped = time.Now()
			m.mu.Unlock()
		}
		m.Step(step.By)
	}
}

func (m *Machine) freeze(d time.Duration, slept bool) {
	m.Freeze()
	time.Sleep(d)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.crashed {
		m.Thaw(slept)
	}
}

// Crash stops the process until Bury. It returns false if it had crashed before.
func (m *Machine) Crash() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crashed {
		return false
	}
	m.crashed = true
	m.Freeze()
	return true
}

// Bury lets the process go on at the end of a history, so that its goroutines can end.
func (m *Machine) Bury() { m.Thaw(false) }

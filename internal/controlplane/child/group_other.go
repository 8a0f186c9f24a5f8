//go:build !linux

package child

import (
	"os"
	"os/exec"
)

// On these systems a child stays in the group of the test, and is killed alone. The children of a killed build end by
// themselves, each when it has compiled its current package.

// Separate does nothing here.
func Separate(*exec.Cmd) {}

func bindToThread(*exec.Cmd) {}

func killGroup(p *os.Process) error { return p.Kill() }

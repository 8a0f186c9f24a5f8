//go:build !unix && !windows

package kubeconfig

import (
	"os"
	"os/exec"
)

// ownSession does nothing: this system has no process groups.
func ownSession(*exec.Cmd) {}

// endGroup ends p alone.
func endGroup(p *os.Process) error { return p.Kill() }

// isTerminal reports whether f may be a terminal.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

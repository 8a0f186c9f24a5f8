//go:build !unix && !windows

package kubeconfig

import (
	"os"
	"os/exec"
)

// ownSession does nothing: there are no process groups here.
func ownSession(*exec.Cmd) {}

// endGroup ends p alone.
func endGroup(p *os.Process) error { return p.Kill() }

// isTerminal tells whether f may be one.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

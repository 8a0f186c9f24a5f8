package kubeconfig

import (
	"os"
	"os/exec"
	"syscall"
)

// ownSession does nothing: on Windows the children of a process do not end with it.
func ownSession(*exec.Cmd) {}

// endGroup ends p alone.
func endGroup(p *os.Process) error { return p.Kill() }

// isTerminal reports whether f is a console.
func isTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

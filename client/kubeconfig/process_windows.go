package kubeconfig

import (
	"os"
	"os/exec"
	"syscall"
)

// ownSession does nothing: what a process starts does not end with it here.
func ownSession(*exec.Cmd) {}

// endGroup ends p alone.
func endGroup(p *os.Process) error { return p.Kill() }

// isTerminal tells whether f is a console.
func isTerminal(f *os.File) bool {
	var mode uint32
	return syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}

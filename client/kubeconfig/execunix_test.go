//go:build unix

package kubeconfig

import (
	"os/exec"
	"syscall"
)

// leaveGroup makes a process, before it is started, one that no group of ours has.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

//go:build unix

package kubeconfig

import (
	"errors"
	"os/exec"
	"syscall"
)

// leadsSession tells whether this process does: then it cannot have another group.
func leadsSession() bool { return errors.Is(syscall.Setpgid(0, 0), syscall.EPERM) }

// leaveGroup makes a process, before it is started, one that no group of ours has.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

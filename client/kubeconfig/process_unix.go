//go:build unix

package kubeconfig

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownSession makes cmd the leader of a session, and so of a process group, before it is started. The session has no
// terminal. With a group alone, a process that opens /dev/tty to ask a question would be stopped, and hang until its
// timeout.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endGroup kills the remaining processes of the group that p leads. The group keeps its number while any of its
// processes lives, even if p has ended.
func endGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// isTerminal reports whether f is a terminal: a character device that is not the null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	// The device numbers are compared, because a container may have its own null device, and its input may come from
	// another container.
	of, ok1 := info.Sys().(*syscall.Stat_t)
	no, ok2 := null.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && of.Rdev != no.Rdev
}

package child

import (
	"os"
	"os/exec"
	"syscall"
)

// Separate puts a child into a separate process group, so that an interrupt from the terminal reaches the test alone,
// which then ends its children in order.
func Separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// bindToThread separates a child and makes the kernel kill it when the thread that started it ends.
func bindToThread(cmd *exec.Cmd) {
	Separate(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// killGroup kills a separated child and its own children, such as the compilers of a build.
func killGroup(p *os.Process) error {
	return syscall.Kill(-p.Pid, syscall.SIGKILL)
}

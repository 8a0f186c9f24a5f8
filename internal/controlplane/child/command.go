package child

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// tailLines is how much of what a process wrote goes into an error.
const tailLines = 40

// Run runs a command to its end. The command ends with ctx, and on Linux with this process too.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second // a grandchild outside the group may hold the pipes open
	bindToThread(cmd)

	// The child is bound to the life of the thread that starts it, so that thread must not end before it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Output runs a command as Run does, and returns what it wrote to standard output. The error holds the end of what it
// wrote to standard error.
func Output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := Run(ctx, cmd)
	if said := Tail(stderr.String()); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return stdout.String(), err
}

// Tail returns the last lines of a text, without white space around them.
func Tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if cut := len(lines) - tailLines; cut > 0 {
		lines = lines[cut:]
	}
	return strings.Join(lines, "\n")
}

package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/controlplane/child"
)

// Kubectl runs kubectl with the admin's context, waits for its end, and returns what it wrote to standard output. It
// sees neither the caller's kubeconfig nor the caller's home directory. Its standard input is empty.
//
// The arguments may point it elsewhere: "--context=outsider" to be the other user, or "--kubeconfig=..." to speak to
// another server altogether.
//
// The error names the command and holds what kubectl wrote to standard error; errors.As finds the *exec.ExitError in
// it. When ctx ends, kubectl is killed and the error is the context's.
func (p *ControlPlane) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.KubectlPath(), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.Kubeconfig, "HOME="+p.dir, "USERPROFILE="+p.dir)
	out, err := child.Output(ctx, cmd)
	if err != nil {
		return out, fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// KubectlPath returns the path of kubectl's executable, for a test that needs more of a command than Kubectl returns.
// It needs Options.Kubectl, as Kubectl does.
func (p *ControlPlane) KubectlPath() string { return build.Path(p.bin, "kubectl") }

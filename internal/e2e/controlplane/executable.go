package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// executable returns the path of a tool of this module, and builds it first where the build cache does not have it.
//
// `go tool -n` builds a tool, keeps the linked executable in the build cache and prints its path. `go build -o` would
// link again for every run, which for kube-apiserver takes longer than all the rest.
//
// The build works in dir, the directory of the run: a go command that is killed cannot tidy up.
func executable(ctx context.Context, name, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", "github.com/bowline-go/bowline/internal/e2e/cmd/"+name)
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir)
	out, err := run(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return strings.TrimSpace(out), nil
}

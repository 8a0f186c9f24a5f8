package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Executable returns the path of a tool of this module, such as "kube-apiserver", and builds it first where the build
// cache does not have it. So it is built once for all programs and tests of this module.
//
// `go tool -n` builds a tool, keeps the linked executable in the build cache and prints its path. `go build -o` would
// link again for every run, which for kube-apiserver takes longer than all the rest.
//
// The usual release is that of go.mod. Each other release has its own file of modules beside go.mod.
//
// The build works in dir, the directory of the run: a go command that is killed cannot tidy up.
func Executable(ctx context.Context, name, release, dir string) (string, error) {
	args := []string{"tool"}
	if release != Releases()[0] {
		modules, err := run(ctx, exec.CommandContext(ctx, "go", "env", "GOMOD"))
		if err != nil {
			return "", fmt.Errorf("build %s: %w", name, err)
		}
		args = append(args, "-modfile="+filepath.Join(filepath.Dir(strings.TrimSpace(modules)), "go-"+release+".mod"))
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "-n", "github.com/bowline-go/bowline/internal/proof/e2e/cmd/"+name)...)
	cmd.Env = append(os.Environ(), "GOTMPDIR="+dir)
	out, err := run(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return strings.TrimSpace(out), nil
}

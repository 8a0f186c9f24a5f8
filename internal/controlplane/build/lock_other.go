//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package build

import (
	"fmt"
	"os"
	"runtime"
)

func tryLock(string) (*os.File, error) {
	return nil, fmt.Errorf("Kubernetes does not run on %s", runtime.GOOS)
}

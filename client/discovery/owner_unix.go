//go:build unix

package discovery

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a folder is the user's own.
func own(dir fs.FileInfo) bool {
	s, ok := dir.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

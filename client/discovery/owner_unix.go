//go:build unix

package discovery

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether the user owns a folder or file.
func own(dir fs.FileInfo) bool {
	s, ok := dir.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

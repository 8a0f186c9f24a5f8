//go:build unix

package regular

import (
	"io/fs"
	"os"
	"syscall"
)

// unblocked makes opening a pipe not wait for its other end, and opening a terminal not make it the controlling
// terminal of this process.
const unblocked = syscall.O_NONBLOCK | syscall.O_NOCTTY

// Owned reports whether the user owns a file, a folder or a link. It is always true on systems that do not show the
// owner.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

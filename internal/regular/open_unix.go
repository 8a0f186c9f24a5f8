//go:build unix

package regular

import (
	"io/fs"
	"os"
	"syscall"
)

// unblocked makes the opening of a pipe not wait for its other end, and no terminal that of this process.
const unblocked = syscall.O_NONBLOCK | syscall.O_NOCTTY

// Owned reports whether a file, a folder or a link is the user's own. On systems that do not say it, it is.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

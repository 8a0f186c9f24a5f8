//go:build unix

package kubeconfig

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/bowline-go/bowline/internal/regular"
)

// trusted reports whether a symbolic link is root's or the user's own. Another user's link may point to anything, at
// any time.
func trusted(link fs.FileInfo) bool {
	s, ok := link.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 || regular.Owned(link)
}

// keepOwner gives f the user and the group of the file that info describes.
func keepOwner(f *os.File, info fs.FileInfo) error {
	have, err := f.Stat()
	if err != nil {
		return err
	}
	from, ok := info.Sys().(*syscall.Stat_t)
	to, ok2 := have.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || from.Uid == to.Uid && from.Gid == to.Gid {
		return nil
	}
	return f.Chown(int(from.Uid), int(from.Gid))
}

// syncDir makes a rename in a folder durable. Errors are ignored, because the rename cannot be undone.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

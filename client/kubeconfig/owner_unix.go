//go:build unix

package kubeconfig

import (
	"io/fs"
	"os"
	"syscall"
)

// trusted tells whether a symbolic link is root's or the user's own. Another's may point to anything, at any time.
func trusted(link fs.FileInfo) bool {
	s, ok := link.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// keepOwner makes f belong to the user and the group to whom the file of this info belongs.
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

// syncDir makes what was renamed in a folder last. What the disk says to that is nothing that could be undone.
func syncDir(dir string) {
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

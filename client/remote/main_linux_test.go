package remote_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// The tests of copies make thousands of small files. In memory that takes a tenth of the time that a busy disk takes. If TMPDIR is set,
// the files are there instead.
func TestMain(m *testing.M) { os.Exit(inMemory(m)) }

func inMemory(m *testing.M) int {
	const memory, enough = "/dev/shm", 512 << 20
	var has syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &has) != nil || has.Bavail*uint64(has.Bsize) < enough {
		return m.Run()
	}
	folder, err := os.MkdirTemp(memory, "remote")
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it is empty
	if err := os.Setenv("TMPDIR", folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

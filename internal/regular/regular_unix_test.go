//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/internal/regular"
)

// To open a pipe that nobody writes to waited without end.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(path("file"), []byte("12345"), 0o600), os.Symlink(path("file"), path("link")),
		syscall.Mkfifo(path("pipe"), 0o600), os.Symlink(path("pipe"), path("link to a pipe")),
	); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", path("s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, test := range []struct {
		name, want string // of the error, with $ for the path
		cause      error
	}{
		{"file", "", nil},
		{"link", "", nil},
		{"none", "", fs.ErrNotExist},
		{"pipe", "is not a regular file but a pipe", regular.ErrNot},
		{"link to a pipe", "is not a regular file but a pipe", regular.ErrNot},
		{"s", "is not a regular file but a socket", regular.ErrNot},
		{".", "is a directory", regular.ErrDirectory},
	} {
		b, info, err := regular.Read(path(test.name), 3)
		if !errors.Is(err, test.cause) || test.cause == nil && (string(b) != "1234" || info.Size() != 5) {
			t.Errorf("%s: read %q, %v, %v", test.name, b, info, err)
		}
		if p := (*fs.PathError)(nil); test.want != "" && (!errors.As(err, &p) || p.Err.Error() != test.want || p.Path != path(test.name)) {
			t.Errorf("%s: error is %v, want %s", test.name, err, test.want)
		}
	}
	for name, want := range map[string]error{"file": nil, "none": fs.ErrNotExist, "pipe": regular.ErrNot, ".": regular.ErrDirectory} {
		if err := regular.Writable(path(name)); !errors.Is(err, want) {
			t.Errorf("%s is writable: %v, want %v", name, err, want)
		}
	}
	if b, _, err := regular.Read(path("file"), 9); string(b) != "12345" || err != nil {
		t.Errorf("a file that could be written is %q, %v", b, err)
	}
	if _, _, err := regular.Read("/dev/null", 3); !errors.Is(err, regular.ErrNot) {
		t.Errorf("/dev/null: error is %v", err)
	}
}

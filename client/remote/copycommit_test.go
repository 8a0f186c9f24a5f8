package remote_test

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/remote"
)

// Somebody else puts something into the way while the copy runs, so that nothing of it can be moved into its place.
func TestAPlaceThatIsTakenWhileTheCopyRuns(t *testing.T) {
	for _, tc := range []struct {
		name, sent string
		folders    []string // that are there before
		taken      string   // a folder, at the end
		file       bool     // and it is a file
	}{
		{"at the top", "a", nil, "a/x", false},
		{"in a folder", "sub/a", []string{"sub"}, "sub/a/x", false},
		{"in a folder of a folder", "sub/sub/a", []string{"sub/sub"}, "sub/sub/a/x", false},
		{"a folder by a file", "sub/a", nil, "sub", true},
		{"a file without Overwrite", "a", nil, "a", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dst := t.TempDir()
			r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
				if p.Args[0] == "tar" {
					_, _ = p.Stdout.Write(archive(made{name: ".", kind: tar.TypeDir}, made{name: "./" + tc.sent, body: "new"}))
					return 0
				}
				// The copy asks for sums when all has come.
				place := filepath.Join(dst, tc.taken)
				err := os.MkdirAll(filepath.Dir(place), 0o700)
				if err == nil && tc.file {
					err = os.WriteFile(place, []byte("old"), 0o600)
				} else if err == nil {
					err = os.Mkdir(place, 0o700)
				}
				if err != nil {
					t.Error(err)
				}
				sums := &containers.Files{Root: openRoot(t, t.TempDir())}
				if err := os.MkdirAll(filepath.Join(sums.Root.Name(), "x", filepath.Dir(tc.sent)), 0o700); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(filepath.Join(sums.Root.Name(), "x", tc.sent), []byte("new"), 0o600); err != nil {
					t.Error(err)
				}
				return sums.Run(t.Context(), p)
			}}, clienttest.Options{})
			for _, f := range tc.folders {
				if err := os.MkdirAll(filepath.Join(dst, f), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			_, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/", dst, remote.CopyOptions{Verify: true})
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("CopyFrom: %v", err)
			}
			if text, err := os.ReadFile(filepath.Join(dst, tc.sent)); string(text) == "new" {
				t.Errorf("the file is there: %v", err)
			}
		})
	}
}

func openRoot(t testing.TB, folder string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

//go:build linux || darwin

package discovery_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/discovery"
)

// guarantee S16: what another user may write is not believed: a folder that an owner alone can write was, whoever that is.
func TestAFolderOfAnotherUserIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := "/" // root's
		if os.Geteuid() == 0 {
			dir = filepath.Join(t.TempDir(), "cache")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, 1, 1); err != nil {
				t.Fatal(err)
			}
		}
		var told []string
		r := newRig(t, discovery.Options{Dir: dir, OnError: func(err error) { told = append(told, err.Error()) }}, widgets("v1"))
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.wantRequests(t, "/apis")
		if len(told) == 0 || !strings.HasSuffix(told[0], `must belong to this user`) {
			t.Errorf("told %q", told)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "*apis*")); err != nil || len(files) > 0 {
			t.Errorf("files are %v, %v", files, err)
		}
	})
}

// A pipe that nobody writes to, or a link to one, held the first call forever.
func TestAPipeInTheCacheFolderIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "cache")
		var told []error
		o := discovery.Options{Dir: dir, OnError: func(err error) { told = append(told, err) }}
		r := newRig(t, o, widgets("v1"))
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		file := kept(t, dir, "apis")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
		r.connect(t, o)
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.connect(t, o) // it was replaced
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.wantRequests(t, "/apis, /apis")
		if len(told) != 1 || !strings.HasSuffix(told[0].Error(), "must be a regular file") {
			t.Errorf("told %v", told)
		}
	})
}

//go:build unix

package kubeconfig

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// owned is a file of somebody else, as a test cannot make one.
type owned struct {
	fs.FileInfo
	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

// guarantee S6: in a folder that others can write to, anybody can make a link to a file of the user's.
func TestALinkOfAnotherUserIsNotFollowed(t *testing.T) {
	me := uint32(os.Geteuid())
	for _, test := range []struct {
		uid  uint32
		want bool
	}{{0, true}, {me, true}, {me + 1, false}, {me + 65534, false}} {
		if got := trusted(owned{uid: test.uid}); got != test.want {
			t.Errorf("a link of user %d is trusted: %t, want %t", test.uid, got, test.want)
		}
	}
}

// guarantee S6: so can a link to a folder of the user's, where a file of the same name may be.
func TestALinkOfAnotherUserToAFolderIsNotFollowed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, "ssh", "config"), "")
	link := filepath.Join(dir, "link")
	if err := os.Symlink("ssh", link); err != nil {
		t.Fatal(err)
	}
	if to, err := target(filepath.Join(link, "config")); err != nil || to != file {
		t.Errorf("the user's own leads to %s, %v", to, err)
	}
	if err := os.Lchown(link, os.Geteuid()+1, -1); err != nil {
		return // nobody but root can make a link of another user
	}
	err = Write(t.Context(), Options{Path: filepath.Join(link, "config")}, Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}})
	want := "kubeconfig " + filepath.Join(link, "config") + ": cannot be changed: " + link + " is a symbolic link of another user"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// A tool that root runs in a user's home must not take the file away from the user.
func TestAFileKeepsItsOwner(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := keepOwner(f, info); err != nil {
		t.Error(err)
	}
	other := uint32(os.Geteuid() + 1)
	err = keepOwner(f, owned{uid: other})
	after, statErr := f.Stat()
	if statErr != nil {
		t.Fatal(statErr)
	}
	// Who may give files away has done so, and who may not is told.
	if s, ok := after.Sys().(*syscall.Stat_t); !ok || (s.Uid == other) != (err == nil) {
		t.Errorf("owner is %v, error %v", s, err)
	}
}

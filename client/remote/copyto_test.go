package remote_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bowline-go/bowline/client/remote"
)

// behaviour 167: what must not be copied to a container is the same.
func TestCopyToRefusesWhatMustNotBeCopied(t *testing.T) {
	pipe := t.TempDir()
	put(t, pipe, "a/b")
	socket, err := net.Listen("unix", filepath.Join(pipe, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	out := t.TempDir()
	put(t, out, "a/b")
	if err := os.Symlink("../../outside", filepath.Join(out, "a/out")); err != nil {
		t.Fatal(err)
	}
	file := func(size int) *fstest.MapFile { return &fstest.MapFile{Data: make([]byte, size), Mode: 0o644} }
	for _, tc := range []struct {
		name, want string
		src        fs.FS
		leftOut    []string // with LeaveOut
	}{
		{"socket", "a device, a pipe or a socket", os.DirFS(pipe), []string{"socket"}},
		{"link out", "not in the folder", os.DirFS(out), []string{"a/out"}},
		{"device", "a device, a pipe or a socket", fstest.MapFS{"d": &fstest.MapFile{Mode: fs.ModeDevice}, "a": file(1)}, []string{"d"}},
		{"too many files", "CopyOptions.MaxFiles", fstest.MapFS{"1": file(0), "2": file(0), "3": file(0), "4": file(0), "5": file(0), "6": file(0)}, nil},
		{"too many bytes", "CopyOptions.MaxBytes", fstest.MapFS{"1": file(600), "2": file(600)}, nil},
		{"grows", "became longer", resized{fstest.MapFS{"f": file(10)}, -3}, nil},
		{"shrinks", "became shorter", resized{fstest.MapFS{"f": file(10)}, 3}, nil},
		{"cannot be read", "permission denied", failingFS{fstest.MapFS{"f": file(10)}}, nil},
		{"deep", "more than 255 parts", fstest.MapFS{strings.Repeat("x/", 300) + "f": file(0)}, nil},
	} {
		for _, b := range boxes()[:4] {
			t.Run(tc.name+" with "+b.name, func(t *testing.T) {
				r, there := b.start(t)
				o := remote.CopyOptions{MaxFiles: 5, MaxBytes: 1000}
				if tc.name == "deep" {
					o.MaxFiles = 0
				}
				res, err := remote.CopyTo(t.Context(), r.pods, web, tc.src, there+"/x", o)
				if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("copy to %q in pod default/web: ", there+"/x")) {
					t.Errorf("CopyTo: %+v, %v, want %q", res, err, tc.want)
				}
				for name := range shoot(t, there) {
					if strings.Contains(name, ".bowline-") {
						t.Errorf("%q is left", name)
					}
				}
				if tc.leftOut == nil {
					return
				}
				o.LeaveOut, o.Overwrite = true, true
				if res, err := remote.CopyTo(t.Context(), r.pods, web, tc.src, there+"/y", o); err != nil || !slices.Equal(res.LeftOut, tc.leftOut) || res.Files != 1 {
					t.Errorf("CopyTo: %+v, %v", res, err)
				}
			})
		}
	}
}

// resized is an FS whose files say another size than they have.
type resized struct {
	fstest.MapFS
	more int64
}

func (r resized) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := r.MapFS.ReadDir(name)
	for i, e := range list {
		list[i] = resizedEntry{e, r.more}
	}
	return list, err
}

type resizedEntry struct {
	fs.DirEntry
	more int64
}

func (e resizedEntry) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	return resizedInfo{info, e.more}, err
}

type resizedInfo struct {
	fs.FileInfo
	more int64
}

func (i resizedInfo) Size() int64 { return i.FileInfo.Size() + i.more }

// failingFS is an FS whose files cannot be opened.
type failingFS struct{ fstest.MapFS }

func (f failingFS) Open(name string) (fs.File, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.MapFS.Open(name)
}

func (f failingFS) Stat(name string) (fs.FileInfo, error) { return f.MapFS.Stat(name) }

func TestCopyToKeepsModesAndTimes(t *testing.T) {
	then := time.Date(1999, 12, 31, 23, 59, 58, 5e8, time.UTC)
	src := fstest.MapFS{
		"shut":        {Mode: fs.ModeDir | 0o500, ModTime: then},
		"shut/in":     {Mode: fs.ModeDir | 0o555, ModTime: then.Add(time.Hour)},
		"shut/in/f":   {Data: []byte("x"), Mode: fs.ModeSetuid | 0o751, ModTime: then},
		"shut/in/old": {Mode: 0o400, ModTime: time.Unix(1, 0)},
	}
	for _, b := range boxes() {
		t.Run(b.name, func(t *testing.T) {
			r, there := b.start(t)
			if _, err := remote.CopyTo(t.Context(), r.pods, web, src, there, remote.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			want := map[string]shot{
				"shut": {fs.ModeDir | 0o500, then.Unix(), ""}, "shut/in": {fs.ModeDir | 0o555, then.Unix() + 3600, ""}, "shut/in/f": {0o751, then.Unix(), "x"},
				"shut/in/old": {0o400, 1, ""},
			}
			got := shoot(t, there)
			for name, w := range want {
				if got[name] != w {
					t.Errorf("%s is %v of %d with %q, want %v of %d", name, got[name].mode, got[name].time, got[name].content, w.mode, w.time)
				}
			}
			dst := t.TempDir()
			if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/", dst, remote.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			compare(t, dst, there, true)
			for _, root := range []string{there, dst} { // so that the test can remove them
				for _, name := range []string{"shut", "shut/in"} {
					if err := os.Chmod(filepath.Join(root, name), 0o700); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

func TestCopiesOfManyFiles(t *testing.T) {
	src := t.TempDir()
	const files = 300
	for i := range files {
		if i%30 == 0 {
			if err := os.MkdirAll(fmt.Sprintf("%s/%d", src, i/30), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(fmt.Sprintf("%s/%d/%d", src, i/30, i), []byte(strings.Repeat("x", i%100)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, there := boxes()[0].start(t)
	up, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(src), there, remote.CopyOptions{})
	if err != nil || up.Files != files || up.Folders != 10 {
		t.Fatalf("CopyTo: %+v, %v", up, err)
	}
	dst := t.TempDir()
	down, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/", dst, remote.CopyOptions{})
	if err != nil || down.Files != files || down.Folders != 10 || down.Bytes != up.Bytes {
		t.Fatalf("CopyFrom: %+v, %v", down, err)
	}
	compare(t, dst, src, true)
	if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/", t.TempDir(), remote.CopyOptions{MaxFiles: files + 9}); err == nil {
		t.Error("MaxFiles is not kept")
	}
}

var errNothing = errors.New("nothing")

// An FS may fail at any time.
func TestCopyToOfAnFSThatFails(t *testing.T) {
	r, there := boxes()[2].start(t)
	for _, overwrite := range []bool{false, true} {
		if _, err := remote.CopyTo(t.Context(), r.pods, web, noFS{}, there, remote.CopyOptions{Overwrite: overwrite}); !errors.Is(err, errNothing) {
			t.Errorf("CopyTo: %v", err)
		}
	}
}

type noFS struct{}

func (noFS) Open(string) (fs.File, error) { return nil, errNothing }

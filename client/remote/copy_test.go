package remote_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/remote"
)

// shot is what a file, folder or link is.
type shot struct {
	mode    fs.FileMode
	time    int64
	content string
}

// shoot returns what a folder has, by name.
func shoot(t testing.TB, folder string) map[string]shot {
	t.Helper()
	all := make(map[string]shot)
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s := shot{mode: info.Mode(), time: info.ModTime().Unix()}
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			s.content = string(data)
		case fs.ModeSymlink:
			s.time = 0
			if s.content, err = os.Readlink(name); err != nil {
				return err
			}
		}
		all[name[len(folder)+1:]] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compare compares two folders. If exact is false, modes and times need not be the same.
func compare(t testing.TB, got, want string, exact bool) {
	t.Helper()
	g, w := shoot(t, got), shoot(t, want)
	for _, name := range slices.Sorted(maps.Keys(w)) {
		s, ok := g[name]
		switch {
		case !ok:
			t.Errorf("%q is missing", name)
		case s.mode.Type() != w[name].mode.Type() || s.content != w[name].content:
			t.Errorf("%q is %v with %.40q, want %v with %.40q", name, s.mode, s.content, w[name].mode, w[name].content)
		case exact && s != w[name]:
			t.Errorf("%q is %v of %v, want %v of %v", name, s.mode, time.Unix(s.time, 0), w[name].mode, time.Unix(w[name].time, 0))
		}
		delete(g, name)
	}
	for name := range g {
		t.Errorf("%q is too much", name)
	}
}

// age gives all in a folder times that are not now.
func age(t testing.TB, folder string) {
	t.Helper()
	var names []string
	for name, s := range shoot(t, folder) {
		if s.mode.Type() != fs.ModeSymlink {
			names = append(names, name)
		}
	}
	for i, name := range slices.Sorted(slices.Values(names)) {
		then := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC).Add(time.Duration(i) * 1001 * time.Hour / 10)
		if err := os.Chtimes(filepath.Join(folder, name), then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopyFromAndTo(t *testing.T) {
	for _, b := range append(boxes(), box{name: "no tar, stat and head", without: []string{"tar", "stat", "head"}}) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r, there := b.start(t)
			here := t.TempDir()
			names := oddNames()
			if len(b.without) > 1 { // the names are handled as without tar alone
				names = names[:10]
			}
			fill(t, here, names)
			age(t, here)
			files, folders, links := 0, 0, 0
			for _, s := range shoot(t, here) {
				switch s.mode.Type() {
				case fs.ModeDir:
					folders++
				case fs.ModeSymlink:
					links++
				default:
					files++
				}
			}
			up, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), there+"/-new/folder", remote.CopyOptions{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			// The tar of busybox makes links last, which changes the time of their folder.
			compare(t, there+"/-new/folder", here, b.name != "busybox")
			if up.Files != files || up.Folders != folders || up.Links != links || up.Bytes < 1<<20 {
				t.Errorf("CopyTo: %+v", up)
			}
			if err := os.WriteFile(there+"/-new/folder/not \xff UTF-8", []byte("\xff"), 0o600); err != nil {
				t.Fatal(err)
			}
			back := filepath.Join(t.TempDir(), "back")
			down, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/-new/folder/", back, remote.CopyOptions{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			exact := !slices.Contains(b.without, "stat")
			compare(t, back, there+"/-new/folder", exact)
			if down.Files != files+1 || down.Folders != folders || down.Links != links || down.Bytes != up.Bytes+1 || down.Program != up.Program {
				t.Errorf("CopyFrom: %+v after %+v", down, up)
			}
			if want := map[bool]string{true: "sh", false: "tar"}[b.without != nil]; down.Program != want {
				t.Errorf("the program is %q, want %q", down.Program, want)
			}
		})
	}
}

func TestReadFileAndWriteFile(t *testing.T) {
	for _, b := range boxes() {
		if b.without != nil {
			continue // tar is not used
		}
		t.Run(b.name, func(t *testing.T) {
			r, there := b.start(t)
			names := []string{"plain", "-rf", "*", "new\nline\n", `\0012`, "$(id)", "'", "\xff", "é"}
			for i, name := range names {
				size := 1000
				if i == 0 {
					size = 300_000 // more than the buffers on the way hold
				}
				data := bytes.Repeat([]byte("0123456789"), size)
				name := there + "/" + name
				o := remote.CopyOptions{Verify: true, Perm: 0o640}
				if res, err := remote.WriteFile(t.Context(), r.pods, web, name, bytes.NewReader(data), o); err != nil || res.Bytes != int64(len(data)) || res.Files != 1 {
					t.Fatalf("WriteFile %q: %+v, %v", name, res, err)
				}
				var got bytes.Buffer
				if res, err := remote.ReadFile(t.Context(), r.pods, web, name, &got, remote.CopyOptions{Verify: true}); err != nil || !bytes.Equal(got.Bytes(), data) || res.Bytes != int64(len(data)) {
					t.Fatalf("ReadFile %q: %+v, %d bytes, %v", name, res, got.Len(), err)
				}
				if info, err := os.Lstat(name); err != nil || info.Mode() != 0o640 {
					t.Errorf("%q: %v, %v", name, info.Mode(), err)
				}
			}
			if left := len(shoot(t, there)); left != len(names) {
				t.Errorf("there are %d files, want %d", left, len(names))
			}
		})
	}
}

package remote

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzCopyFrom gives the output of a container's tar, or of the script that takes its place, as it may send anything.
// Nothing outside of the folder changes, and no link of the folder leads out of it. Guarantee S15.
func FuzzCopyFrom(f *testing.F) {
	for _, list := range [][]tar.Header{
		{{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "./a/b", Typeflag: tar.TypeReg, Size: 3}, {Name: "./l", Typeflag: tar.TypeSymlink, Linkname: "a"}},
		{{Name: "../outside/secret", Typeflag: tar.TypeReg, Size: 3}},
		{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "../outside"}, {Name: "l/secret", Typeflag: tar.TypeReg, Size: 3}},
		{{Name: "a/b/up", Typeflag: tar.TypeSymlink, Linkname: "../.."}, {Name: "out", Typeflag: tar.TypeSymlink, Linkname: "a/b/up/.."}},
		{{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "out"}, {Name: "m", Typeflag: tar.TypeSymlink, Linkname: "l/secret"}},
		{{Name: "a/", Typeflag: tar.TypeDir, Mode: 0o755}, {Name: "a/l", Typeflag: tar.TypeSymlink, Linkname: "../out/secret"}},
		{{Name: "kept", Typeflag: tar.TypeReg, Size: 3}, {Name: "h", Typeflag: tar.TypeLink, Linkname: "kept"}, {Name: strings.Repeat("long/", 40), Typeflag: tar.TypeDir}},
		{{Name: "out", Typeflag: tar.TypeDir}, {Name: "out/secret", Typeflag: tar.TypeReg, Size: 3}, {Name: "d", Typeflag: tar.TypeChar}},
		{{Name: "\xff", Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: map[string]string{"BOWLINE.x": "y"}, Size: 3}},
	} {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		for _, h := range list {
			if err := w.WriteHeader(&h); err != nil {
				f.Fatal(err)
			}
			if _, err := w.Write([]byte("new")[:h.Size]); err != nil {
				f.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes(), true, "", true)
		f.Add(out.Bytes()[:out.Len()-700], false, "a", true)
	}
	f.Add([]byte("n d 755 1 0\x00./a\x00n f 644 1 3\x00./a/b\x00newn l 0 - 0\x00./l\x00a\x00n e 0 - 0\x00"), true, "", false)
	f.Add([]byte("n l 0 - 0\x00l\x00../outside\x00n f 644 1 3\x00l/secret\x00newn o 0 - 0\x00d\x00n e 0 - 0\x00"), true, "", false)
	f.Fuzz(func(t *testing.T, sent []byte, overwrite bool, base string, tarred bool) {
		parent := t.TempDir()
		dst := filepath.Join(parent, "dst")
		for _, err := range []error{
			os.MkdirAll(filepath.Join(parent, "outside"), 0o755), os.Mkdir(dst, 0o755), os.WriteFile(filepath.Join(parent, "outside/secret"), []byte("old"), 0o600),
			os.WriteFile(filepath.Join(dst, "kept"), []byte("old"), 0o600), os.Symlink("../outside", filepath.Join(dst, "out")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		c := &copying{CopyOptions: CopyOptions{Overwrite: overwrite, LeaveOut: len(sent)%2 == 0, MaxBytes: 1 << 16, MaxFiles: 100}, buffer: make([]byte, 512)}
		tree, err := newTree(c, dst)
		if err != nil {
			t.Fatal(err)
		}
		if tree.base = base; base != "" {
			tree.below = "named"
		}
		read := func(r *bytes.Reader, add func(entry) error) error { return readTar(r, add) }
		if !tarred {
			read = func(r *bytes.Reader, add func(entry) error) error { return readPacked(r, "n", add) }
		}
		if err = read(bytes.NewReader(sent), tree.add); err == nil {
			err = tree.commit(t.Context())
		}
		if closed := tree.close(); closed != nil {
			t.Errorf("the stage is left: %v", closed)
		}
		if list, _ := os.ReadDir(dst); base != "" && len(list) > 3 { // kept, out and named
			t.Errorf("%v are in the folder", list)
		}
		if list, _ := os.ReadDir(parent); len(list) != 2 {
			t.Errorf("%v are beside the folder", list)
		}
		list, _ := os.ReadDir(filepath.Join(parent, "outside"))
		if text, bad := os.ReadFile(filepath.Join(parent, "outside/secret")); bad != nil || string(text) != "old" || len(list) != 1 {
			t.Errorf("outside has %q and %v, %v", text, list, bad)
		}
		if text, _ := os.ReadFile(filepath.Join(dst, "kept")); string(text) != "old" && !(overwrite && err == nil) {
			t.Errorf("a file has been replaced: %v", err)
		}
		_ = filepath.WalkDir(dst, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.Type() != fs.ModeSymlink || name == filepath.Join(dst, "out") {
				return nil
			}
			if to, err := filepath.EvalSymlinks(name); err == nil && !strings.HasPrefix(to+"/", dst+"/") {
				t.Errorf("%q leads to %q", name, to)
			}
			return nil
		})
	})
}

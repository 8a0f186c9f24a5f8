package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// files returns where the embedded files of a minor release stand in its module.
func files(minor string) map[string]string {
	files := map[string]string{
		"module/" + minor + ".mod.txt": "go.mod",
		"module/" + minor + ".sum.txt": "go.sum",
		"lifeline/lifeline.go":         "lifeline/lifeline.go",
	}
	for _, name := range names() {
		files["module/"+name+".go.txt"] = name + "/main.go"
	}
	return files
}

// hash identifies what the executables of a minor release depend on.
func (b *builder) hash() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	paths := files(b.minor)
	err := fs.WalkDir(b.files, ".", func(path string, _ fs.DirEntry, err error) error { // in lexical order
		if err != nil || paths[path] == "" {
			return err
		}
		text, err := fs.ReadFile(b.files, path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

// writeModule writes the module of a minor release into a directory.
func (b *builder) writeModule(dir string) error {
	for from, to := range files(b.minor) {
		text, err := fs.ReadFile(b.files, from)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// WriteModule writes the module of a minor release of Minors into a directory, so that a program can check it.
func WriteModule(minor, dir string) error {
	return (&builder{files: embedded, minor: minor}).writeModule(dir)
}

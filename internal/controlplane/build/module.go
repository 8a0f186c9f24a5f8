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

// sources returns where the embedded files of the programs stand in their module.
func sources() map[string]string {
	files := map[string]string{"lifeline/lifeline.go": "lifeline/lifeline.go"}
	for _, name := range names() {
		files["module/"+name+".go.txt"] = name + "/main.go"
	}
	return files
}

// files returns sources, and where the embedded go.mod and go.sum of a minor release stand in the module.
func files(minor string) map[string]string {
	files := sources()
	files["module/"+minor+".mod.txt"], files["module/"+minor+".sum.txt"] = "go.mod", "go.sum"
	return files
}

// hash identifies the inputs of the executables of a minor release: files, version of Go, operating system,
// architecture.
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
	return writeFiles(b.files, files(b.minor), dir)
}

func writeFiles(embedded fs.FS, files map[string]string, dir string) error {
	for from, to := range files {
		text, err := fs.ReadFile(embedded, from)
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

// WritePrograms writes the programs into a directory that has no go.mod yet. Command update makes that.
func WritePrograms(dir string) error { return writeFiles(embedded, sources(), dir) }

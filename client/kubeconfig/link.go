package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// target resolves all symbolic links in an absolute path. If a part does not exist, it returns the rest of the path
// unresolved, with the error.
func target(path string) (string, error) {
	const separator = string(filepath.Separator)
	root := func(path string) string { return filepath.VolumeName(path) + separator }
	at, ahead := root(path), strings.Split(path[len(filepath.VolumeName(path)):], separator)
	var info fs.FileInfo
	for links := 0; len(ahead) > 0; {
		name := ahead[0]
		ahead = ahead[1:]
		next := filepath.Join(at, name) // for "..", next is the parent of a resolved path
		var err error
		if info, err = os.Lstat(next); err != nil {
			return filepath.Join(append([]string{next}, ahead...)...), err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", errors.New("its path leads through more than 40 symbolic links")
		}
		if !trusted(info) {
			return "", fmt.Errorf("%s is a symbolic link of another user", printable(next))
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at, to = root(to), to[len(filepath.VolumeName(to)):]
		}
		ahead = append(strings.Split(filepath.FromSlash(to), separator), ahead...)
	}
	if info != nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "", errors.New("it is not a regular file") // opening a pipe may block
	}
	return at, nil
}

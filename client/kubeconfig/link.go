package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// target returns the file that a path means, which is absolute, without symbolic links. What does not exist of it is returned
// as it is named, with the error.
func target(path string) (string, error) {
	const separator = string(filepath.Separator)
	root := func(path string) string { return filepath.VolumeName(path) + separator }
	at, ahead := root(path), strings.Split(path[len(filepath.VolumeName(path)):], separator)
	var info fs.FileInfo
	for links := 0; len(ahead) > 0; {
		name := ahead[0]
		ahead = ahead[1:]
		next := filepath.Join(at, name) // for .., the parent of what is no link
		var err error
		if info, err = os.Lstat(next); err != nil {
			return filepath.Join(append([]string{next}, ahead...)...), err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", errors.New("too many symbolic links")
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
		return "", errors.New("it is no regular file") // to open a pipe may wait
	}
	return at, nil
}

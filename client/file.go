package client

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxFile bounds a file that a Config names, in bytes. A kubeconfig of somebody else may name one without an end.
const maxFile = 16 << 20

// readFile is os.ReadFile for a file of at most maxFile.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d MiB", maxFile>>20)}
	}
	return b, err
}

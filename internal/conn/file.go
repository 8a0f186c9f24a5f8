package conn

import (
	"fmt"
	"io/fs"

	"github.com/bowline-go/bowline/internal/regular"
)

// maxFile bounds a file that a client.Config names, in bytes. A kubeconfig from another person may name an endless
// file.
const maxFile = 16 << 20

// readFile is os.ReadFile for a regular file of at most maxFile. Anything else, such as a pipe, is an error at once.
func readFile(name string) ([]byte, error) {
	b, _, err := regular.Read(name, maxFile)
	if err == nil && len(b) > maxFile {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d MiB", maxFile>>20)}
	}
	return b, err
}

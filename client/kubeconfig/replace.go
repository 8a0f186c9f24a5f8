package kubeconfig

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bowline-go/bowline/internal/regular"
)

// replace writes the files: all of them or, unless the disk fails in the middle, none.
func replace(docs []*document) (err error) {
	temporary := make([]string, len(docs))
	defer func() {
		for _, name := range temporary {
			if name != "" {
				_ = os.Remove(name) // the file exists only after an error
			}
		}
	}()
	for i, d := range docs {
		data, err := d.encode()
		if err != nil {
			return err
		}
		if temporary[i], err = d.prepare(data); err != nil {
			return d.fail("", "", fmt.Errorf("cannot be written: %w", withoutPath(err)))
		}
	}
	for i, d := range docs {
		if err := os.Rename(temporary[i], d.path); err != nil {
			return d.fail("", "", fmt.Errorf("cannot be written: %w", withoutPath(err)))
		}
		temporary[i] = ""
		syncDir(filepath.Dir(d.path))
	}
	return nil
}

// prepare writes the new content to a new file beside the old one, and returns its name.
func (d *document) prepare(data []byte) (name string, err error) {
	if d.info != nil {
		// A write-protected file is not replaced, although its folder would permit it.
		if err := regular.Writable(d.path); err != nil {
			return "", err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(d.path), ".kubeconfig-*.tmp") // an unused name, and mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
		if err != nil {
			_ = os.Remove(f.Name())
			name = ""
		}
	}()
	if d.info != nil {
		if err := keepOwner(f, d.info); err != nil {
			return "", fmt.Errorf("its owner cannot be kept: %w", withoutPath(err))
		}
		if err := f.Chmod(d.info.Mode().Perm()); err != nil {
			return "", err
		}
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

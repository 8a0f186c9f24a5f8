package build

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// unused is how long executables that were built from other files, or by another version of Go, stay in the cache after
// their last use.
const unused = 30 * 24 * time.Hour

// prune removes the other directories of the cache that have not been used for a long time. It is called after a build,
// when space was needed; if a directory cannot be removed, the next build tries again.
func (b *builder) prune(used string) {
	all, _ := filepath.Glob(filepath.Join(b.cache, "*")) // the pattern is valid
	for _, dir := range all {
		info, err := os.Stat(dir)
		if err == nil && dir != used && info.IsDir() && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(dir)
		}
	}
}

// removeAll removes the entries of a directory whose names match a pattern.
func removeAll(dir, pattern string) error {
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	errs := []error{err}
	for _, path := range found {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

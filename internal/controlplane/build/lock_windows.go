package build

import (
	"errors"
	"os"
	"syscall"
)

// tryLock returns the locked file, or nil if another process has the lock. A file that is opened without a share mode
// cannot be opened again until it is closed.
func tryLock(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const sharingViolation = syscall.Errno(32)
	h, err := syscall.CreateFile(
		name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0,
	)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return os.NewFile(uintptr(h), path), nil
}

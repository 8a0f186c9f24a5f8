// Package regular reads files whose names come from a configuration, and refuses anything that is not a regular file.
// It does not bound the time: a network mount whose server is gone blocks the calling goroutine, and the system offers
// no way to interrupt it.
//
// A path in a configuration may lead to a named pipe, a terminal or a device. Opening a pipe waits until another
// process opens its other end, and reading one may never end. So this package reads regular files only, opens them
// without waiting, and reads no more than a bound.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNot is the cause of the error if the path leads to neither a regular file nor a directory.
var ErrNot = errors.New("is not a regular file")

// ErrDirectory is the cause of the error for a directory. Operating systems return different errors for it.
var ErrDirectory = errors.New("is a directory")

// Read returns at most the first limit+1 bytes of a regular file: if it returns more than limit, the file is too long.
// Its errors are of type *fs.PathError.
func Read(name string, limit int) ([]byte, fs.FileInfo, error) {
	f, info, err := Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	return b, info, err
}

// Open opens a regular file for reading. Its errors are of type *fs.PathError.
func Open(name string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(name) // before it is opened, because opening a device may have an effect
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: p.Err} // the error that opening would return
	}
	if err != nil {
		return nil, nil, err
	}
	if err := check(name, info); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|unblocked, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(name, info) // the file may have been replaced in between
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Writable returns why a regular file cannot be opened for writing, or nil. It does not change the file.
func Writable(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if err := check(name, info); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|unblocked, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func check(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return &fs.PathError{Op: "read", Path: name, Err: ErrDirectory}
	case !mode.IsRegular():
		return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w but %s", ErrNot, kind(mode))}
	}
	return nil
}

// kind names the type of a file that is not regular.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

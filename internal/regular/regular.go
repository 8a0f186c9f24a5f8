// Package regular reads files that somebody else names, without being held up by what is no file.
//
// A path in a configuration may lead to a named pipe, a terminal or a device. To open a pipe waits for somebody at its other end,
// and to read one may never end. So only regular files are read, they are opened without waiting, and not more is read than a
// bound.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNot is the cause of the error for what is neither a regular file nor a directory.
var ErrNot = errors.New("is no regular file")

// ErrDirectory is the cause of the error for a directory; systems have different words for it, or none.
var ErrDirectory = errors.New("is a directory")

// Read returns what a regular file holds, as far as it is at most limit bytes long and one byte more, which says that it is longer.
// Errors are an *fs.PathError.
func Read(name string, limit int) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name) // before it is opened, because to open a device may do something
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: p.Err} // as it is without the look before
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
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if err := check(name, info); err != nil { // another one may have come in between
		return nil, nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	return b, info, err
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

// kind names what is no regular file.
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

package warm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/regular"
)

// disk is what this package needs of a file system to replace a file. Tests have one that fails.
type disk interface {
	// create makes a new file with mode 0600, whose name has pattern with a random text in place of the asterisk.
	create(dir, pattern string) (output, error)
	rename(from, to string) error
	remove(name string) error
	// sync makes the names in a folder durable.
	sync(dir string) error
}

// output is a file that is being written.
type output interface {
	io.WriteCloser
	Name() string
	Sync() error
}

// system is the disk of the operating system.
type system struct{}

func (system) create(dir, pattern string) (output, error) { return os.CreateTemp(dir, pattern) }
func (system) rename(from, to string) error               { return os.Rename(from, to) }
func (system) remove(name string) error                   { return os.Remove(name) }

func (system) sync(dir string) error {
	if runtime.GOOS == "windows" { // a folder cannot be opened there
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// write replaces the file. The new one is complete on the disk before it gets the name, so a crash leaves the old file
// or the new one.
func (f *file) write(c informer.Content) (err error) {
	dir := f.files.o.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := private(dir); err != nil {
		return err
	}
	f.sweep()
	h, is := f.want, f.is()
	h.Cluster, h.Trust = is.cluster, is.trust
	return replace(f.files.disk, f.name, func(to io.Writer) error { return encode(to, h, c, f.files.o.Seal) })
}

// replace replaces a file by what write writes.
func replace(d disk, name string, write func(io.Writer) error) (err error) {
	to, err := d.create(filepath.Dir(name), filepath.Base(name)+".*"+unfinished)
	if err != nil {
		return err
	}
	err = guard.ErrExited // remains if write ends its goroutine
	defer func() {
		if err == guard.ErrExited {
			_ = to.Close()
		}
		if err != nil {
			_ = d.remove(to.Name())
		}
	}()
	if err = write(to); err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := d.rename(to.Name(), name); err != nil {
		return err
	}
	return d.sync(filepath.Dir(name))
}

const (
	// unfinished is the end of the name of a file that is being written.
	unfinished = ".new"
	// abandoned is the age from which such a file counts as left by a process that has crashed.
	abandoned = time.Hour
)

// sweep removes the files that processes did not finish.
func (f *file) sweep() {
	files, _ := os.ReadDir(f.files.o.Dir)
	for _, e := range files {
		if !strings.HasPrefix(e.Name(), filepath.Base(f.name)+".") || !strings.HasSuffix(e.Name(), unfinished) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(f.files.o.Dir, e.Name()))
		}
	}
}

// private returns an error if others may change the files of a folder, because an informer would use the objects in
// them.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return owned(dir, info)
}

func owned(name string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o022 != 0 || !regular.Owned(info) {
		return fmt.Errorf("%q must belong to this user and not be writable by others, got mode %o", name, mode)
	}
	return nil
}

// open opens the file and reads its header.
func (f *file) open() (*reader, error) {
	if err := private(f.files.o.Dir); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(f.name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%q must be a regular file", f.name)
	}
	from, info, err := regular.Open(f.name)
	if err != nil {
		return nil, err
	}
	if err := owned(f.name, info); err != nil {
		_ = from.Close()
		return nil, err
	}
	r, err := newReader(from, info.Size())
	if err != nil {
		_ = from.Close()
		return nil, fmt.Errorf("read %q: %w", f.name, err)
	}
	r.close = func() { _ = from.Close() }
	return r, nil
}

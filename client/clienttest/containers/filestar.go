package containers

import (
	"archive/tar"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	gopath "path"
	"path/filepath"
	"strings"
	"time"
)

// tar writes an archive to standard output, or extracts one from standard input.
func (f *Files) tar(p *Process, args []string) error {
	create, extract, follow, names := false, false, false, []string(nil)
	base := ""
	for i := 0; i < len(args); i++ {
		letters, option := strings.CutPrefix(args[i], "-")
		switch {
		case args[i] == "--":
			names, i = args[i+1:], len(args)
			continue
		case args[i] == "--no-same-permissions" || args[i] == "--no-same-owner":
			continue
		case i > 0 && !option:
			names = append(names, args[i])
			continue
		}
		for _, letter := range letters {
			switch letter {
			case 'c':
				create = true
			case 'x':
				extract = true
			case 'h':
				follow = true
			case 'p', 'o', 'm':
			case 'f', 'C':
				if i++; i == len(args) || letter == 'f' && args[i] != "-" {
					return &exitError{2, errors.New("package containers supports archives only on standard input and output")}
				}
				if letter == 'C' {
					base = args[i]
				}
			default:
				return &exitError{2, fmt.Errorf("package containers does not support the option %q", letter)}
			}
		}
	}
	info, err := f.Root.Stat(f.in("", cmp.Or(base, "/")))
	switch {
	case create == extract:
		err = errors.New("package containers needs one of -c and -x")
	case err == nil && !info.IsDir():
		err = fmt.Errorf("%s: Cannot open: Not a directory", base)
	case err != nil:
		err = fmt.Errorf("%s: Cannot open: No such file or directory", base)
	case extract:
		err = f.extract(p.Stdin, base)
	default:
		err = f.create(p.Stdout, base, names, follow)
	}
	if err != nil {
		return &exitError{2, err}
	}
	return nil
}

func (f *Files) create(w io.Writer, base string, names []string, follow bool) error {
	out := bufio.NewWriterSize(w, 64<<10)
	archive := tar.NewWriter(out)
	for _, name := range names {
		root, about := f.in(base, name), f.Root.Lstat
		if shown := gopath.Clean(name); shown == "." || follow {
			about = f.Root.Stat
		}
		info, err := about(root)
		if err != nil {
			return err
		}
		root = filepath.ToSlash(root)
		shown := cmp.Or(strings.TrimRight(strings.TrimLeft(name, "/"), "/"), ".")
		err = f.walk(root, info, func(full string, info fs.FileInfo) error {
			if follow {
				if info, err = f.Root.Stat(filepath.FromSlash(full)); err != nil {
					return err
				}
			}
			return f.put(archive, full, shown+below(root, full), info)
		})
		if err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// put adds a file, folder or link to an archive.
func (f *Files) put(archive *tar.Writer, full, name string, info fs.FileInfo) error {
	target := ""
	if info.Mode().Type() == fs.ModeSymlink {
		var err error
		if target, err = f.Root.Readlink(filepath.FromSlash(full)); err != nil {
			return err
		}
	}
	if info.Mode().Type() == fs.ModeSocket {
		return nil // an archive cannot have such files
	}
	h, err := tar.FileInfoHeader(info, filepath.ToSlash(target))
	if err != nil {
		return err
	}
	if h.Name = name; info.IsDir() {
		h.Name += "/"
	}
	h.Format, h.ModTime, h.AccessTime, h.ChangeTime = tar.FormatGNU, h.ModTime.Truncate(time.Second), time.Time{}, time.Time{}
	if err := archive.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.read(archive, "/"+full)
}

func (f *Files) extract(r io.Reader, base string) error {
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, r) // the padding of the last record
			return err
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return fmt.Errorf("unexpected EOF in archive: %w", err)
		}
		if gopath.IsAbs(h.Name) || strings.Contains("/"+h.Name+"/", "/../") {
			return fmt.Errorf("%s: Member name contains '..' or is absolute", h.Name)
		}
		if err := f.take(f.in(base, h.Name), h, archive); err != nil {
			return err
		}
	}
}

// take extracts an entry of an archive.
func (f *Files) take(name string, h *tar.Header, body io.Reader) error {
	if err := f.Root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeDir {
		if info, err := f.Root.Lstat(name); err == nil && !info.IsDir() {
			if err := f.Root.Remove(name); err != nil {
				return err
			}
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := f.Root.MkdirAll(name, 0o777); err != nil {
			return err
		}
	case tar.TypeSymlink:
		return f.Root.Symlink(filepath.FromSlash(h.Linkname), name)
	case tar.TypeReg:
		file, err := f.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, body)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s: package containers does not support the type %q", h.Name, h.Typeflag)
	}
	if err := f.Root.Chmod(name, fs.FileMode(h.Mode)&fs.ModePerm); err != nil {
		return err
	}
	return f.Root.Chtimes(name, h.ModTime, h.ModTime)
}

package containers

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/internal/copyscript"
)

// sh does what the scripts of package remote do.
func (f *Files) sh(p *Process, args []string) error {
	if len(args) < 3 || args[0] != "-c" {
		return errors.New("package containers supports only sh -c")
	}
	for text, run := range map[string]func(p *Process, args []string) error{
		copyscript.Read(): f.scriptRead, copyscript.Write(): f.scriptWrite, copyscript.Commit(): f.scriptCommit, copyscript.Remove(): f.scriptRemove,
		copyscript.Check(): f.scriptCheck, copyscript.Sums(): f.scriptSums, copyscript.Pack(): f.scriptPack, copyscript.Unpack(): f.scriptUnpack,
	} {
		if text == args[1] {
			return run(p, append(args[3:], "", "", "", "")[:4]) // a missing argument is empty
		}
	}
	return errors.New("package containers runs only the shell scripts of package remote")
}

func (f *Files) scriptRead(p *Process, args []string) error {
	if err := f.read(p.Stdout, args[0]); err != nil {
		return err
	}
	_, err := io.WriteString(p.Stdout, args[1])
	return err
}

// free returns an error if something stands in the way of a folder, or of a file or link, as package copyscript does.
func (f *Files) free(name string, folder bool, replace string) error {
	info, err := f.Root.Lstat(name)
	switch {
	case err != nil:
		return nil
	case folder && !info.IsDir():
		return &exitError{copyscript.Exists, fmt.Errorf("%s: it is not a folder", name)}
	case !folder && info.IsDir():
		return &exitError{copyscript.Exists, fmt.Errorf("%s: it is a folder", name)}
	case !folder && replace != "1":
		return &exitError{copyscript.Exists, fmt.Errorf("%s: it exists", name)}
	}
	return nil
}

func (f *Files) scriptWrite(p *Process, args []string) error {
	if err := f.free(f.in("", args[1]), false, args[2]); err != nil {
		return err
	}
	file, err := f.Root.Create(f.in("", args[0]))
	if err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, "ready")
	all := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, all), p.Stdin)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, f.Root.Remove(f.in("", args[0])))
	}
	fmt.Fprintln(p.Stdout, n)
	if args[3] == "1" {
		fmt.Fprintf(p.Stdout, "%x  -\n", all.Sum(nil))
	}
	return nil
}

func (f *Files) scriptCommit(_ *Process, args []string) error {
	temporary, name := f.in("", args[0]), f.in("", args[1])
	err := f.free(name, false, args[2])
	if mode, bad := strconv.ParseUint(args[3], 8, 32); err == nil && bad == nil {
		err = f.Root.Chmod(temporary, fs.FileMode(mode)&fs.ModePerm)
	}
	if err == nil {
		err = f.Root.Rename(temporary, name)
	}
	if err != nil {
		_ = f.Root.Remove(temporary)
	}
	return err
}

func (f *Files) scriptRemove(_ *Process, args []string) error {
	return f.Root.RemoveAll(f.in("", args[0]))
}

// lines calls do for each line until an empty one.
func lines(r *bufio.Reader, do func(line string) error) error {
	for {
		line, err := r.ReadString('\n')
		if err != nil || line == "\n" {
			return nil
		}
		if err := do(copyscript.Name(line)); err != nil {
			return err
		}
	}
}

func (f *Files) scriptCheck(p *Process, args []string) error {
	if err := f.Root.MkdirAll(f.in("", args[0]), 0o777); err != nil {
		return err
	}
	err := lines(bufio.NewReader(p.Stdin), func(line string) error { return f.free(f.in(args[0], line[1:]), line[0] == 'd', args[2]) })
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, args[1])
	return err
}

func (f *Files) scriptSums(p *Process, args []string) error {
	err := lines(bufio.NewReader(p.Stdin), func(line string) error {
		all := sha256.New()
		if err := f.read(all, "/"+filepath.ToSlash(f.in(args[0], line))); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.Stdout, "%x  -\n", all.Sum(nil))
		return err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Stdout, args[1])
	return err
}

func (f *Files) scriptPack(p *Process, args []string) error {
	nonce, root := args[0], filepath.ToSlash(f.in("", args[1]))
	info, err := f.Root.Stat(filepath.FromSlash(root))
	if err == nil && !info.IsDir() && strings.HasSuffix(args[1], "/") {
		err = &fs.PathError{Op: "stat", Path: args[1], Err: syscall.ENOTDIR}
	}
	if err != nil {
		return err
	}
	pack := func(full, name string, info fs.FileInfo) error {
		kind, target := "f", ""
		switch info.Mode().Type() {
		case 0:
		case fs.ModeDir:
			kind = "d"
		case fs.ModeSymlink:
			kind = "l"
			if target, err = f.Root.Readlink(filepath.FromSlash(full)); err != nil {
				return err
			}
			target = filepath.ToSlash(target) + "\x00"
		default:
			kind = "o"
		}
		_, err := fmt.Fprintf(p.Stdout, "%s %s %o %d %d\x00%s\x00%s", nonce, kind, info.Mode().Perm(), info.ModTime().Unix(), info.Size(), name, target)
		if err != nil || kind != "f" {
			return err
		}
		return f.read(p.Stdout, "/"+full)
	}
	if !info.IsDir() {
		err = pack(root, args[1], info)
	} else {
		err = f.walk(root, info, func(full string, info fs.FileInfo) error {
			return pack(full, "."+below(root, full), info)
		})
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s e 0 - 0\x00", nonce)
	return err
}

func (f *Files) scriptUnpack(p *Process, args []string) error {
	if err := f.Root.MkdirAll(f.in("", args[1]), 0o777); err != nil {
		return err
	}
	temporary := f.in(args[1], ".bowline-"+args[0])
	defer f.Root.RemoveAll(temporary)
	in := bufio.NewReader(p.Stdin)
	line := func() string { text, _ := in.ReadString('\n'); return copyscript.Name(text) }
	for {
		var kind, stamp string
		var mode uint32
		var size int64
		if header := line(); header == "e" {
			_, err := io.WriteString(p.Stdout, args[0])
			return err
		} else if _, err := fmt.Sscanf(header, "%s %o %s %d", &kind, &mode, &stamp, &size); err != nil {
			return errors.New("the input ends early")
		}
		name := f.in(args[1], line())
		at, err := time.Parse("200601021504.05", stamp)
		if err == nil && kind != "m" {
			err = f.free(name, kind == "d", args[2])
		}
		about := func(name string) error {
			return errors.Join(f.Root.Chmod(name, fs.FileMode(mode)&fs.ModePerm), f.Root.Chtimes(name, at, at))
		}
		switch {
		case err != nil:
		case kind == "d":
			err = f.Root.MkdirAll(name, 0o777)
		case kind == "m":
			err = about(name)
		case kind == "l":
			if _, there := f.Root.Lstat(name); there == nil {
				err = f.Root.Remove(name)
			}
			err = errors.Join(err, f.Root.Symlink(filepath.FromSlash(line()), name))
		default:
			if err = f.write(temporary, io.LimitReader(in, size)); err == nil && line() != "." {
				err = errors.New("the input ends early")
			}
			if err == nil {
				err = about(temporary)
			}
			if err == nil {
				err = f.Root.Rename(temporary, name)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (f *Files) write(name string, r io.Reader) error {
	file, err := f.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Close())
}

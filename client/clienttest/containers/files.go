package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	gopath "path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Files is a container with files and the programs that copy to and from it: enough for the copy functions of package
// remote, and for kubectl cp. Use its method Run as [Server.Run], or call it from your own Run function for the
// programs that your function does not handle.
//
//	files := &containers.Files{Root: root}
//	server := clienttest.Start(t, clienttest.Options{Containers: &containers.Server{Run: files.Run}})
//
// The programs are cat, mkdir with -p, tar with -c and -x, test with -d, and sh with the scripts of package remote,
// and no others. Each command of each pod sees the same files.
type Files struct {
	// Root is the folder that is "/" in the container, and in which its programs start. Following a symbolic link out
	// of it is an error; every absolute link leads out of it.
	Root *os.Root
	// Without lists programs that the container does not have, such as "tar".
	Without []string
}

// Run runs a program. It returns 127 for one that it does not know.
func (f *Files) Run(ctx context.Context, p *Process) int {
	if len(p.Args) == 0 { // the main process
		<-ctx.Done()
		return 0
	}
	name, args := p.Args[0], p.Args[1:]
	run := map[string]func(p *Process, args []string) error{"cat": f.cat, "mkdir": f.mkdir, "tar": f.tar, "test": f.test, "sh": f.sh}[name]
	if run == nil || slices.Contains(f.Without, name) {
		fmt.Fprintf(p.Stderr, "exec: %q: executable file not found in $PATH\n", name)
		return 127
	}
	err := run(p, args)
	if err == nil {
		return 0
	}
	code := 1
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
	}
	fmt.Fprintf(p.Stderr, "%s: %s\n", name, message(err))
	return code
}

// exitError is an error with an exit code that is not 1.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return message(e.err) }

// message returns the text of an error as a program writes it.
func message(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err.Error()
	}
	text := path.Err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "No such file or directory"
	case errors.Is(err, fs.ErrExist):
		text = "File exists"
	case errors.Is(err, syscall.ENOTDIR):
		text = "Not a directory"
	}
	return "/" + strings.TrimPrefix(filepath.ToSlash(path.Path), "/") + ": " + text
}

// in returns the name within Root of a file in the container. A relative name starts at base.
func (f *Files) in(base, name string) string {
	if !strings.HasPrefix(name, "/") {
		name = gopath.Join("/", base, name)
	}
	if name = gopath.Clean(name)[1:]; name == "" {
		return "."
	}
	return filepath.FromSlash(name)
}

// cut removes a first argument "--", which marks the end of the options.
func cut(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

func (f *Files) cat(p *Process, args []string) error {
	if args = cut(args); len(args) == 0 {
		_, err := io.Copy(p.Stdout, p.Stdin)
		return err
	}
	for _, name := range args {
		if err := f.read(p.Stdout, name); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) read(w io.Writer, name string) error {
	file, err := f.Root.Open(f.in("", name))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

func (f *Files) mkdir(_ *Process, args []string) error {
	if len(args) == 0 || args[0] != "-p" {
		return errors.New("package containers supports only mkdir -p")
	}
	for _, name := range cut(args[1:]) {
		if err := f.Root.MkdirAll(f.in("", name), 0o777); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) test(_ *Process, args []string) error {
	if len(args) != 2 || args[0] != "-d" {
		return &exitError{2, errors.New("package containers supports only test -d")}
	}
	info, err := f.Root.Stat(f.in("", args[1]))
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "stat", Path: args[1], Err: syscall.ENOTDIR}
	}
	return err
}

// walk calls visit for a file or folder, and for everything in a folder. Names have slashes.
func (f *Files) walk(name string, info fs.FileInfo, visit func(name string, info fs.FileInfo) error) error {
	if err := visit(name, info); err != nil || !info.IsDir() {
		return err
	}
	folder, err := f.Root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	list, err := folder.Readdirnames(-1)
	_ = folder.Close()
	if err != nil {
		return err
	}
	slices.Sort(list)
	for _, e := range list {
		name := gopath.Join(name, e)
		info, err := f.Root.Lstat(filepath.FromSlash(name))
		if err == nil {
			err = f.walk(name, info, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below returns the part of name that follows root, with a slash.
func below(root, name string) string {
	switch {
	case name == root:
		return ""
	case root == ".":
		return "/" + name
	}
	return name[len(root):]
}

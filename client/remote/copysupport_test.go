package remote_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
)

// box is a container for copies: its programs are those of this machine, and its files are in a folder of the test.
type box struct {
	name    string
	busybox bool     // has the programs of busybox
	files   bool     // has those of package containers
	without []string // programs
	// edit may change what a command is.
	edit func(p *containers.Process)
}

// boxes are what copies are tested against. Each machine that the tests run on has all but busybox.
func boxes() []box {
	all := []box{
		{name: "tar"}, {name: "no tar", without: []string{"tar"}}, {name: "Files", files: true}, {name: "Files without tar", files: true, without: []string{"tar"}},
	}
	if _, err := exec.LookPath("busybox"); err == nil {
		all = append(all, box{name: "busybox", busybox: true}, box{name: "busybox without tar", busybox: true, without: []string{"tar"}})
	}
	return all
}

// start starts the container, and returns a rig and a folder of it.
func (b box) start(t testing.TB) (*rig, string) {
	t.Helper()
	there := t.TempDir() // before the server, which ends first
	if b.files {
		root, err := os.OpenRoot("/")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		files := &containers.Files{Root: root, Without: b.without}
		return newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
			if b.edit != nil {
				b.edit(p)
			}
			return files.Run(ctx, p)
		}}, clienttest.Options{}), there
	}
	bin := t.TempDir()
	for _, name := range []string{"cat", "chmod", "dd", "head", "ln", "mkdir", "mv", "readlink", "rm", "sh", "sha256sum", "sleep", "stat", "tar", "touch", "wc"} {
		if slices.Contains(b.without, name) {
			continue
		}
		program := name
		if b.busybox {
			program = "busybox"
		}
		found, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
		if b.edit != nil {
			b.edit(p)
		}
		return execute(ctx, bin, p)
	}}, clienttest.Options{}), there
}

// execute runs a program of the folder bin.
func execute(ctx context.Context, bin string, p *containers.Process) int {
	program := filepath.Join(bin, p.Args[0])
	if _, err := os.Lstat(program); err != nil {
		fmt.Fprintf(p.Stderr, "exec: %q: executable file not found in $PATH", p.Args[0])
		return 127
	}
	cmd := exec.CommandContext(ctx, program, p.Args[1:]...)
	cmd.Env, cmd.Dir = []string{"PATH=" + bin}, bin
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Stderr
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return 126
	}
	go func() { // ends when the process has
		_, _ = io.Copy(in, p.Stdin)
		_ = in.Close()
	}()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// oddNames are names that are hard to handle.
func oddNames() []string {
	return []string{
		"plain", "with space", " ", "-rf", "--", "--checkpoint-action=exec=false", "*", "?", "[a-z]", "new\nline", "\n", "ends in newline\n", "tab\t", `back\slash`,
		`back\\0012slash`, `\`, `'`, `"`, "`id`", "$(id)", "$HOME", ";", "&", "|", "#", "~", "%s%n", "@x", "=", "é", "日本語", "\u202e", ".hidden", "..x", "...",
		strings.Repeat("l", 255), "a:b", "e", ".", // the last one is left out by fill
	}
}

// fill makes files of odd names in a folder, and folders of odd names with files.
func fill(t testing.TB, folder string, names []string) {
	t.Helper()
	write := func(name, content string, mode os.FileMode) {
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		if name == "." {
			continue
		}
		write(filepath.Join(folder, "file "+name)[:min(len(folder)+1+255, len(folder)+1+5+len(name))], strings.Repeat(name, i), 0o600)
		sub := filepath.Join(folder, "sub", name)
		if err := os.MkdirAll(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(sub, name), name, 0o640)
	}
	write(filepath.Join(folder, "empty"), "", 0o444)
	write(filepath.Join(folder, "run"), "#!/bin/sh\n", 0o755)
	write(filepath.Join(folder, "large"), strings.Repeat("0123456789abcdef", 1<<16)+"x", 0o644)
	if err := os.MkdirAll(filepath.Join(folder, "empty folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(folder, strings.Repeat("deep/", 12)), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"link": "run", "sub/up": "../large", "dangling": "nothing here", "to folder": "sub/plain", "odd\nlink": "file new\nline", "end": "file ends in newline\n",
	} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
}

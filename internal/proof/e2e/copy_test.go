package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/remote"
)

// A container whose programs are those of this machine, and whose files are in a folder of the test.
func TestCopy(t *testing.T) {
	hidden := ""
	r, key := newKubelet(t, "10.1.0.16", func(ctx context.Context, p *process) int {
		program, err := exec.LookPath(p.args[0])
		if err != nil || p.args[0] == hidden {
			fmt.Fprintf(p.errors, "exec: %q: executable file not found in $PATH", p.args[0])
			return 127
		}
		cmd := exec.CommandContext(ctx, program, p.args[1:]...)
		cmd.Stdout, cmd.Stderr = p.out, p.errors
		in, err := cmd.StdinPipe()
		if err != nil || cmd.Start() != nil {
			return 126
		}
		go func() { // ends when the process has
			_, _ = io.Copy(in, p.in)
			_ = in.Close()
		}()
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	})
	here, there := t.TempDir(), t.TempDir()
	odd := []string{
		" ", "-rf", "--", "*", "?", "new\nline", "ends in newline\n", `back\slash`, `\0012`, "'", `"`, "`id`", "$(id)", ";", "%s", "é", "日本語", ".hidden", "..x", strings.Repeat("l", 255),
	}
	for i := range 10_000 - 2*len(odd) {
		writeFile(t, filepath.Join(here, fmt.Sprint(i%10), fmt.Sprint(i%100)), fmt.Sprint("file ", i), strings.Repeat(fmt.Sprint(i, "\n"), i%200))
	}
	for _, name := range odd {
		writeFile(t, filepath.Join(here, "odd"), name, name)
		writeFile(t, filepath.Join(here, "odd folders", name), name, "")
	}
	o := remote.CopyOptions{Container: "app", Verify: true}
	t.Run("10000 files to the container", func(t *testing.T) {
		res, err := remote.CopyTo(t.Context(), r, key, os.DirFS(here), there+"/copy", o)
		if err != nil || res.Files != 10_000 || res.Program != "tar" {
			t.Fatalf("CopyTo: %+v, %v", res, err)
		}
		sameFiles(t, there+"/copy", here)
	})
	t.Run("10000 files from the container", func(t *testing.T) {
		writeFile(t, there+"/copy", "not \xff UTF-8", "\xff")
		back := t.TempDir()
		res, err := remote.CopyFrom(t.Context(), r, key, there+"/copy/", back, o)
		if err != nil || res.Files != 10_001 || res.Program != "tar" {
			t.Fatalf("CopyFrom: %+v, %v", res, err)
		}
		sameFiles(t, back, there+"/copy")
	})
	t.Run("without tar", func(t *testing.T) {
		hidden = "tar"
		defer func() { hidden = "" }()
		back := t.TempDir()
		res, err := remote.CopyTo(t.Context(), r, key, os.DirFS(here+"/odd folders"), there+"/plain", o)
		if err != nil || res.Files != len(odd) || res.Program != "sh" {
			t.Fatalf("CopyTo: %+v, %v", res, err)
		}
		if res, err = remote.CopyFrom(t.Context(), r, key, there+"/plain/", back, o); err != nil || res.Files != len(odd) || res.Program != "sh" {
			t.Fatalf("CopyFrom: %+v, %v", res, err)
		}
		sameFiles(t, back, here+"/odd folders")
	})
	t.Run("streams", func(t *testing.T) {
		data := make([]byte, 16<<20)
		_, _ = rand.Read(data)
		if _, err := remote.WriteFile(t.Context(), r, key, there+"/stream", bytes.NewReader(data), o); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := remote.ReadFile(t.Context(), r, key, there+"/stream", &got, o); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("ReadFile: %d bytes of %d, %v", got.Len(), len(data), err)
		}
	})
	t.Run("one name", func(t *testing.T) {
		for _, program := range []string{"tar", "sh"} {
			if hidden = ""; program == "sh" {
				hidden = "tar"
			}
			back := t.TempDir()
			if res, err := remote.CopyFrom(t.Context(), r, key, there+"/plain", back, o); err != nil || res.Program != program {
				t.Fatalf("CopyFrom: %+v, %v", res, err)
			}
			sameFiles(t, back+"/plain", here+"/odd folders")
			o := o
			o.OneFile = true
			if res, err := remote.CopyFrom(t.Context(), r, key, there+"/stream", back, o); err != nil || res.Files != 1 {
				t.Errorf("CopyFrom: %+v, %v", res, err)
			}
			if _, err := remote.CopyFrom(t.Context(), r, key, there+"/copy", back, o); err == nil || !strings.Contains(err.Error(), "other than the one file that was asked for") {
				t.Errorf("CopyFrom of a folder as one file: %v", err)
			}
			if list, err := os.ReadDir(back); err != nil || len(list) != 2 {
				t.Errorf("%v, %v", list, err)
			}
		}
		hidden = ""
	})
	t.Run("no such file", func(t *testing.T) {
		_, err := remote.CopyFrom(t.Context(), r, key, there+"/none", t.TempDir(), o)
		if exit := (*remote.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(err.Error(), "No such file or directory") {
			t.Errorf("CopyFrom: %v", err)
		}
	})
}

func writeFile(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

// sameFiles compares two folders byte by byte.
func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	count := func(folder string) (n int) {
		if err := filepath.WalkDir(folder, func(string, fs.DirEntry, error) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if g, w := count(got), count(want); g != w {
		t.Errorf("there are %d files and folders, want %d", g, w)
	}
	err := filepath.WalkDir(want, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		w, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		other := got + name[len(want):]
		g, err := os.ReadFile(other)
		if err != nil || !bytes.Equal(g, w) {
			t.Errorf("%q: %v; the same: %v", other, err, bytes.Equal(g, w))
		}
		wi, _ := os.Stat(name)
		if gi, err := os.Stat(other); err != nil || gi.Mode() != wi.Mode() || gi.ModTime().Unix() != wi.ModTime().Unix() {
			t.Errorf("%q is %v of %v, want %v of %v", other, gi.Mode(), gi.ModTime(), wi.Mode(), wi.ModTime())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package containers_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// run runs a program of a container, and returns what it writes and its exit code.
func run(f *containers.Files, in string, args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = f.Run(context.Background(), &containers.Process{Args: args, Stdin: strings.NewReader(in), Stdout: &o, Stderr: &e})
	return o.String(), e.String(), code
}

func newFiles(t *testing.T) (*containers.Files, string) {
	t.Helper()
	disk := t.TempDir()
	root, err := os.OpenRoot(disk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return &containers.Files{Root: root}, disk
}

func TestFilesRunsItsPrograms(t *testing.T) {
	f, disk := newFiles(t)
	if err := os.WriteFile(filepath.Join(disk, "a"), []byte("content"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(disk, "out")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		in        string
		args      []string
		out, errs string
		code      int
	}{
		{"", []string{"cat", "/a"}, "content", "", 0},
		{"", []string{"cat", "--", "a", "./../a"}, "contentcontent", "", 0},
		{"input", []string{"cat"}, "input", "", 0},
		{"", []string{"cat", "/none"}, "", "cat: /none: No such file or directory\n", 1},
		{"", []string{"cat", "/a/b"}, "", "cat: /a/b: Not a directory\n", 1},
		{"", []string{"cat", "/out/passwd"}, "", "cat: /out/passwd: path escapes from parent\n", 1},
		{"", []string{"mkdir", "-p", "--", "/x/y", "x/z"}, "", "", 0},
		{"", []string{"mkdir", "-p", "/a"}, "", "mkdir: /a: File exists\n", 1},
		{"", []string{"mkdir", "/q"}, "", "mkdir: package containers supports only mkdir -p\n", 1},
		{"", []string{"test", "-d", "/x/y"}, "", "", 0},
		{"", []string{"test", "-d", "/a"}, "", "test: /a: Not a directory\n", 1},
		{"", []string{"test", "-e", "/a"}, "", "test: package containers supports only test -d\n", 2},
		{"", []string{"tar", "-c", "-f", "-", "-C", "/none", "."}, "", "tar: /none: Cannot open: No such file or directory\n", 2},
		{"", []string{"tar", "-c", "-f", "-", "-C", "/a", "."}, "", "tar: /a: Cannot open: Not a directory\n", 2},
		{"", []string{"tar", "-c", "-f", "-", "/none"}, "", "tar: /none: No such file or directory\n", 2},
		{"", []string{"tar", "-c", "-f", "x.tar", "/a"}, "", "tar: package containers supports archives only on standard input and output\n", 2},
		{"", []string{"tar", "-z"}, "", "tar: package containers does not support the option 'z'\n", 2},
		{"", []string{"tar", "-C", "/"}, "", "tar: package containers needs one of -c and -x\n", 2},
		{"", []string{"sh", "-c", "rm -rf /", "sh"}, "", "sh: package containers runs only the shell scripts of package remote\n", 1},
		{"", []string{"sh"}, "", "sh: package containers supports only sh -c\n", 1},
		{"", []string{"vi"}, "", "exec: \"vi\": executable file not found in $PATH\n", 127},
	} {
		if out, errs, code := run(f, tc.in, tc.args...); out != tc.out || errs != tc.errs || code != tc.code {
			t.Errorf("%q: %q, %q and %d, want %q, %q and %d", tc.args, out, errs, code, tc.out, tc.errs, tc.code)
		}
	}
	if _, _, code := run(&containers.Files{Root: f.Root, Without: []string{"cat"}}, "", "cat"); code != 127 {
		t.Errorf("a program that the container does not have: %d", code)
	}
}

// The commands of kubectl cp.
func TestFilesPacksAndUnpacksArchives(t *testing.T) {
	f, disk := newFiles(t)
	if _, errs, code := run(f, "", "mkdir", "-p", "/dir/sub", "/dst"); code != 0 {
		t.Fatal(errs)
	}
	if err := os.WriteFile(filepath.Join(disk, "dir/sub/f"), []byte("content"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub/f", filepath.Join(disk, "dir/l")); err != nil {
		t.Fatal(err)
	}
	names := func(archive string) (all []string) {
		for r := tar.NewReader(strings.NewReader(archive)); ; {
			h, err := r.Next()
			if err == io.EOF {
				return all
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, h.Name)
		}
	}
	out, errs, code := run(f, "", "tar", "cf", "-", "/dir")
	if got := fmt.Sprint(names(out)); code != 0 || got != "[dir/ dir/l dir/sub/ dir/sub/f]" {
		t.Errorf("tar cf - /dir: %s, %q, %d", got, errs, code)
	}
	if _, errs, code = run(f, out, "tar", "-xmf", "-", "-C", "/dst"); code != 0 {
		t.Errorf("tar -xmf - -C /dst: %q, %d", errs, code)
	}
	if text, _, _ := run(f, "", "cat", "/dst/dir/l"); text != "content" {
		t.Errorf("the file has %q", text)
	}
	for _, name := range []string{"../x", "/x", "a/../../x"} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		_ = w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg})
		_ = w.Close()
		if _, errs, code := run(f, archive.String(), "tar", "-x", "-f", "-"); code != 2 || !strings.Contains(errs, "Member name") {
			t.Errorf("%s: %q, %d", name, errs, code)
		}
	}
	if _, errs, code := run(f, out[:700], "tar", "-x", "-f", "-"); code != 2 || !strings.Contains(errs, "unexpected EOF") {
		t.Errorf("half an archive: %q, %d", errs, code)
	}
}

func ExampleFiles() {
	disk, err := os.MkdirTemp("", "container")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(disk)
	root, err := os.OpenRoot(disk)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	files := &containers.Files{Root: root}
	server := clienttest.New(clienttest.Options{Containers: &containers.Server{Run: files.Run}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go server.Run(ctx)
	c, err := client.New(server.Config())
	if err != nil {
		panic(err)
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Pod", Resource: "pods"})
	pod := new(meta.Unstructured)
	if err := pod.UnmarshalJSON([]byte(`{"metadata": {"namespace": "default", "name": "web"}, "spec": {"containers": [{"name": "app", "image": "none"}]}}`)); err != nil {
		panic(err)
	}
	if _, err := pods.Create(ctx, pod); err != nil {
		panic(err)
	}

	// The code under test.
	_, err = remote.WriteFile(ctx, pods, meta.Key{Namespace: "default", Name: "web"}, "/app.conf", strings.NewReader("level=debug"), remote.CopyOptions{})

	text, _ := os.ReadFile(filepath.Join(disk, "app.conf"))
	fmt.Printf("%s %v\n", text, err)
	// Output: level=debug <nil>
}

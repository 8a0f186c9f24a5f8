package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

// put makes files with their names as contents.
func put(t testing.TB, folder string, names ...string) {
	t.Helper()
	for _, name := range names {
		full := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// has checks that a folder has these files, folders and links.
func has(t testing.TB, folder string, names ...string) {
	t.Helper()
	var got []string
	for name := range shoot(t, folder) {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("%s has %q, want %q", folder, got, names)
	}
}

func TestCopyFromTheKindsOfSources(t *testing.T) {
	for _, b := range boxes() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			r, there := b.start(t)
			put(t, there, "folder/a", "folder/sub/b", "*", "-x", "-y/a")
			for link, target := range map[string]string{"to folder": "folder", "to file": "folder/a", "to link": "to folder", "dangling": "none"} {
				if err := os.Symlink(target, filepath.Join(there, link)); err != nil {
					t.Fatal(err)
				}
			}
			folder := []string{"a", "sub", "sub/b"} // what is in it
			named := func(name string) []string { return []string{name, name + "/a", name + "/sub", name + "/sub/b"} }
			for src, want := range map[string][]string{
				"folder": named("folder"), "folder/": folder, "folder//": folder, "folder/.": folder, "folder/./": folder, "folder/sub/..": folder,
				"folder/sub": {"sub", "sub/b"}, "folder/sub/": {"b"}, "folder//a": {"a"}, "folder/empty": {"empty"}, "folder/empty/": {},
				"to folder": named("to folder"), "to folder/": folder, "to link": named("to link"), "to link/": folder, "to file": {"to file"},
				"*": {"*"}, "-x": {"-x"}, "-y": {"-y", "-y/a"}, "-y/": {"a"},
			} {
				if strings.Contains(src, "empty") {
					if err := os.Mkdir(there+"/folder/empty", 0o750); err != nil {
						t.Fatal(err)
					}
				}
				dst := t.TempDir()
				if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/"+src, dst, remote.CopyOptions{Verify: true}); err != nil {
					t.Errorf("%q: %v", src, err)
				}
				has(t, dst, want...)
				if err := os.RemoveAll(there + "/folder/empty"); err != nil {
					t.Fatal(err)
				}
			}
			for src, file := range map[string]bool{"folder/a": true, "to file": true, "*": true, "-x": true, "folder": false, "to folder": false, "to link": false} {
				dst := t.TempDir()
				_, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/"+src, dst, remote.CopyOptions{OneFile: true})
				if file && err == nil {
					has(t, dst, path.Base(src))
					continue
				}
				if err == nil || file || !strings.Contains(err.Error(), "other than the one file that was asked for") {
					t.Errorf("%q as one file: %v", src, err)
				}
				has(t, dst)
			}
			for src, want := range map[string]string{"none": "o such file", "dangling": "o such file", "none/": "o such file", "*/": "ot a directory|no such file"} {
				dst := filepath.Join(t.TempDir(), "new")
				_, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/"+src, dst, remote.CopyOptions{})
				exit := (*remote.ExitError)(nil)
				if !errors.As(err, &exit) || !slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(err.Error(), w) }) ||
					!strings.Contains(err.Error(), "exec in pod default/web: ") {
					t.Errorf("%q: %v, want %q", src, err, want)
				}
				has(t, dst)
			}
		})
	}
}

func TestOverwrite(t *testing.T) {
	for _, b := range boxes() {
		t.Run(b.name, func(t *testing.T) {
			r, there := b.start(t)
			put(t, there, "src/a", "src/sub/b", "src/sub/c")
			here := t.TempDir()
			put(t, here, "sub/b", "sub/other")
			if err := os.WriteFile(filepath.Join(here, "sub/b"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("sub/other", filepath.Join(here, "a")); err != nil {
				t.Fatal(err)
			}
			before := shoot(t, here)
			_, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", here, remote.CopyOptions{})
			if !errors.Is(err, fs.ErrExist) {
				t.Errorf("CopyFrom: %v", err)
			}
			unchanged(t, here, before)
			if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", here, remote.CopyOptions{Overwrite: true}); err != nil {
				t.Error(err)
			}
			has(t, here, "a", "sub", "sub/b", "sub/c", "sub/other")
			got := shoot(t, here)
			if got["a"].content != "src/a" || got["a"].mode != 0o644 || got["sub/b"].content != "src/sub/b" || got["sub/other"].content != "sub/other" {
				t.Errorf("the files are %v", got)
			}

			// And back.
			before = shoot(t, there)
			if _, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), there+"/src", remote.CopyOptions{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("CopyTo: %v", err)
			}
			unchanged(t, there, before)
			if err := os.WriteFile(filepath.Join(here, "a"), []byte("newer"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), there+"/src", remote.CopyOptions{Overwrite: true}); err != nil {
				t.Error(err)
			}
			has(t, there, "src", "src/a", "src/sub", "src/sub/b", "src/sub/c", "src/sub/other")
			if got := shoot(t, there)["src/a"]; got.content != "newer" {
				t.Errorf("a is %v", got)
			}

			// A file is no place for a folder, nor a folder one for a file.
			put(t, here, "turned/x")
			put(t, there, "src/turned")
			if res, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), there+"/src", remote.CopyOptions{Overwrite: true}); err == nil {
				t.Errorf("CopyTo: a folder has replaced a file: %+v", res)
			}
			if _, err := remote.WriteFile(t.Context(), r.pods, web, there+"/src/a", strings.NewReader("x"), remote.CopyOptions{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("WriteFile: %v", err)
			}
			if _, err := remote.WriteFile(t.Context(), r.pods, web, there+"/src/a", strings.NewReader("x"), remote.CopyOptions{Overwrite: true}); err != nil {
				t.Errorf("WriteFile: %v", err)
			}
			if _, err := remote.WriteFile(t.Context(), r.pods, web, there+"/src/sub", strings.NewReader("x"), remote.CopyOptions{Overwrite: true}); err == nil ||
				!strings.Contains(err.Error(), "it is a folder") {
				t.Errorf("WriteFile: %v", err)
			}
			has(t, there, "src", "src/a", "src/sub", "src/sub/b", "src/sub/c", "src/sub/other", "src/turned")
			if got := shoot(t, there)["src/a"]; got.content != "x" {
				t.Errorf("a is %v", got)
			}
		})
	}
}

// says is a container whose programs write text to their standard error, and then do as run says.
func says(text string, run func(ctx context.Context, p *containers.Process) int) *containers.Server {
	return &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
		_, _ = io.WriteString(p.Stderr, text)
		return run(ctx, p)
	}}
}

func TestATarThatFails(t *testing.T) {
	whole := archive(made{name: "./a", body: "abc"})
	for _, tc := range []struct {
		name   string
		stderr string
		sent   []byte
		code   int
		allow  bool
		want   string // empty for success
	}{
		{"cannot open", "tar: /x: Cannot open: No such file or directory\ntar: Error is not recoverable\n", nil, 2, false, "tar: exit code 2: tar: /x: Cannot open: No such file"},
		{"fails late", "tar: ./b: Cannot open: Permission denied\n", whole, 2, true, "Permission denied"},
		{"busybox fails late", "tar: can't open './b': Permission denied\n", whole, 1, true, "Permission denied"},
		{"ends early in silence", "", whole[:1024], 0, true, "the archive is incomplete"},
		{"is killed", "", whole[:600], 137, true, "exit code 137"},
		{"a change", "tar: ./a: file changed as we read it\n", whole, 1, false, "CopyOptions.AllowChanges is not set"},
		{"a change that is allowed", "tar: ./a: file changed as we read it\n", whole, 1, true, ""},
		{"a change in a broken archive", "tar: ./a: file changed as we read it\n", whole[:1024], 1, true, "exit code 1"},
		{"a file that shrinks", "tar: ./a: File shrank by 2 bytes; padding with zeros\n", whole, 1, true, "shrank"},
		{"a socket", "tar: ./s: socket ignored\n", whole, 0, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, says(tc.stderr, func(_ context.Context, p *containers.Process) int {
				_, _ = p.Stdout.Write(tc.sent)
				return tc.code
			}), clienttest.Options{})
			dst := t.TempDir()
			res, err := remote.CopyFrom(t.Context(), r.pods, many, "/x/.", dst, remote.CopyOptions{AllowChanges: tc.allow, Container: "sidecar"})
			if tc.want == "" {
				if err != nil || res.Stderr != strings.TrimSpace(tc.stderr) {
					t.Errorf("CopyFrom: %+v, %v", res, err)
				}
				has(t, dst, "a")
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), `copy "/x/." from pod default/many, container sidecar: `) {
				t.Errorf("CopyFrom: %v, want %q", err, tc.want)
			}
			has(t, dst)
		})
	}
}

func TestCopiesWithoutTheirPrograms(t *testing.T) {
	none := &containers.Server{}
	for name, c := range map[string]*containers.Server{"by status": none, "by exit code": says("not found", func(context.Context, *containers.Process) int { return 127 })} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c, clienttest.Options{})
			o := remote.CopyOptions{Overwrite: true}
			_, from := remote.CopyFrom(t.Context(), r.pods, web, "/x", t.TempDir(), o)
			_, to := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(t.TempDir()), "/x", o)
			_, kept := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(t.TempDir()), "/x", remote.CopyOptions{})
			_, read := remote.ReadFile(t.Context(), r.pods, web, "/x", io.Discard, o)
			_, write := remote.WriteFile(t.Context(), r.pods, web, "/x", strings.NewReader("x"), o)
			for err, want := range map[error]string{from: "neither tar nor sh", to: "neither tar nor sh", kept: "no sh", read: "no sh", write: "no sh"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
	r, there := box{without: []string{"sha256sum"}}.start(t)
	put(t, there, "a")
	o := remote.CopyOptions{Verify: true, Overwrite: true}
	here := t.TempDir()
	_, from := remote.CopyFrom(t.Context(), r.pods, web, there+"/", here, o)
	elsewhere := t.TempDir()
	put(t, elsewhere, "a")
	_, to := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(elsewhere), there+"/b", o)
	_, read := remote.ReadFile(t.Context(), r.pods, web, there+"/a", io.Discard, o)
	_, write := remote.WriteFile(t.Context(), r.pods, web, there+"/c", strings.NewReader("x"), o)
	for i, err := range []error{from, to, read, write} {
		if err == nil || !strings.Contains(err.Error(), "sha256sum: it is needed to verify") {
			t.Errorf("%d: %v", i, err)
		}
	}
	has(t, here)
	has(t, there, "a", "b", "b/a")
	r, there = box{without: []string{"tar", "dd"}}.start(t)
	if _, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), there, o); err == nil || !strings.Contains(err.Error(), "dd: it must support") {
		t.Errorf("CopyTo without dd: %v", err)
	}
}

// A container that sends other bytes than its files have.
func TestVerifyFindsOtherBytes(t *testing.T) {
	for _, b := range boxes()[:2] {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			b.edit = func(p *containers.Process) {
				p.Stdin, p.Stdout = &spoiler{r: p.Stdin}, &spoiler{w: p.Stdout}
			}
			r, there := b.start(t)
			put(t, there, "src/good", "src/precious", "src/same")
			if err := os.WriteFile(there+"/src/precious", []byte("all of it"), 0o600); err != nil {
				t.Fatal(err)
			}
			here := t.TempDir()
			_, from := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", here, remote.CopyOptions{Verify: true})
			has(t, here)
			_, to := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(there+"/src"), there+"/dst", remote.CopyOptions{Verify: true})
			_, read := remote.ReadFile(t.Context(), r.pods, web, there+"/src/precious", io.Discard, remote.CopyOptions{Verify: true})
			_, write := remote.WriteFile(t.Context(), r.pods, web, there+"/precious", strings.NewReader("all of it"), remote.CopyOptions{Verify: true})
			for i, err := range []error{from, to, read, write} {
				if err == nil || !strings.Contains(err.Error(), `precious": `) || !strings.Contains(err.Error(), "verify: ") {
					t.Errorf("%d: %v", i, err)
				}
			}
			if _, err := os.Lstat(there + "/precious"); err == nil {
				t.Error("WriteFile has made the file")
			}
			// Nobody sees it without.
			if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", here, remote.CopyOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// spoiler changes a word.
type spoiler struct {
	r io.Reader
	w io.Writer
}

func (s *spoiler) Write(p []byte) (int, error) {
	if _, err := s.w.Write(bytes.ReplaceAll(p, []byte("all of it"), []byte("All of it"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *spoiler) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	copy(p, bytes.ReplaceAll(p[:n], []byte("all of it"), []byte("All of it")))
	return n, err
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part := make([]byte, 1<<16)
		r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
			_, _ = p.Stdout.Write(archive(made{name: "./first", body: "abc"})[:1024])
			_, _ = p.Stdout.Write(block("./second", '0', "", 100<<16))
			for range 100 {
				_, _ = p.Stdout.Write(part)
				time.Sleep(20 * time.Millisecond)
			}
			_, _ = p.Stdout.Write(make([]byte, 1024))
			return 0
		}}, clienttest.Options{})
		type call struct {
			name  string
			files int
			bytes int64
		}
		var all []call
		var times []time.Time
		_, err := remote.CopyFrom(t.Context(), r.pods, web, "/x/.", t.TempDir(), remote.CopyOptions{Progress: func(name string, files int, bytes int64) {
			all, times = append(all, call{name, files, bytes}), append(times, time.Now())
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(all); n < 15 || n > 22 {
			t.Errorf("Progress was called %d times in 2 s", n)
		}
		for i := 1; i < len(all)-1; i++ {
			if times[i].Sub(times[i-1]) < 100*time.Millisecond || all[i].bytes <= all[i-1].bytes || all[i].name != "second" || all[i].files != 1 {
				t.Errorf("call %d is %+v, %v after %+v", i, all[i], times[i].Sub(times[i-1]), all[i-1])
			}
		}
		if end := all[len(all)-1]; end != (call{"", 2, 100<<16 + 3}) {
			t.Errorf("the last call is %+v", end)
		}
	})
}

func TestTheEndOfTheContextOfACopy(t *testing.T) {
	for _, what := range []string{"CopyFrom", "CopyTo", "ReadFile", "WriteFile", "blocked Reader", "blocked Writer", "blocked in the container"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				removed := 0
				r := newRig(t, &containers.Server{Run: func(ctx context.Context, p *containers.Process) int {
					switch {
					case p.Args[0] == "mkdir":
						return 0
					case p.Args[0] == "sh" && strings.Contains(p.Args[2], "sleep"):
						removed++
						return 0
					case p.Args[0] == "sh" && strings.Contains(p.Args[2], "mkdir"):
						_, _ = io.Copy(io.Discard, p.Stdin)
						_, _ = io.WriteString(p.Stdout, p.Args[5])
						return 0
					case what == "CopyFrom":
						_, _ = p.Stdout.Write(archive(made{name: "./a", body: "abc"})[:1024])
						_, _ = p.Stdout.Write(block("./b", '0', "", 1<<16))
					case what == "blocked Writer":
						_, _ = io.WriteString(p.Stdout, strings.Repeat("x", 1<<16))
					case what != "blocked in the container":
						if p.Args[0] == "sh" {
							_, _ = io.WriteString(p.Stdout, "ready\n")
						}
						_, _ = io.CopyN(io.Discard, p.Stdin, 10)
					}
					<-ctx.Done()
					return 0
				}}, clienttest.Options{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				here := t.TempDir()
				put(t, here, "a")
				before := shoot(t, here)
				b := blocked{make(chan struct{})}
				start := time.Now()
				var err error
				o := remote.CopyOptions{Overwrite: true}
				switch what {
				case "CopyFrom":
					_, err = remote.CopyFrom(ctx, r.pods, web, "/x/.", here, o)
				case "CopyTo":
					_, err = remote.CopyTo(ctx, r.pods, web, os.DirFS(here), "/x", o)
				case "ReadFile":
					_, err = remote.ReadFile(ctx, r.pods, web, "/x", io.Discard, o)
				case "blocked Writer":
					_, err = remote.ReadFile(ctx, r.pods, web, "/x", b, o)
				case "blocked Reader":
					_, err = remote.WriteFile(ctx, r.pods, web, "/x", b, o)
				default:
					_, err = remote.WriteFile(ctx, r.pods, web, "/x", zeros{}, o)
				}
				if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > time.Hour+20*time.Second {
					t.Errorf("after %v: %v", took, err)
				}
				if what == "WriteFile" && removed != 1 {
					t.Errorf("the temporary file was removed %d times", removed)
				}
				close(b.letGo)
				got := shoot(t, here)
				if len(got) != 1 || got["a"] != before["a"] {
					t.Errorf("the folder has %v", got)
				}
			})
		})
	}
}

func TestCopiesAtOnce(t *testing.T) {
	r, there := boxes()[0].start(t)
	for i := range 20 {
		put(t, there, fmt.Sprintf("src/shared/%d/x", i), fmt.Sprintf("src/%d", i))
	}
	here := t.TempDir()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if _, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", here, remote.CopyOptions{Overwrite: true}); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(there+"/src"), fmt.Sprint(there, "/dst", i), remote.CopyOptions{Overwrite: true}); err != nil {
				t.Error(err)
			}
		})
	}
	onto := func() error {
		_, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(there+"/src"), there+"/dst", remote.CopyOptions{Overwrite: true})
		return err
	}
	for range 4 { // tar refuses a file that another tar has just made, and CopyTo says so
		all.Go(func() {
			err := onto()
			if err != nil && !strings.Contains(err.Error(), "File exists") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := onto(); err != nil {
		t.Error(err)
	}
	compare(t, there+"/dst", there+"/src", false)
	compare(t, here, there+"/src", false) // the time of a folder is the one of the last copy
	for i := range 4 {
		compare(t, fmt.Sprint(there, "/dst", i), there+"/src", false)
	}
}

func TestDestinationsThatCannotBeWritten(t *testing.T) {
	r, there := boxes()[0].start(t)
	put(t, there, "src/a", "file")
	here := t.TempDir()
	put(t, here, "file")
	for _, dst := range []string{here + "/file", here + "/file/x", "/proc/none", "/proc/self/none"} {
		var path *fs.PathError
		if res, err := remote.CopyFrom(t.Context(), r.pods, web, there+"/src/", dst, remote.CopyOptions{}); !errors.As(err, &path) {
			t.Errorf("CopyFrom to %s: %+v, %v", dst, res, err)
		}
	}
	has(t, here, "file")
	for _, dst := range []string{there + "/file", there + "/file/x"} {
		for _, overwrite := range []bool{false, true} {
			res, err := remote.CopyTo(t.Context(), r.pods, web, os.DirFS(here), dst, remote.CopyOptions{Overwrite: overwrite})
			if exit := (*remote.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(err.Error(), "ile exists") && !strings.Contains(err.Error(), "ot a directory") {
				t.Errorf("CopyTo to %s: %+v, %v", dst, res, err)
			}
		}
	}
	if _, err := remote.WriteFile(t.Context(), r.pods, web, there+"/none/x", strings.NewReader("x"), remote.CopyOptions{}); !errors.As(err, new(*remote.ExitError)) {
		t.Errorf("WriteFile: %v", err)
	}
	has(t, there, "file", "src", "src/a")
}

// A temporary file in the container is removed if the rest fails.
func TestAStreamThatFails(t *testing.T) {
	t.Parallel()
	r, there := boxes()[0].start(t)
	put(t, there, "kept")
	broken := errors.New("it broke")
	_, err := remote.WriteFile(t.Context(), r.pods, web, there+"/kept", io.MultiReader(strings.NewReader("new"), failing{broken}), remote.CopyOptions{Overwrite: true})
	if !errors.Is(err, broken) {
		t.Errorf("WriteFile: %v", err)
	}
	if _, err := remote.WriteFile(t.Context(), r.pods, web, there+"/new", zeros{}, remote.CopyOptions{MaxBytes: 1 << 20}); err == nil || !strings.Contains(err.Error(), "CopyOptions.MaxBytes") {
		t.Errorf("WriteFile: %v", err)
	}
	has(t, there, "kept")
	if got := shoot(t, there)["kept"].content; got != "kept" {
		t.Errorf("the file has %q", got)
	}
	if _, err := remote.ReadFile(t.Context(), r.pods, web, there+"/kept", failing{broken}, remote.CopyOptions{}); !errors.Is(err, broken) {
		t.Errorf("ReadFile: %v", err)
	}
	if _, err := remote.ReadFile(t.Context(), r.pods, web, "/dev/zero", io.Discard, remote.CopyOptions{MaxBytes: 1 << 20}); err == nil || !strings.Contains(err.Error(), "CopyOptions.MaxBytes") {
		t.Errorf("ReadFile: %v", err)
	}
	if _, err := remote.ReadFile(t.Context(), r.pods, web, there, io.Discard, remote.CopyOptions{}); !errors.As(err, new(*remote.ExitError)) {
		t.Errorf("ReadFile: %v", err)
	}
}

// A program that ends in good order although its output was cut off, or its input.
func TestStreamsThatAreCutOff(t *testing.T) {
	r := newRig(t, &containers.Server{Run: func(_ context.Context, p *containers.Process) int {
		if strings.Contains(p.Args[2], "wc") {
			_, _ = io.WriteString(p.Stdout, "ready\n")
			_, _ = io.Copy(io.Discard, p.Stdin)
			_, _ = io.WriteString(p.Stdout, "3\n")
		} else {
			_, _ = io.WriteString(p.Stdout, "some")
		}
		return 0
	}}, clienttest.Options{})
	if _, err := remote.ReadFile(t.Context(), r.pods, web, "/x", io.Discard, remote.CopyOptions{}); err == nil || !strings.Contains(err.Error(), "the output is incomplete") {
		t.Errorf("ReadFile: %v", err)
	}
	if _, err := remote.WriteFile(t.Context(), r.pods, web, "/x", strings.NewReader("four"), remote.CopyOptions{}); err == nil ||
		!strings.Contains(err.Error(), `must report that it received 4 bytes, got "3"`) {
		t.Errorf("WriteFile: %v", err)
	}
}

func TestWrongUseOfCopies(t *testing.T) {
	r := newRig(t, &containers.Server{}, clienttest.Options{})
	here := t.TempDir()
	from := func(src, dir string, o remote.CopyOptions) error {
		_, err := remote.CopyFrom(t.Context(), r.pods, web, src, dir, o)
		return err
	}
	to := func(src fs.FS, dst string) error {
		_, err := remote.CopyTo(t.Context(), r.pods, web, src, dst, remote.CopyOptions{})
		return err
	}
	write := func(name string, in io.Reader, o remote.CopyOptions) error {
		_, err := remote.WriteFile(t.Context(), r.pods, web, name, in, o)
		return err
	}
	_, read := remote.ReadFile(t.Context(), r.pods, web, "/x", nil, remote.CopyOptions{})
	_, zero := remote.CopyFrom(t.Context(), client.Resource[*pod]{}, web, "/x", here, remote.CopyOptions{})
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"no source":      {from("", here, remote.CopyOptions{}), "must not be empty"},
		"zero byte":      {from("/a\x00", here, remote.CopyOptions{}), "no zero byte"},
		"no dir":         {from("/a", "", remote.CopyOptions{}), "dir must not be empty"},
		"MaxBytes":       {from("/a", here, remote.CopyOptions{MaxBytes: -1}), "MaxBytes must be 0 or more"},
		"MaxFiles":       {from("/a", here, remote.CopyOptions{MaxFiles: -1}), "MaxFiles must be 0 or more"},
		"OneFile":        {from("/a/", here, remote.CopyOptions{OneFile: true}), "must be the name of a file"},
		"OneFile of ..":  {from("/a/..", here, remote.CopyOptions{OneFile: true}), "must be the name of a file"},
		"OneFile there":  {write("/x", strings.NewReader(""), remote.CopyOptions{OneFile: true}), "OneFile is for CopyFrom"},
		"a long name":    {from("/"+strings.Repeat("x", 256), here, remote.CopyOptions{}), "more than 255"},
		"Perm":           {from("/a", here, remote.CopyOptions{Perm: 0o600}), "Perm is for WriteFile"},
		"setuid":         {from("/a", here, remote.CopyOptions{Perm: fs.ModeSetuid}), "only permission bits"},
		"no FS":          {to(nil, "/x"), "src must not be nil"},
		"no destination": {to(os.DirFS(here), ""), "must not be empty"},
		"no file name":   {write("/x/", strings.NewReader(""), remote.CopyOptions{}), "must be that of a file"},
		"no Reader":      {write("/x", nil, remote.CopyOptions{}), "r must not be nil"},
		"no Writer":      {read, "w must not be nil"},
		"zero handle":    {zero, "zero Resource"},
	} {
		if !errors.As(tc.err, new(*client.UsageError)) || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, tc.err, tc.want)
		}
	}
	has(t, here)
	_, err := remote.CopyFrom(t.Context(), r.pods, meta.Key{Namespace: "default", Name: "none"}, "/x", here, remote.CopyOptions{})
	if !errors.Is(err, apierrors.NotFound) {
		t.Errorf("a pod that is not there: %v", err)
	}
}

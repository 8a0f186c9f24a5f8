package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

// The test binary also plays a process that holds a lock, until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "hold" {
		f, err := tryLock(os.Args[2])
		fmt.Println(f != nil, err)
		select {}
	}
	os.Exit(m.Run())
}

// small returns embedded files with small programs, each of which prints its name.
func small() fstest.MapFS {
	files := fstest.MapFS{
		"module/1.9.mod.txt":   {Data: []byte("module servers\n\ngo 1.26.0\n\nreplace (\n\tk8s.io/kubernetes v1.9.3 => ./none\n)\n")},
		"module/1.9.sum.txt":   {},
		"lifeline/lifeline.go": {Data: []byte("package lifeline\n")},
	}
	for _, name := range names() {
		files["module/"+name+".go.txt"] = &fstest.MapFile{Data: fmt.Appendf(nil, "package main\n\nfunc main() { println(%q) }\n", name)}
	}
	return files
}

// newBuilder returns a builder of small programs with its own cache.
func newBuilder(t *testing.T) (*builder, *bytes.Buffer) {
	t.Helper()
	progress := &bytes.Buffer{}
	return &builder{
		files: small(), minor: "1.9", programs: []string{"etcd", "kube-apiserver"}, cache: t.TempDir(), progress: progress,
	}, progress
}

func says(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(path).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestProgramsAreBuiltOnce(t *testing.T) {
	b, progress := newBuilder(t)
	dir, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range b.programs {
		if said := says(t, Path(dir, name)); said != name {
			t.Errorf("%s said %q", name, said)
		}
	}
	for _, want := range []string{"building etcd, kube-apiserver of 1.9.3", "built in "} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("the progress is %q, want %q in it", progress, want)
		}
	}
	progress.Reset()
	t.Setenv("PATH", "") // a second start does not even need the go command
	if again, err := b.run(t.Context()); again != dir || err != nil || progress.Len() > 0 {
		t.Errorf("the second time: %s, %v, %q, want the same directory in silence", again, err, progress)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	want := []string{Path(dir, "etcd"), Path(dir, "kube-apiserver"), filepath.Join(dir, "lock")}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("the directory has %q, %v, want %q", left, err, want)
	}
}

func TestOtherFilesGiveOtherExecutables(t *testing.T) {
	b, _ := newBuilder(t)
	before, err := b.hash()
	if err != nil {
		t.Fatal(err)
	}
	files := small()
	files["module/etcd.go.txt"].Data = append(files["module/etcd.go.txt"].Data, '\n')
	b.files = files
	if after, err := b.hash(); err != nil || after == before {
		t.Errorf("the hash after a change is %s, %v, and it was the same before", after, err)
	}
	files = small()
	files["module/1.8.mod.txt"] = &fstest.MapFile{Data: []byte("module servers\n")}
	b.files = files
	if after, err := b.hash(); err != nil || after != before {
		t.Errorf("the hash is %s, %v with another minor release beside it, and %s without", after, err, before)
	}
}

func TestOneOfSeveralBuildsAndTheOthersWait(t *testing.T) {
	b, _ := newBuilder(t)
	var all sync.WaitGroup
	said := make([]bytes.Buffer, 4)
	errs := make([]error, len(said))
	for i := range said {
		other := *b
		other.progress = &said[i]
		all.Go(func() { _, errs[i] = other.run(t.Context()) })
	}
	all.Wait()
	builds := 0
	for i := range said {
		builds += strings.Count(said[i].String(), "building ")
	}
	if err := errors.Join(errs...); err != nil || builds != 1 {
		t.Errorf("%d builds, %v, want one", builds, err)
	}
}

func TestTheLockOfAKilledProcessIsFree(t *testing.T) {
	b, progress := newBuilder(t)
	path := filepath.Join(t.TempDir(), "lock")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(self, "hold", path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	var held bool
	var said string
	if _, err := fmt.Fscanln(out, &held, &said); err != nil || !held {
		t.Fatalf("the other process holds the lock: %t, %s, %v", held, said, err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errors.New("no longer"))
	defer cancel()
	if _, err := b.lock(ctx, path); err == nil || !strings.Contains(err.Error(), "wait for another process that builds in "+path+": no longer") {
		t.Errorf("the lock that another process holds: %v", err)
	}
	if !strings.Contains(progress.String(), "another process builds for 1.9; waiting for it") {
		t.Errorf("the progress is %q, want that it waits", progress)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // killed, as above
	release, err := b.lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestLeftoversOfAKilledBuildAreRemovedAndNotUsed(t *testing.T) {
	b, _ := newBuilder(t)
	hash, err := b.hash()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.cache, "1.9-"+hash)
	half := filepath.Join(dir, "build-123", "out", "etcd")
	if err := os.MkdirAll(filepath.Dir(half), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(half, []byte("half of it"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := says(t, Path(dir, "etcd")); said != "etcd" {
		t.Errorf("etcd said %q", said)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half of an executable is still there: %v", err)
	}
}

func TestABuildThatFailsSaysWhatIsMissing(t *testing.T) {
	const begins = "build etcd, kube-apiserver of Kubernetes 1.9.3: "
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, files fstest.MapFS)
		want    string
	}{
		{"no go command", func(t *testing.T, _ fstest.MapFS) { t.Setenv("PATH", t.TempDir()) }, "the go command builds the servers, and it is missing: "},
		{"a program that does not compile", func(_ *testing.T, files fstest.MapFS) {
			files["module/etcd.go.txt"].Data = []byte("package main\n\nfunc main() { missing() }\n")
		}, "undefined: missing"},
		{"a module that cannot be fetched", func(t *testing.T, files fstest.MapFS) {
			t.Setenv("GOPROXY", "off")
			t.Setenv("GOMODCACHE", t.TempDir())
			files["module/etcd.go.txt"].Data = []byte("package main\n\nimport _ \"example.com/none\"\n\nfunc main() {}\n")
			const sum = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
			files["module/1.9.sum.txt"].Data = []byte("example.com/none v1.0.0 " + sum + "example.com/none v1.0.0/go.mod " + sum)
			files["module/1.9.mod.txt"].Data = append(files["module/1.9.mod.txt"].Data, "require example.com/none v1.0.0\n"...)
		}, "module lookup disabled by GOPROXY=off"},
		{"a missing file", func(_ *testing.T, files fstest.MapFS) { delete(files, "module/1.9.sum.txt") }, "module/1.9.sum.txt: file does not exist"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, _ := newBuilder(t)
			files := small()
			b.files = files
			tc.prepare(t, files)
			_, err := b.run(t.Context())
			if err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want %s... %s", err, begins, tc.want)
			}
			if built, _ := filepath.Glob(filepath.Join(b.cache, "*", "[ek]*")); len(built) > 0 {
				t.Errorf("it left %q", built)
			}
		})
	}
}

func TestTheEndOfTheContextEndsABuild(t *testing.T) {
	b, _ := newBuilder(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no longer"))
	if _, err := b.run(ctx); err == nil || !strings.Contains(err.Error(), "no longer; the Go build cache keeps") {
		t.Errorf("the error is %v, want the cause of the context's end", err)
	}
}

func TestSettingsOfTheUserForOtherModulesHaveNoEffect(t *testing.T) {
	for _, setting := range []string{
		"GOFLAGS=-mod=vendor", "GOFLAGS=-tags=nothing -o=/dev/null", "GOWORK=/nowhere/go.work", "GO111MODULE=off", "GOOS=plan9",
		"GOTOOLCHAIN=local",
	} {
		t.Run(setting, func(t *testing.T) {
			name, value, _ := strings.Cut(setting, "=")
			t.Setenv(name, value)
			b, _ := newBuilder(t)
			b.programs = []string{"etcd"}
			dir, err := b.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if said := says(t, Path(dir, "etcd")); said != "etcd" {
				t.Errorf("etcd said %q", said)
			}
		})
	}
}

func TestAToolchainMayBeNewerThanTheUserSays(t *testing.T) {
	for value, want := range map[string]string{
		"": "auto", "local": "auto", "auto": "auto", "path": "path", "go1.26.1": "go1.26.1+auto", "go1.26.1+path": "go1.26.1+path", "local+path": "local+path",
	} {
		if got := newer(value); got != want {
			t.Errorf("GOTOOLCHAIN=%q becomes %q, want %q", value, got, want)
		}
	}
}

func TestUnusedExecutablesAreRemovedAfterABuild(t *testing.T) {
	b, _ := newBuilder(t)
	old, young := filepath.Join(b.cache, "1.8-old"), filepath.Join(b.cache, "1.8-young")
	for dir, age := range map[string]time.Duration{old: unused + time.Hour, young: unused - time.Hour} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{old: false, young: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(dir), err == nil, want)
		}
	}
}

func TestUseKeepsExecutablesYoung(t *testing.T) {
	b, _ := newBuilder(t)
	dir, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-unused)
	if err := os.Chtimes(dir, then, then); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("the directory is as old as before: %v, %v", info.ModTime(), err)
	}
}

func TestProgressIsToldFromComplaints(t *testing.T) {
	o := &output{}
	steps := []struct{ write, want string }{
		{"go: down", "nothing compiled yet"},
		{"loading k8s.io/api v0.37.2\n", "1 modules downloaded"},
		{"internal/abi\nk8s.io/api/core/v1\n# k8s.io/x\nx.go:1:2: wrong\n", "1 modules downloaded, 2 packages compiled, now k8s.io/api/core/v1"},
		{"servers/etcd\n", "1 modules downloaded, 3 packages compiled, now linking"},
		{"rest without an end", "1 modules downloaded, 3 packages compiled, now linking"},
	}
	for _, s := range steps {
		if n, err := o.Write([]byte(s.write)); n != len(s.write) || err != nil {
			t.Fatal(n, err)
		}
		if got := o.progress(); got != s.want {
			t.Errorf("after %q the progress is %q, want %q", s.write, got, s.want)
		}
	}
	if got, want := o.complaints(), "# k8s.io/x\nx.go:1:2: wrong\nrest without an end"; got != want {
		t.Errorf("the complaints are %q, want %q", got, want)
	}
}

func TestMinorReleasesAreKnownNewestFirst(t *testing.T) {
	if got, want := Minors(), []string{"1.37", "1.36", "1.35"}; !slices.Equal(got, want) {
		t.Errorf("the minor releases are %q, want %q", got, want)
	}
	files := fstest.MapFS{"module/1.9.mod.txt": {}, "module/1.10.mod.txt": {}, "module/1.10.sum.txt": {}}
	if got, want := minorsIn(files), []string{"1.10", "1.9"}; !slices.Equal(got, want) {
		t.Errorf("the minor releases are %q, want %q", got, want)
	}
	for _, minor := range Minors() {
		if release := Release(minor); !strings.HasPrefix(release, minor+".") {
			t.Errorf("the release of %s is %s", minor, release)
		}
		for from, to := range known(minor) {
			if info, err := fs.Stat(embedded, from); err != nil || info.Size() == 0 {
				t.Errorf("%s of %s: %v, want that it is embedded", to, minor, err)
			}
		}
	}
}

// known returns the files of a minor release.
func known(minor string) map[string]string { return files(minor) }

func TestAnUnknownMinorReleaseOrProgramIsAnError(t *testing.T) {
	for _, tc := range []struct{ minor, program, want string }{
		{"1.2", "etcd", `minor release of Kubernetes "1.2": must be one of ["1.37" "1.36" "1.35"], or empty for the newest`},
		{"", "kubelet", `program "kubelet": must be one of ["etcd" "kube-apiserver" "kube-controller-manager" "kubectl"]`},
	} {
		if _, err := Programs(t.Context(), tc.minor, []string{tc.program}, nil); err == nil || err.Error() != tc.want {
			t.Errorf("the error is %v, want %s", err, tc.want)
		}
	}
	if minor, err := Resolve(""); minor != Minors()[0] || err != nil {
		t.Errorf("no minor release means %s, %v, want the newest", minor, err)
	}
}

package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
)

func contentOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// onlyFiles makes sure that nothing else is left in a folder: no lock, no half of a file.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if strings.Join(have, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %q, want %q", dir, have, names)
	}
}

// behaviour 107, behaviour 89: of several files only the owner of a stanza is touched; what is new comes into the first.
func TestOnlyTheFileThatOwnsAStanzaIsTouched(t *testing.T) {
	for _, test := range []struct {
		name    string
		o       Options
		change  Change
		changed map[string]string // by file, what its text has after the change
		not     string            // what no file has after the change
	}{
		{
			"a user of the second",
			Options{},
			Change{Users: map[string]*User{"b": {Token: "new"}}},
			map[string]string{"2": "token: new"},
			"token-of-b",
		},
		{
			"a user that both have",
			Options{},
			Change{Users: map[string]*User{"both": {Token: "new"}}},
			map[string]string{"1": "token: new"},
			"",
		},
		{
			"a user that both have, deleted",
			Options{},
			Change{Users: map[string]*User{"both": nil}},
			map[string]string{"1": "token-of-a", "2": "token-of-b"},
			"name: both",
		},
		{
			"a new user",
			Options{},
			Change{Users: map[string]*User{"new": {Token: "new"}}},
			map[string]string{"missing": "apiVersion: v1\nkind: Config\nusers:\n- name: new\n  user:\n    token: new\n"},
			"",
		},
		{"the current context", Options{}, Change{Current: "b"}, map[string]string{"1": "current-context: b"}, "current-context: a"},
		{"the namespace of the current context", Options{}, Change{Namespace: "n"}, map[string]string{"1": `namespace: "n"`}, ""},
		{"the namespace of another", Options{Context: "b"}, Change{Namespace: "web"}, map[string]string{"2": "namespace: web"}, ""},
		{
			"both files",
			Options{},
			Change{Users: map[string]*User{"a": {Token: "new-a"}, "b": {Token: "new-b"}}},
			map[string]string{"1": "new-a", "2": "new-b"},
			"token-of",
		},
		{"neither", Options{}, Change{Current: "a", Users: map[string]*User{"x": nil}}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := environment(t)
			dir := filepath.Join(home, "configs")
			both := "- name: both\n  user: {token: both}\n"
			write(t, filepath.Join(dir, "1"), simple("a")+both)
			write(t, filepath.Join(dir, "2"), simple("b")+both)
			list := []string{filepath.Join(dir, "missing"), filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "link")}
			if err := os.Symlink("1", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", strings.Join(list, string(filepath.ListSeparator)))
			before := map[string]string{"1": simple("a") + both, "2": simple("b") + both}
			if err := Write(t.Context(), test.o, test.change); err != nil {
				t.Fatal(err)
			}
			names := []string{"1", "2", "link"}
			if test.changed["missing"] != "" {
				names = append(names, "missing")
			}
			onlyFiles(t, dir, names...)
			for _, name := range names {
				got := contentOf(t, filepath.Join(dir, name))
				part, changed := test.changed[name]
				switch {
				case name == "link":
				case !changed && got != before[name]:
					t.Errorf("file %s is touched:\n%s", name, got)
				case changed && (got == before[name] || !strings.Contains(got, part)):
					t.Errorf("file %s is\n%s, want %q in it", name, got, part)
				}
				if test.not != "" && strings.Contains(got, test.not) && (changed || name == "link") {
					t.Errorf("file %s has %q in it:\n%s", name, test.not, got)
				}
			}
		})
	}
}

func TestANewFileIsPrivateToItsOwner(t *testing.T) {
	home := environment(t)
	change := Change{
		Contexts: map[string]*Context{"c": {Cluster: "c", User: "u"}}, Current: "c",
		Clusters: map[string]*Cluster{"c": {Server: "https://s"}}, Users: map[string]*User{"u": {Token: "t"}},
	}
	if err := Write(t.Context(), Options{}, change); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, ".kube", "config")
	for path, want := range map[string]fs.FileMode{file: 0o600, filepath.Dir(file): 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || othersRead(0o644) && info.Mode() != want {
			t.Errorf("%s has %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	l, err := Load(Options{})
	if err != nil || l.Config.BearerToken != "t" || len(l.Warnings) > 0 {
		t.Errorf("loaded %v, %v", l, err)
	}
	onlyFiles(t, filepath.Dir(file), "config")
}

// behaviour 107: of several files none is replaced before all of them are ready.
func TestWriteReplacesNoFileIfOneCannotBeWritten(t *testing.T) {
	home := environment(t)
	dir := filepath.Join(home, "configs")
	first := write(t, filepath.Join(dir, "1"), simple("a"))
	second := write(t, filepath.Join(dir, "2"), `{"users": [{"name": "b"}], "half": "\ud800"}`)
	t.Setenv("KUBECONFIG", first+string(filepath.ListSeparator)+second)
	err := Write(t.Context(), Options{}, Change{Users: map[string]*User{"a": {Token: "new"}, "b": {Token: "new"}}})
	if err == nil || !strings.HasPrefix(err.Error(), "kubeconfig "+second+": cannot be changed: ") {
		t.Errorf("error is %v", err)
	}
	if contentOf(t, first) != simple("a") || !strings.Contains(contentOf(t, second), "half") {
		t.Error("a file has changed")
	}
	onlyFiles(t, dir, "1", "2")
}

// What Write writes is what Load reads.
func TestAPluginThatIsWrittenIsLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	o := Options{Path: file, Plugins: Plugins{Restricted: true, Allowed: []string{"get-token"}, AllowedEnv: []string{"B", "A"}}}
	err := Write(t.Context(), o, Change{
		Clusters: map[string]*Cluster{"c": {Server: "https://s"}},
		Users: map[string]*User{"u": {As: "anna", Exec: Exec{
			APIVersion: "client.authentication.k8s.io/v1", Command: "get-token", Args: []client.Secret{"--for", "c"},
			Env: map[string]client.Secret{"A": "1", "B": ""}, InteractiveMode: "IfAvailable", InstallHint: "install it", ClusterInfo: true,
		}}},
		Contexts: map[string]*Context{"x": {Cluster: "c", User: "u"}}, Current: "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Load(o)
	if err != nil || l.Config.Credentials == nil || l.Config.Impersonate.User != "anna" || len(l.Warnings) > 0 {
		t.Errorf("loaded %v, %v", l, err)
	}
}

// The current context that is deleted is not replaced by whatever another file says: that would be another cluster.
func TestADeletedCurrentContextIsNotReplacedByAnother(t *testing.T) {
	home := environment(t)
	first := write(t, filepath.Join(home, "1"), simple("a"))
	second := write(t, filepath.Join(home, "2"), simple("b"))
	t.Setenv("KUBECONFIG", first+string(filepath.ListSeparator)+second)
	if err := Write(t.Context(), Options{}, Change{Contexts: map[string]*Context{"a": nil}}); err != nil {
		t.Fatal(err)
	}
	l, err := Load(Options{})
	if want := "kubeconfig " + first + `: current-context: context "a" not found`; err == nil || err.Error() != want {
		t.Errorf("loaded %v, %v", l, err)
	}
}

// guarantee S6: a link of the user's own stays, and what it points to is replaced; nothing is written through it.
func TestALinkStaysAndItsFileIsReplaced(t *testing.T) {
	home := environment(t)
	real := write(t, filepath.Join(home, "dotfiles", "kube", "config"), simple("a"))
	if err := os.Mkdir(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, ".kube", "config")
	for from, to := range map[string]string{link: "../linked/kube/config", filepath.Join(home, "linked"): "dotfiles"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := os.Open(real)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := Write(t.Context(), Options{}, Change{Namespace: "web"}); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "../linked/kube/config" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if l, err := Load(Options{}); err != nil || l.Namespace != "web" {
		t.Errorf("loaded %v, %v", l, err)
	}
	before, err := opened.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(real); err != nil || os.SameFile(before, after) {
		t.Errorf("the file was written and not replaced: %v", err)
	}
	onlyFiles(t, filepath.Dir(real), "config")
	onlyFiles(t, filepath.Dir(link), "config")
}

// A link means what the system takes it for, so that Write changes the file that Load reads: .. after a link is not the
// folder of the link. What does not exist yet has one lock, whatever leads to it.
func TestAFileIsFoundBehindLinksAsTheSystemFindsIt(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, "far", "config"), simple("a"))
	write(t, filepath.Join(dir, "config"), simple("b"))
	if err := os.MkdirAll(filepath.Join(dir, "far", "away"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"there": "far/away", "link": "there/../config"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := Write(t.Context(), Options{Path: link}, Change{Namespace: "web"}); err != nil {
		t.Fatal(err)
	}
	if l, err := Load(Options{Path: link}); err != nil || l.Namespace != "web" || l.Context != "a" {
		t.Errorf("loaded %v, %v; the file is %s", l, err, file)
	}

	missing := filepath.Join(dir, "there", "new", "config")
	if err := Write(t.Context(), Options{Path: missing}, Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}}); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, filepath.Join(dir, "far", "away", "new"), "config")
}

func TestWriteReplacesOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		dir:  "cannot be changed: is a directory",
		loop: "cannot be changed: its path leads through more than 40 symbolic links",
		filepath.Join(write(t, filepath.Join(dir, "file"), ""), "config"): "cannot be changed: not a directory",
		os.DevNull: "cannot be changed: it is not a regular file",
	} {
		err := Write(t.Context(), Options{Path: file}, Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}})
		if err == nil || err.Error() != "kubeconfig "+file+": "+want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	environment(t)
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	err := Write(t.Context(), Options{}, Change{})
	if want := "write a kubeconfig: KUBECONFIG is not set, and the home directory is not known"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// behaviour 107: a lock of somebody else is respected, as long as somebody waits.
func TestALockIsWaitedForAndNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := write(t, filepath.Join(t.TempDir(), "config"), simple("a"))
		lock := write(t, file+".lock", "")
		change := Change{Namespace: "web"}
		text := "write a kubeconfig: the lock " + lock + " is held; if no program holds it any longer, remove it"

		err := Write(t.Context(), Options{Path: file}, change)
		if e := (*lockedError)(nil); !errors.As(err, &e) || e.lock != lock || err.Error() != text {
			t.Errorf("error is %v, want %s", err, text)
		}

		ctx, cancel := context.WithTimeout(t.Context(), lockWait/2)
		defer cancel()
		err = Write(ctx, Options{Path: file}, change)
		if want := text + ": context deadline exceeded"; !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		err = Write(ctx, Options{Path: file}, change)
		if want := "write a kubeconfig: context deadline exceeded"; !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		if contentOf(t, file) != simple("a") {
			t.Error("the file has changed")
		}

		done := make(chan error)
		go func() { done <- Write(t.Context(), Options{Path: file}, change) }()
		synctest.Wait()
		// Whoever holds the lock changes the file, too.
		write(t, file, simple("a")+"x: y\n")
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := contentOf(t, file); !strings.Contains(got, "namespace: web") || !strings.Contains(got, "x: y\n") {
			t.Errorf("file is\n%s", got)
		}
		onlyFiles(t, filepath.Dir(file), "config")
	})
}

// behaviour 107: each change is there in the end, and whoever reads in between reads a whole file.
func TestManyWritersLoseNothing(t *testing.T) {
	home := environment(t)
	files := []string{filepath.Join(home, "a"), filepath.Join(home, "b")}
	write(t, files[1], simple("b"))
	t.Setenv("KUBECONFIG", strings.Join(files, string(filepath.ListSeparator)))
	const writers = 24
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			name := fmt.Sprint("u", i)
			o := Options{}
			if i%3 == 0 {
				o.Path = files[1]
			}
			change := Change{Users: map[string]*User{name: {Token: client.Secret("t" + name)}}}
			if i%2 == 0 { // both files at once
				change.Clusters = map[string]*Cluster{"b": {Server: "https://b", ServerName: name}}
			}
			err := Write(t.Context(), o, change)
			for errors.As(err, new(*lockedError)) { // the disk is slow: 10 s were not enough for all others
				err = Write(t.Context(), o, change)
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := Load(Options{Context: "b"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text := contentOf(t, files[0]) + contentOf(t, files[1])
	for i := range writers {
		if name := fmt.Sprint("u", i); strings.Count(text, "token: t"+name+"\n") != 1 {
			t.Errorf("the user %s is lost", name)
		}
	}
	onlyFiles(t, home, "a", "b")
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// files has a repository with a module at the root, a public one below it, and one of the proof.
func files(t *testing.T) repository {
	t.Helper()
	r := repository{t.TempDir()}
	for name, text := range map[string]string{
		"go.mod":                  "module example.org/m\n\ngo 1.26\n",
		"m.go":                    "package m\n",
		"LICENSE":                 "free\n",
		"testdata/a.txt":          "a\n",
		"CHANGELOG.md":            "# Changelog\n\n## 0.2.0, not released yet\n\n- All.\n",
		"sub/go.mod":              "module example.org/m/sub\n\ngo 1.26\n\nrequire example.org/m v0.1.0\n\nreplace example.org/m => ..\n",
		"sub/sub.go":              "package sub\n",
		"internal/proof/x/go.mod": "module example.org/m/internal/proof/x\n\ngo 1.26\n",
		lists + "/m.txt":          "func A()\nfunc B()\n",
	} {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "user.name", "a"},
		{"config", "user.email", "a@example.org"},
		{"config", "commit.gpgsign", "false"},
		{"config", "tag.gpgsign", "false"},
		{"add", "-A"},
		{"commit", "-q", "-m", "first"},
	} {
		if _, err := r.git(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r repository) text(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.git(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAReleaseIsACommitAndATagForEachModule(t *testing.T) {
	r := files(t)
	if err := r.ready(t.Context(), "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	modules, err := r.release(t.Context(), "v0.2.0", time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) != 2 || modules[0].path != "example.org/m" || modules[1].path != "example.org/m/sub" {
		t.Errorf("the modules are %+v", modules)
	}
	if got := r.text(t, "tag", "--list"); got != "sub/v0.2.0\nv0.2.0\n" {
		t.Errorf("the tags are %q", got)
	}
	if got := r.text(t, "cat-file", "-t", "v0.2.0"); got != "tag\n" {
		t.Errorf("the tag is a %q", got)
	}
	if got := r.text(t, "show", "sub/v0.2.0:sub/go.mod"); !strings.Contains(got, "require example.org/m v0.2.0") || !strings.Contains(got, "replace") {
		t.Errorf("the nested module says\n%s", got)
	}
	if got := r.text(t, "show", "v0.2.0:CHANGELOG.md"); !strings.Contains(got, "## 0.2.0, 2030-01-02\n") {
		t.Errorf("the changelog says\n%s", got)
	}
	if got := r.text(t, "status", "--porcelain"); got != "" {
		t.Errorf("the tree has changes: %s", got)
	}
	if last, err := r.lastVersion(t.Context()); err != nil || last != "v0.2.0" {
		t.Errorf("the last version is %q, %v", last, err)
	}
	proxy := t.TempDir()
	for _, m := range modules {
		if err := r.pack(t.Context(), m, "v0.2.0", proxy); err != nil {
			t.Errorf("%s: %v", m.path, err)
		}
	}
	for _, name := range []string{"example.org/m/@v/v0.2.0.zip", "example.org/m/sub/@v/v0.2.0.mod", "example.org/m/sub/@v/list"} {
		if _, err := os.Stat(filepath.Join(proxy, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	dist := filepath.Join(t.TempDir(), "dist")
	if err := r.packAll(t.Context(), "v0.2.0", dist); err != nil {
		t.Error(err)
	}
	if names, err := filepath.Glob(filepath.Join(dist, "*")); err != nil || len(names) != 2 || filepath.Base(names[1]) != "sub-v0.2.0.zip" {
		t.Errorf("packed %q, %v", names, err)
	}
	if err := r.ready(t.Context(), "v0.2.0"); err == nil || !strings.Contains(err.Error(), "there are tags of v0.2.0: sub/v0.2.0, v0.2.0") {
		t.Errorf("a second release is %v", err)
	}
}

func TestPackRefusesAModuleWithMissingFiles(t *testing.T) {
	for _, test := range []struct {
		name, without, want string
		attributes          string
	}{
		{"a licence", "LICENSE", "it has no LICENSE", ""},
		{"a file of a test", "", "it lacks testdata/a.txt", "testdata/a.txt export-ignore\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := files(t)
			if test.without != "" {
				r.text(t, "rm", "-q", test.without)
			}
			if err := os.WriteFile(filepath.Join(r.dir, ".gitattributes"), []byte(test.attributes), 0o644); err != nil {
				t.Fatal(err)
			}
			r.text(t, "add", "-A")
			modules, err := r.release(t.Context(), "v0.2.0", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.pack(t.Context(), modules[0], "v0.2.0", t.TempDir()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

func TestReadyRefusesATreeThatIsNotReady(t *testing.T) {
	r := files(t)
	for _, version := range []string{"", "0.2.0", "v0.2", "v0.2.0+a", "latest"} {
		if err := r.ready(t.Context(), version); err == nil || !strings.Contains(err.Error(), "must be vMAJOR.MINOR.PATCH") {
			t.Errorf("%q: %v", version, err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.ready(t.Context(), "v0.2.0"); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Errorf("a file that is not committed: %v", err)
	}
}

func TestTheVersionFollowsFromTheExportedNames(t *testing.T) {
	for _, test := range []struct {
		last, version string
		change        string // of the list, whose lines are A and B
		want          string // of the error; empty for none
	}{
		{"v0.1.0", "v0.1.1", "func A()\nfunc B()\n", ""},
		{"v0.1.0", "v0.1.1", "func A()\nfunc B()\nfunc C()\n", "must not be a patch:\nm.txt: func C()"},
		{"v0.1.0", "v0.1.1", "func A()\n", "must not be a patch:\nm.txt: func B()"},
		{"v0.1.0", "v0.2.0", "func A()\n", ""},
		{"v1.0.0", "v1.1.0", "func A()\n", "must be a major version:\nm.txt: func B()"},
		{"v1.0.0", "v1.1.0", "func A()\nfunc B()\nfunc C()\n", ""},
		{"v1.0.0", "v2.0.0", "func A()\n", ""},
		{"v1.0.0", "v0.9.0", "func A()\nfunc B()\n", "must be greater than the last version, v1.0.0"},
	} {
		t.Run(test.last+" "+test.version, func(t *testing.T) {
			r := files(t)
			r.text(t, "tag", "-a", test.last, "-m", "x")
			if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(lists), "m.txt"), []byte(test.change), 0o644); err != nil {
				t.Fatal(err)
			}
			last, err := r.lastVersion(t.Context())
			if err != nil || last != test.last {
				t.Fatalf("the last version is %q, %v", last, err)
			}
			err = r.permits(t.Context(), last, test.version)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestASectionOfTheChangelogGetsItsDate(t *testing.T) {
	for name, text := range map[string]string{
		"none":    "# Changelog\n",
		"another": "# Changelog\n\n## 0.3.0, not released yet\n\n- All.\n",
		"dated":   "# Changelog\n\n## 0.2.0, 2030-01-02\n\n- All.\n",
		"twice":   "# Changelog\n\n## 0.2.0, not released yet\n\n- All.\n\n## 0.2.0, not released yet\n\n- All.\n",
		"empty":   "# Changelog\n\n## 0.2.0, not released yet\n\n## 0.1.0, 2030-01-01\n\n- All.\n",
	} {
		if got, err := date(text, "v0.2.0", time.Now()); err == nil {
			t.Errorf("%s gives %q", name, got)
		}
	}
}

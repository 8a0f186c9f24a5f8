package remote

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestEntryName(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "./a": "a", "a/": "a", "./a//b/./c/": "a/b/c", ".": "", "./": "", "..a": "..a", "a..": "a..", "...": "...", "a\nb": "a\nb", "\xff": "\xff",
	} {
		if got, err := entryName(name); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "/", "/a", "..", "a/..", "../a", "a/../b", "./..", "a\x00", strings.Repeat("a", 256), strings.Repeat("a/", 256)} {
		if got, err := entryName(name); err == nil {
			t.Errorf("%q: %q", name, got)
		}
	}
	for base, name := range map[string]string{"a": "ab", "b": "a/b", "a/b": "a", "x": "./"} {
		if got, err := within(name, base); err == nil && got != "" {
			t.Errorf("%q is %q in %q", name, got, base)
		}
	}
}

func TestLinkTarget(t *testing.T) {
	for _, tc := range []struct {
		name, target string
		ok           bool
	}{
		{"l", "a", true},
		{"l", "./a//b/", true},
		{"l", ".", true},
		{"a/l", "..", true},
		{"a/l", "../b", true},
		{"a/b/l", ".././../c/d", true},
		{"l", "..data", true},
		{"l", "..", false},
		{"l", "../x", false},
		{"a/l", "../..", false},
		{"a/l", "./../../x", false},
		{"a/l", "b/..", false},
		{"a/l", "../b/../..", false},
		{"l", "", false},
		{"l", "/", false},
		{"l", "/a", false},
		{"l", "a\x00b", false},
		{"l", strings.Repeat("x", 5000), false},
	} {
		if err := linkTarget(tc.name, tc.target); (err == nil) != tc.ok {
			t.Errorf("%q -> %q: %v", tc.name, tc.target, err)
		}
	}
}

func TestWindowsPart(t *testing.T) {
	for _, part := range []string{"a", "a b", "a.b", "..a", "COM", "COM10", "COMA", "LPTX", "NULL", "é", "-", "CONFIG", "com.1"} {
		if err := windowsPart(part); err != nil {
			t.Errorf("%q: %v", part, err)
		}
	}
	for _, part := range []string{
		`a\b`, "a:b", "a*", "a?", `"`, "<", ">", "|", "a\n", "\x01", "a.", "a ", "...", "NUL", "nul", "nul.txt", "NUL .txt", "con", "aux.a.b", "COM1", "com9.x", "LPT0", "COM¹", "conin$",
	} {
		if err := windowsPart(part); err == nil {
			t.Errorf("%q is allowed", part)
		}
	}
}

func TestSplitPath(t *testing.T) {
	for name, want := range map[string][2]string{
		"/": {"/", ""}, "/a": {"/", "a"}, "/a/b": {"/a/", "b"}, "a": {".", "a"}, "a/b": {"a/", "b"}, "/a/": {"/a/", ""}, "/a/.": {"/a/.", ""}, "..": {"..", ""},
		"-a/b": {"./-a/", "b"}, "-a": {".", "-a"}, "-a/": {"./-a/", ""}, "C:/x/y": {"C:/x/", "y"},
	} {
		if parent, base := splitPath(name); parent != want[0] || base != want[1] {
			t.Errorf("%q: %q and %q, want %q", name, parent, base, want)
		}
	}
}

// How container runtimes say that a program is missing.
func TestIsMissing(t *testing.T) {
	c := &Cmd{what: "exec", key: meta.Key{Namespace: "n", Name: "p"}}
	status := func(text string) error {
		return fmt.Errorf("wrapped: %w", apierrors.FromStatus(meta.Status{Status: "Failure", Reason: "InternalError", Code: 500, Message: text}))
	}
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"exit code 126", &ExitError{Code: 126, where: c.where()}, true},
		{"exit code 127", fmt.Errorf("wrapped: %w", &ExitError{Code: 127, where: c.where()}), true},
		{"exit code 1", &ExitError{Code: 1, where: c.where()}, false},
		{"exit code 2", &ExitError{Code: 2, where: c.where()}, false},
		{"containerd", status(`Internal error occurred: error executing command in container: failed to exec in container: failed to start exec "0123": ` +
			`OCI runtime exec failed: exec failed: unable to start container process: exec: "tar": executable file not found in $PATH: unknown`), true},
		{"crun", status("error executing command in container: exec failed: executable file `tar` not found in $PATH: No such file or directory"), true},
		{"docker", status(`exec failed: container_linux.go:348: starting container process caused "exec: \"tar\": stat tar: no such file or directory": unknown`), true},
		{"not executable", status(`OCI runtime exec failed: exec failed: unable to start container process: exec: "tar": permission denied: unknown`), true},
		{"Windows", status(`failed to find executable "tar": unknown`), true},
		{"gVisor", status(`error loading executable: exec tar: no such file or directory`), true},
		{"another program", status(`exec: "sh": permission denied`), false},
		{"no container", status(`container not found ("app")`), false},
		{"no folder", status(`OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd ("/x") set in config.json failed: no such file or directory`), false},
		{"no pod", status(`pods "tar" not found`), false},
		{"another error", errors.New("executable file not found"), false},
	} {
		if got := isMissing("tar", tc.err); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

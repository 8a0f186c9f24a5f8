package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// behaviour 120
func TestAnInvalidPolicyIsAnError(t *testing.T) {
	for _, test := range []struct {
		name string
		o    Plugins
		want string
	}{
		{"a list without Restricted", Plugins{Allowed: []string{"aws"}}, "Allowed must be nil unless Restricted is set"},
		{"an empty list without Restricted", Plugins{Allowed: []string{}}, "Allowed must be nil unless Restricted is set"},
		{
			"an empty entry",
			Plugins{Restricted: true, Allowed: []string{"aws", ""}},
			`Allowed[1] must be a name or an absolute path, got ""`,
		},
		{
			"a folder",
			Plugins{Restricted: true, Allowed: []string{".."}},
			`Allowed[0] must be a name or an absolute path, got ".."`,
		},
		{
			"a relative path",
			Plugins{Restricted: true, Allowed: []string{"bin/aws"}},
			`Allowed[0] must be a name or a clean absolute path, got "bin/aws"`,
		},
		{
			"a path that is not clean",
			Plugins{Restricted: true, Allowed: []string{"/usr/bin/../bin/aws"}},
			`Allowed[0] must be a name or a clean absolute path, got "/usr/bin/../bin/aws"`,
		},
		{
			"variables without Restricted",
			Plugins{AllowedEnv: []string{"A"}},
			"AllowedEnv must be nil unless Restricted is set",
		},
		{
			"a variable without a name",
			Plugins{Restricted: true, Allowed: []string{"aws"}, AllowedEnv: []string{"A", ""}},
			`AllowedEnv[1] must be the name of a variable, got ""`,
		},
		{
			"a variable with its value",
			Plugins{Restricted: true, Allowed: []string{"aws"}, AllowedEnv: []string{"A=b"}},
			`AllowedEnv[0] must be the name of a variable, got "A=b"`,
		},
		{
			"a pattern",
			Plugins{Restricted: true, Allowed: []string{"aws"}, AllowedEnv: []string{"AWS_*"}},
			`AllowedEnv[0] must be the name of a variable, got "AWS_*"`,
		},
		{"a negative timeout", Plugins{Timeout: -time.Second}, "Timeout must not be negative, got -1s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := "kubeconfig.Options: Plugins." + test.want
			data := []byte(one(someServer, `token: abc`)) // no plugin at all
			if l, err := Parse(data, Options{Plugins: test.o}); err == nil || err.Error() != want || l.Context != "" {
				t.Errorf("Parse: error is\n%v, want\n%v", err, want)
			}
			file := write(t, filepath.Join(t.TempDir(), "config"), string(data))
			if l, err := Load(Options{Path: file, Plugins: test.o}); err == nil || err.Error() != want || l.Context != "" {
				t.Errorf("Load: error is\n%v, want\n%v", err, want)
			}
		})
	}
}

// Under an allow-list, a kubeconfig could make the program that is allowed run anything: with LD_PRELOAD, for instance.
func TestAnAllowlistRestrictsVariablesToo(t *testing.T) {
	const plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: aws, env: [{name: AWS_PROFILE, value: a}, {name: %s, value: s3cr3t}]}"
	some := Plugins{Restricted: true, Allowed: []string{"aws"}, AllowedEnv: []string{"AWS_PROFILE"}}
	for _, name := range []string{
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS", "BASH_ENV", "HOME",
		"AWS_CONFIG_FILE", "AWS_PROFILE2", "AWS_PROFIL", "aws_profile", "KUBERNETES_EXEC_INFO",
	} {
		if runtime.GOOS == "windows" && name == "aws_profile" { // where that is the one that is allowed
			continue
		}
		data := []byte(one(someServer, fmt.Sprintf(plugin, name)))
		l, err := Parse(data, Options{Path: "/c", Plugins: some})
		want := fmt.Sprintf(`kubeconfig /c: users["u"].exec.env[1]: name %q is not allowed: Options.Plugins.AllowedEnv has no such variable`, name)
		if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) || l.Config.Credentials != nil {
			t.Errorf("loaded %v, %v, want %s", l, err, want)
		}
		for _, all := range []Plugins{{}, {Restricted: true, Allowed: []string{"aws"}, AllowedEnv: []string{name, "AWS_PROFILE"}}} {
			if l, err := Parse(data, Options{Path: "/c", Plugins: all}); err != nil || l.Config.Credentials == nil {
				t.Errorf("with %+v loaded %v, %v", all, l, err)
			}
		}
		all := Plugins{Restricted: true, Allowed: []string{"aws"}} // the zero value admits none
		if _, err := Parse(data, Options{Path: "/c", Plugins: all}); err == nil || !strings.Contains(err.Error(), `env[0]: name "AWS_PROFILE" is not allowed`) {
			t.Errorf("without AllowedEnv the error is %v", err)
		}
	}
}

// behaviour 120
func TestAPolicyIsAskedWhenAKubeconfigIsLoaded(t *testing.T) {
	const notListed = `is not allowed: Options.Plugins.Allowed has no "%s"`
	list := func(allowed ...string) Plugins { return Plugins{Restricted: true, Allowed: allowed} }
	for _, test := range []struct {
		name, command string
		o             Plugins
		want          string
	}{
		{"all", "aws", Plugins{}, ""},
		{"none", "aws", Plugins{Restricted: true}, notListed},
		{"an empty list", "aws", list(), notListed},
		{"a name that is listed", "aws", list("gke", "aws"), ""},
		{"a name that is not", "aws", list("gke"), notListed},
		{"a name in other letters", "AWS", list("aws"), notListed},
		{"a path that is listed", "/usr/bin/aws", list("/usr/bin/aws"), ""},
		{"a path that is listed once it is clean", "/usr/bin/../bin//aws", list("/usr/bin/aws"), ""},
		{"a path that is not", "/tmp/aws", list("/usr/bin/aws"), notListed},
		{"a path below one that is listed", "/usr/bin/aws/x", list("/usr/bin/aws"), notListed},
		{"a name that PATH may have where the list says", "aws", list("/usr/bin/aws"), ""},
		{"a path that may be what PATH has", "/usr/bin/aws", list("aws"), ""},
		{"a path with another name", "/usr/bin/rm", list("aws"), notListed},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(one(someServer, `exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: `+
				test.command+`}`)), Options{Plugins: test.o})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			want := `kubeconfig: users["u"].exec: command ` + strings.ReplaceAll(test.want, "%s", test.command)
			if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("error is\n%v, want\n%v", err, want)
			}
		})
	}
}

// behaviour 120, behaviour 91: what counts is the file that would be executed.
func TestAPolicyIsAskedAgainBeforeAPluginRuns(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := func(elements ...string) string {
		path := filepath.Join(append([]string{dir}, elements...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second := link("first", "get-token"), link("second", "get-token")
	t.Setenv("PATH", filepath.Dir(first)+string(os.PathListSeparator)+filepath.Dir(second))
	list := func(allowed ...string) Plugins { return Plugins{Restricted: true, Allowed: allowed} }
	for _, test := range []struct {
		name, command string
		o             Plugins
		runs          bool
	}{
		{"all", "get-token", Plugins{}, true},
		{"the name", "get-token", list("get-token"), true},
		{"the file that PATH has first", "get-token", list(first), true},
		{"a file that PATH has later", "get-token", list(second), false},
		{"the path for a name", first, list("get-token"), true},
		{"another file of that name", second, list("get-token"), false},
		{"the link by itself", first, list(first), true},
		{"a link to what is allowed", first, list(self), false},
		{"one of many", second, list("aws", "nothing-of-that-name", second), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := pluginOf(t, someServer, stanzaOf(t, "print", "", printToken(v1, "abc")), Plugins{})
			p.command, p.plugins = test.command, test.o // as if the file system had changed since it was loaded
			c, err := p.fetch(t.Context())
			if test.runs {
				if err != nil || c.Token != "abc" {
					t.Errorf("fetched %v, %v", c, err)
				}
				return
			}
			failed := (*PluginError)(nil)
			if !errors.As(err, &failed) || !errors.Is(err, fs.ErrPermission) || failed.err != notListed(test.command) && failed.err != notListed(first) {
				t.Errorf("fetched %v, %v", c, err)
			}
		})
	}
	p := pluginOf(t, someServer, stanzaOf(t, "print", "", printToken(v1, "abc")), Plugins{})
	if p.plugins.Restricted = true; !errors.Is(p.plugins.allows(first), fs.ErrPermission) || p.plugins.permits("x") == nil {
		t.Error("without a list a plugin is allowed")
	}
}

// behaviour 91
func TestAPluginIsNotRunFromTheCurrentDirectory(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Symlink(self, filepath.Join(dir, "get-token")); err != nil {
		t.Fatal(err)
	}
	for _, godebug := range []string{"", "execerrdot=0"} {
		for _, path := range []string{".", "", "../" + filepath.Base(dir)} {
			t.Setenv("GODEBUG", godebug)
			t.Setenv("PATH", path+string(os.PathListSeparator)+"/nowhere")
			if found, err := find("get-token"); err == nil {
				t.Errorf("with the PATH %q it is %s", path, found)
			}
		}
	}
}

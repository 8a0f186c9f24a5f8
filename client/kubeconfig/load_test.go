package kubeconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/regular"
)

// account makes the folder of a service account and pretends that the test runs in a pod.
func account(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	write(t, filepath.Join(folder, "token"), "pod-token")
	write(t, filepath.Join(folder, "namespace"), "pods-own\n")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	return folder
}

// behaviour 90, behaviour 87
func TestTheFirstPlaceWithAConfigurationIsUsed(t *testing.T) {
	for _, test := range []struct {
		name       string
		path       string            // Options.Path, in the home directory
		kubeconfig []string          // KUBECONFIG, in the home directory
		files      map[string]string // what is in the home directory
		pod        bool
		origin     string // in the home directory, or in-cluster
		server     string
		skipped    []string
	}{
		{
			name: "an explicit path before everything else", path: "explicit", kubeconfig: []string{"a"}, pod: true,
			files:  map[string]string{"explicit": simple("explicit"), "a": simple("a"), ".kube/config": simple("home")},
			origin: "explicit", server: "https://explicit",
		},
		{
			name: "KUBECONFIG before the home directory", kubeconfig: []string{"a"}, pod: true,
			files:  map[string]string{"a": simple("a"), ".kube/config": simple("home")},
			origin: "a", server: "https://a",
		},
		{
			name: "missing files of KUBECONFIG are skipped", kubeconfig: []string{"missing", "a", "gone", "missing"},
			files:  map[string]string{"a": simple("a"), ".kube/config": simple("home")},
			origin: "a", server: "https://a", skipped: []string{"missing", "gone"},
		},
		{
			name: "the home directory before the pod", pod: true,
			files:  map[string]string{".kube/config": simple("home")},
			origin: ".kube/config", server: "https://home",
		},
		{
			name: "the pod, when there is no file", pod: true,
			origin: "in-cluster", server: "https://10.0.0.1:443",
		},
		{
			name: "the pod, when the file has nothing in it", pod: true,
			files:  map[string]string{".kube/config": "apiVersion: v1\nkind: Config\n"},
			origin: "in-cluster", server: "https://10.0.0.1:443",
		},
		{
			name:       "the pod and not the home directory, when KUBECONFIG names missing files only",
			kubeconfig: []string{"missing"}, pod: true,
			files:  map[string]string{".kube/config": simple("home")},
			origin: "in-cluster", server: "https://10.0.0.1:443", skipped: []string{"missing"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := environment(t)
			within := func(names ...string) (paths []string) {
				for _, name := range names {
					paths = append(paths, filepath.Join(home, name))
				}
				return paths
			}
			for name, content := range test.files {
				write(t, filepath.Join(home, name), content)
			}
			t.Setenv("KUBECONFIG", strings.Join(within(test.kubeconfig...), string(filepath.ListSeparator)))
			folder := "/nowhere"
			if test.pod {
				folder = account(t)
			}
			o := Options{}
			if test.path != "" {
				o.Path = within(test.path)[0]
			}
			l, err := load(o, folder)
			if err != nil {
				t.Fatal(err)
			}
			origin := test.origin
			if origin != "in-cluster" {
				origin = within(origin)[0]
			}
			if l.Origin != origin || l.Config.Server != test.server {
				t.Errorf("loaded %s from %s, want %s from %s", l.Config.Server, l.Origin, test.server, origin)
			}
			var skipped []string
			for _, warning := range l.Warnings {
				if file, is := strings.CutSuffix(warning, " does not exist, and was skipped"); is {
					skipped = append(skipped, strings.TrimPrefix(file, "kubeconfig "))
				}
			}
			if !reflect.DeepEqual(skipped, within(test.skipped...)) {
				t.Errorf("skipped %q, want %q; the warnings are %q", skipped, test.skipped, l.Warnings)
			}
		})
	}
}

// behaviour 87, behaviour 88: the error names the file, and says what the system said.
func TestAFileThatCannotBeReadIsAnErrorThatNamesIt(t *testing.T) {
	for _, test := range []struct {
		name     string
		explicit bool
		file     func(t *testing.T, dir string) string
		says     string
		is       error
	}{
		{"an explicit file that is missing", true, func(_ *testing.T, dir string) string {
			return filepath.Join(dir, "missing")
		}, "cannot be read: ", fs.ErrNotExist},
		{
			"an explicit directory", true, func(_ *testing.T, dir string) string { return dir },
			"cannot be read: is a directory", regular.ErrDirectory,
		},
		{
			"a directory in KUBECONFIG", false, func(_ *testing.T, dir string) string { return dir },
			"cannot be read: is a directory", regular.ErrDirectory,
		},
		{"a link to itself in KUBECONFIG", false, func(t *testing.T, dir string) string {
			link := filepath.Join(dir, "link")
			if err := os.Symlink(link, link); err != nil {
				t.Fatal(err)
			}
			return link
		}, "cannot be read: ", nil},
		{"a file in KUBECONFIG that is not YAML", false, func(t *testing.T, dir string) string {
			return write(t, filepath.Join(dir, "c"), "a: b: c")
		}, "is not YAML: mapping values are not allowed in this context", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			home := environment(t)
			write(t, filepath.Join(home, ".kube/config"), simple("home"))
			file := test.file(t, t.TempDir())
			o := Options{}
			if test.explicit {
				o.Path = file
			} else {
				good := write(t, filepath.Join(home, "good"), simple("good"))
				t.Setenv("KUBECONFIG", good+string(filepath.ListSeparator)+file)
			}
			l, err := load(o, account(t))
			if err == nil {
				t.Fatalf("loaded %v", l)
			}
			if want := "kubeconfig " + file + ": " + test.says; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error is %q, want %q", err, want)
			}
			if f := (*FieldError)(nil); !errors.As(err, &f) || f.file != file {
				t.Errorf("error is %#v, want a FieldError of the file", err)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %q does not match %q", err, test.is)
			}
		})
	}
}

// behaviour 94
func TestTheErrorWithoutAConfigurationNamesTheSearchedPlaces(t *testing.T) {
	home := environment(t)
	file := filepath.Join(home, ".kube", "config")
	listed := write(t, filepath.Join(home, "empty"), "") + string(filepath.ListSeparator) + filepath.Join(home, "b")
	for _, test := range []struct {
		name       string
		kubeconfig string
		o          Options
		home       string
		text       string
		files      int
		as         any
	}{
		{
			"no file and no pod", "",
			Options{},
			home,
			"find a kubeconfig: none in " + file + "; not in a cluster: KUBERNETES_SERVICE_HOST is not set", 1,
			new(*NotInClusterError),
		},
		{
			"an empty file and a missing one", listed,
			Options{},
			home,
			"find a kubeconfig: none in " + filepath.Join(home, "empty") + ", " + filepath.Join(home, "b") +
				"; not in a cluster: KUBERNETES_SERVICE_HOST is not set", 2, new(*NotInClusterError),
		},
		{
			"no home either", "",
			Options{},
			"",
			"find a kubeconfig: KUBECONFIG is not set, and the home directory is not known; " +
				"not in a cluster: KUBERNETES_SERVICE_HOST is not set", 0, new(*NotInClusterError),
		},
		{
			"a context that was asked for", "",
			Options{Context: "prod"},
			home,
			"find a kubeconfig: none in " + file + `; context "prod" not found`, 1, new(*NotFoundError),
		},
		{
			"an explicit file without anything", "",
			Options{Path: filepath.Join(home, "empty")},
			home,
			"kubeconfig " + filepath.Join(home, "empty") + ": is empty", 1, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.kubeconfig)
			t.Setenv("HOME", test.home)
			t.Setenv("USERPROFILE", test.home)
			_, err := Load(test.o)
			if err == nil || err.Error() != test.text {
				t.Fatalf("error is\n%v, want\n%v", err, test.text)
			}
			if e := (*EmptyError)(nil); !errors.As(err, &e) || len(e.files) != test.files {
				t.Errorf("error is %#v, want an EmptyError with %d files", err, test.files)
			}
			if test.as != nil && !errors.As(err, test.as) {
				t.Errorf("error %q holds no %T", err, test.as)
			}
		})
	}
}

// A context that somebody names is a context of a kubeconfig: to fall back to the pod would be to act on another cluster.
func TestANamedContextIsNeverThePodsServiceAccount(t *testing.T) {
	environment(t)
	l, err := load(Options{Context: "prod"}, account(t))
	if f := (*NotFoundError)(nil); !errors.As(err, &f) || f.What != "context" || f.Name != "prod" {
		t.Errorf("loaded %v, %v; want a NotFoundError", l, err)
	}
}

// behaviour 89
func TestTheFirstValueInSeveralFilesWins(t *testing.T) {
	home := environment(t)
	first := write(t, filepath.Join(home, "1", "config"), `
contexts:
- {name: shared, context: {cluster: shared, user: shared, namespace: first}}
- {name: second, context: {cluster: second, user: shared}}
clusters:
- {name: shared, cluster: {server: "https://first"}}
users:
- {name: shared, user: {token: first}}
`)
	second := write(t, filepath.Join(home, "2", "config"), `
current-context: shared
contexts:
- {name: shared, context: {cluster: second, user: second, namespace: second}}
- {name: own, context: {cluster: shared, user: second}}
clusters:
- {name: shared, cluster: {server: "https://not-used", tls-server-name: not-merged-into-the-first}}
- {name: second, cluster: {server: "https://second"}}
users:
- {name: shared, user: {token: not-used}}
- {name: second, user: {tokenFile: token}}
`)
	third := write(t, filepath.Join(home, "3", "config"), "current-context: second\n")
	token := write(t, filepath.Join(home, "2", "token"), "abc")
	t.Setenv("KUBECONFIG", strings.Join([]string{first, second, third, first}, string(filepath.ListSeparator)))

	type want struct{ context, origin, namespace, server, serverName, token, tokenFile string }
	for _, test := range []struct {
		name    string
		context string
		want    want
	}{
		{"the first current context", "", want{"shared", first, "first", "https://first", "", "first", ""}},
		{
			"a context of the first file with a cluster of the second", "second",
			want{"second", first, "default", "https://second", "", "first", ""},
		},
		{
			"a context of the second file with a cluster of the first, and a path that starts at the second", "own",
			want{"own", second, "default", "https://first", "", "", token},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Load(Options{Context: test.context})
			if err != nil {
				t.Fatal(err)
			}
			c := l.Config
			got := want{l.Context, l.Origin, l.Namespace, c.Server, c.TLS.ServerName, string(c.BearerToken), c.BearerTokenFile}
			if got != test.want {
				t.Errorf("loaded\n%+v, want\n%+v", got, test.want)
			}
		})
	}
}

// behaviour 91, guarantee S6
func TestPathsStartAtTheFolderOfTheirFileAndAreNotExpanded(t *testing.T) {
	home := environment(t)
	t.Setenv("FOLDER", home)
	elsewhere := t.TempDir()
	absolute := write(t, filepath.Join(elsewhere, "absolute"), "a")
	dir := filepath.Join(home, "configs")
	for _, name := range []string{"ca.crt", "sub/tls.crt", "~/tls.key", "$FOLDER/token", "../above", "%FOLDER%"} {
		write(t, filepath.Join(dir, name), "a")
	}
	write(t, filepath.Join(home, "tls.key"), "not this one")
	for _, test := range []struct{ name, path, want string }{
		{"a name", "ca.crt", filepath.Join(dir, "ca.crt")},
		{"a path with a folder", "./sub/tls.crt", filepath.Join(dir, "sub", "tls.crt")},
		{"a path upwards", "../above", filepath.Join(home, "above")},
		{"a tilde is a name", "~/tls.key", filepath.Join(dir, "~", "tls.key")},
		{"a variable is a name", "$FOLDER/token", filepath.Join(dir, "$FOLDER", "token")},
		{"a variable of Windows is a name", "'%FOLDER%'", filepath.Join(dir, "%FOLDER%")},
		{"an absolute path stays", absolute, absolute},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, filepath.Join(dir, "config"), `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://s", certificate-authority: `+test.path+`}}]
users: [{name: u, user: {tokenFile: `+test.path+`, client-certificate: `+test.path+`, client-key: `+test.path+`}}]
`)
			t.Chdir(elsewhere)
			relative, err := filepath.Rel(elsewhere, filepath.Join(dir, "config"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{filepath.Join(dir, "config"), relative} {
				l, err := Load(Options{Path: path})
				if err != nil {
					t.Fatal(err)
				}
				tls := l.Config.TLS
				for _, got := range []string{tls.CAFile, tls.CertFile, tls.KeyFile, l.Config.BearerTokenFile} {
					if got != test.want {
						t.Errorf("%s in %s is %s, want %s", test.path, path, got, test.want)
					}
				}
				if l.Origin != path {
					t.Errorf("origin is %s, want %s as it was given", l.Origin, path)
				}
			}
		})
	}
}

// The client would notice only with its first request, and could not say where the path comes from.
func TestAFileThatIsReferredToMustBeReadable(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	for _, test := range []struct{ name, cluster, user, want string }{
		{
			"a missing CA", `certificate-authority: ca.crt`, ``,
			`clusters["c"]: certificate-authority "` + filepath.Join(dir, "ca.crt") + `" cannot be read: `,
		},
		{
			"a CA that is a folder", `certificate-authority: "."`, ``,
			`clusters["c"]: certificate-authority "` + dir + `" cannot be read: is a directory`,
		},
		{
			"a missing certificate", ``, `client-certificate: a, client-key: b`,
			`users["u"]: client-certificate "` + filepath.Join(dir, "a") + `" cannot be read: `,
		},
		{
			"a missing key", ``, `client-certificate: config, client-key: b`,
			`users["u"]: client-key "` + filepath.Join(dir, "b") + `" cannot be read: `,
		},
		{
			"a missing token", ``, `tokenFile: t`,
			`users["u"]: tokenFile "` + filepath.Join(dir, "t") + `" cannot be read: `,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := write(t, filepath.Join(dir, "config"), `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://s", `+test.cluster+`}}]
users: [{name: u, user: {`+test.user+`}}]
`)
			_, err := Load(Options{Path: file})
			if want := "kubeconfig " + file + ": " + test.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error is\n%v, want\n%v", err, want)
			}
			if data, readErr := os.ReadFile(file); readErr != nil {
				t.Fatal(readErr)
			} else if _, err := Parse(data, Options{Path: file}); err != nil {
				t.Errorf("Parse, which opens no files, says %v", err)
			}
		})
	}
}

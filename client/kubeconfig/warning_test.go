package kubeconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// guarantee S19
func TestACredentialThatOthersCanReadIsAWarning(t *testing.T) {
	if !othersRead(0o644) && runtime.GOOS != "windows" {
		t.Error("a file that everybody may read is not noticed")
	}
	cert, key := keyPair(t, "admin")
	for _, test := range []struct {
		name string
		mode os.FileMode // of all files
		user string
		want []string // with $ for the folder
	}{
		{"a file of the owner's", 0o600, `token: abc`, nil},
		{"a file that others may write, but not read", 0o622, `token: abc`, nil},
		{
			"a token", 0o644, `token: abc`,
			[]string{`kubeconfig $config: users["u"]: token can be read by others than the file's owner (mode 0644); 0600 is enough`},
		},
		{
			"a password that the group may read", 0o640, `username: a, password: b`,
			[]string{`kubeconfig $config: users["u"]: password can be read by others than the file's owner (mode 0640); 0600 is enough`},
		},
		{
			"a key", 0o604, `client-certificate-data: ` + base(cert) + `, client-key-data: ` + base(key) + `, token: abc`,
			[]string{`kubeconfig $config: users["u"]: token can be read by others than the file's owner (mode 0604); 0600 is enough`},
		},
		{
			"a file that it names", 0o644, `tokenFile: token`,
			[]string{`kubeconfig $config: users["u"]: tokenFile "$token" can be read by others than the file's owner (mode 0644); 0600 is enough`},
		},
		{
			"a key's file", 0o644, `client-certificate: cert, client-key: key`,
			[]string{`kubeconfig $config: users["u"]: client-key "$key" can be read by others than the file's owner (mode 0644); 0600 is enough`},
		},
		{"no credential", 0o644, `as: a`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range map[string]string{"config": one(someServer, test.user), "token": "abc", "cert": "c", "key": "k"} {
				if err := os.Chmod(write(t, filepath.Join(dir, name), content), test.mode); err != nil {
					t.Fatal(err)
				}
			}
			l, err := Load(Options{Path: filepath.Join(dir, "config")})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range test.want {
				if runtime.GOOS != "windows" {
					want = append(want, strings.ReplaceAll(w, "$", dir+string(filepath.Separator)))
				}
			}
			if !reflect.DeepEqual(l.Warnings, want) {
				t.Errorf("warnings are\n%q, want\n%q", l.Warnings, want)
			}
			data, err := os.ReadFile(filepath.Join(dir, "config"))
			if err != nil {
				t.Fatal(err)
			}
			if l, err := Parse(data, Options{Path: filepath.Join(dir, "config")}); err != nil || len(l.Warnings) > 0 {
				t.Errorf("Parse, which looks at no file, says %v, %v", l, err)
			}
		})
	}
}

// A misspelt field would be lost without a word.
func TestAnUnknownFieldIsAWarning(t *testing.T) {
	l, err := Parse([]byte(`
apiVersion: v1
kind: Config
preferences: {colors: true}
extensions: []
curent-context: x
current-context: x
contexts:
- name: x
  context: {cluster: c, user: u, namespce: web, extensions: []}
- {name: y, context: {not: used}}
clusters:
- name: c
  color: green
  cluster: {server: "https://s", "s3cr3t.s3cr3t": 1, "\e[2J": 2, certificate-authority-date: s3cr3t, extensions: []}
users:
- name: u
  user:
    tokn: s3cr3t
    tokenfile: s3cr3t
    extensions: []
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: c
      interactiveMode: Never
      provideClusterinfo: true
      env: [{name: A, vlue: s3cr3t}]
`), Options{Path: "/c"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`kubeconfig /c: curent-context is not known, and was ignored`,
		`kubeconfig /c: contexts["x"]: namespce is not known, and was ignored`,
		`kubeconfig /c: clusters["c"]: color is not known, and was ignored`,
		`kubeconfig /c: clusters["c"]: a field with a strange name is not known, and was ignored`,
		`kubeconfig /c: clusters["c"]: a field with a strange name is not known, and was ignored`,
		`kubeconfig /c: clusters["c"]: certificate-authority-date is not known, and was ignored`,
		`kubeconfig /c: users["u"]: tokn is not known, and was ignored`,
		`kubeconfig /c: users["u"]: tokenfile is not known, and was ignored`,
		`kubeconfig /c: users["u"].exec: provideClusterinfo is not known, and was ignored`,
		`kubeconfig /c: users["u"].exec.env[0]: vlue is not known, and was ignored`,
	}
	if !reflect.DeepEqual(l.Warnings, want) {
		t.Errorf("warnings are\n%s, want\n%s", strings.Join(l.Warnings, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(fmt.Sprint(l), "s3cr3t") {
		t.Errorf("a warning shows a secret: %v", l)
	}
}

// behaviour 103: what a file says may reach a terminal, in an error, a warning or a list.
func TestControlCharactersOfAFileDoNotReachATerminal(t *testing.T) {
	const evil = `\e[2J\x9b1m\u202e\r\n\0`
	dir := t.TempDir()
	name := filepath.Join(dir, "a\x1b[2J\u202e\n")
	for _, data := range []string{
		`current-context: "` + evil + `"`,
		`kind: "` + evil + `"`,
		`apiVersion: "` + evil + `"`,
		`users: [{name: "` + evil + `"}, {name: "` + evil + `"}]`,
		`current-context: "` + evil + `"` + "\n" + `contexts: [{name: "` + evil + `", context: {cluster: "` + evil + `"}}]`,
		`contexts: [{name: x, context: {cluster: c, user: "` + evil + `"}}]` + "\ncurrent-context: x\nclusters: [{name: c, cluster: {server: 'https://s'}}]",
		one(`server: "`+evil+`"`, ``),
		one(someServer+`proxy-url: "`+evil+`"`, ``),
		one(someServer+`certificate-authority: "`+evil+`"`, ``),
		one(someServer, `tokenFile: "`+evil+`"`),
		one(someServer, `as: "`+evil+`"`),
		one(someServer, `as: a, as-user-extra: {"`+evil+`": [b], "`+evil+`": [b]}`),
		one(someServer, `token: "`+evil+`"`),
		one(someServer, `"`+evil+`": 1`),
	} {
		t.Run(data, func(t *testing.T) {
			var texts []string
			for _, o := range []Options{{}, {Path: name}} {
				l, err := Parse([]byte(data), o)
				if err != nil {
					texts = append(texts, err.Error())
				}
				texts = append(texts, l.Warnings...)
			}
			if _, err := Load(Options{Path: write(t, name, data)}); err != nil {
				texts = append(texts, err.Error())
			}
			list, err := Contexts(Options{Path: name})
			if err != nil {
				texts = append(texts, err.Error())
			}
			for _, e := range list {
				if e.Err != nil {
					texts = append(texts, e.Err.Error())
				}
			}
			if err := Write(t.Context(), Options{Path: name}, Change{Current: "\x1b"}); err != nil {
				texts = append(texts, err.Error())
			}
			if len(texts) == 0 {
				t.Fatal("nothing is wrong with it")
			}
			for _, text := range texts {
				if printable(text) != text {
					t.Errorf("text has control characters: %q", text)
				}
			}
		})
	}
	environment(t)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "missing\x1b[2J"))
	_, err := Load(Options{})
	if err == nil || printable(err.Error()) != err.Error() {
		t.Errorf("error is %q", err)
	}
}

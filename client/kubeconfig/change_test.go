package kubeconfig

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bowline-go/bowline/client"
)

const commented = `# whose this is
apiVersion: v1
kind: Config
preferences:
  colors: true # unknown to this package
current-context: dev # the usual one
contexts:
# the first
- name: dev
  context:
    cluster: dev
    user: me # who else
    extensions:
    - name: minikube
      extension: {last-update: 2024-01-01}
- name: prod
  context:
    cluster: "1e3"
    user: me
    namespace: 'web'
clusters:
- name: dev
  cluster:
    server: https://dev
    shade: green
- name: "1e3"
  cluster:
    server: https://prod
    # the CA
    certificate-authority: ca.crt
users:
- name: me
  user:
    token: 12345678901234567890
    x-refresh: [a, b]
`

// behaviour 105, behaviour 107, behaviour 93: what is not changed stays as it is written.
func TestAChangeKeepsTheRestOfTheFile(t *testing.T) {
	utf8Mark := "\ufeff"
	for _, test := range []struct {
		name   string
		before string
		o      Options
		change Change
		old    string // what is replaced in before
		new    string
		whole  string // in place of old and new
	}{
		{
			name: "the current context", before: commented, change: Change{Current: "prod"},
			old: "current-context: dev", new: "current-context: prod",
		},
		{
			name: "the namespace of the current context", before: commented, change: Change{Namespace: "0x10"},
			old: "      extension: {last-update: 2024-01-01}\n", new: "      extension: {last-update: 2024-01-01}\n    namespace: \"0x10\"\n",
		},
		{
			name: "the namespace of another context", before: commented, o: Options{Context: "prod"},
			change: Change{Namespace: "yes"}, old: "'web'", new: `"yes"`,
		},
		{
			name: "the namespace of the context that becomes the current one", before: commented,
			change: Change{Namespace: "a.b", Current: "prod"},
			whole:  strings.NewReplacer("'web'", "a.b", "current-context: dev", "current-context: prod").Replace(commented),
		},
		{
			name: "a token, and a field that is not known", before: commented,
			change: Change{Users: map[string]*User{"me": {Token: "abc"}}},
			old:    "12345678901234567890", new: "abc",
		},
		{
			name: "one way to authenticate becomes another", before: commented,
			change: Change{Users: map[string]*User{"me": {Exec: Exec{
				APIVersion: "client.authentication.k8s.io/v1", Command: "get-token", Args: []client.Secret{"--for", "1:30"},
				Env: map[string]client.Secret{"B": "", "A": "on"}, InteractiveMode: "Never", ClusterInfo: true,
			}}}},
			old: "    token: 12345678901234567890\n    x-refresh: [a, b]\n", new: `    x-refresh: [a, b]
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: get-token
      args:
      - "--for"
      - "1:30"
      env:
      - name: A
        value: "on"
      - name: B
        value: ""
      interactiveMode: Never
      provideClusterInfo: true
`,
		},
		{
			name: "a user with everything", before: commented,
			change: Change{Users: map[string]*User{"no": {
				TokenFile: "t", CertFile: "c", KeyFile: "k", As: "anna", AsUID: "17",
				AsGroups: []string{"devs"}, AsExtra: map[string][]string{"a": {"b"}, "none": nil},
			}}},
			old: "x-refresh: [a, b]\n", new: `x-refresh: [a, b]
- name: "no"
  user:
    tokenFile: t
    client-certificate: c
    client-key: k
    as: anna
    as-uid: "17"
    as-groups:
    - devs
    as-user-extra:
      a:
      - b
      none: []
`,
		},
		{
			name: "a cluster whose name looks like a number", before: commented,
			change: Change{Clusters: map[string]*Cluster{"1e3": {Server: "https://[fd00::1]:6443", Insecure: true, ServerName: "api", Uncompressed: true}}},
			old:    "    server: https://prod\n    # the CA\n    certificate-authority: ca.crt\n",
			new:    "    server: \"https://[fd00::1]:6443\"\n    insecure-skip-tls-verify: true\n    tls-server-name: api\n    disable-compression: true\n",
		},
		{
			name: "a new context, cluster and user, which become the current ones", before: commented,
			change: Change{
				Contexts: map[string]*Context{"0777": {Cluster: "new", User: "new", Namespace: "n"}},
				Clusters: map[string]*Cluster{"new": {Server: "http://localhost:8001", ProxyURL: "socks5://p:1080"}},
				Users:    map[string]*User{"new": {}}, Current: "0777",
			},
			whole: strings.NewReplacer(
				"current-context: dev", `current-context: "0777"`,
				"clusters:\n", "- name: \"0777\"\n  context:\n    cluster: new\n    user: new\n    namespace: \"n\"\nclusters:\n",
				"users:\n", "- name: new\n  cluster:\n    server: http://localhost:8001\n    proxy-url: socks5://p:1080\nusers:\n",
			).Replace(commented) + "- name: new\n  user: {}\n",
		},
		{
			name: "a context that is deleted", before: commented,
			change: Change{Contexts: map[string]*Context{"prod": nil, "missing": nil}},
			old:    "- name: prod\n  context:\n    cluster: \"1e3\"\n    user: me\n    namespace: 'web'\n",
		},
		{
			name: "a user and a cluster that are deleted", before: commented,
			change: Change{Users: map[string]*User{"me": nil}, Clusters: map[string]*Cluster{"dev": nil}},
			whole: strings.NewReplacer(
				"- name: dev\n  cluster:\n    server: https://dev\n    shade: green\n", "",
				"users:\n- name: me\n  user:\n    token: 12345678901234567890\n    x-refresh: [a, b]\n", "users: []\n",
			).Replace(commented),
		},
		{name: "a change that is there already", before: commented + "\n\n\n", change: Change{Current: "dev"}, whole: commented + "\n\n\n"},
		{name: "nothing", before: "a:    b\n", whole: "a:    b\n"},
		{
			name: "a file with carriage returns and a mark", change: Change{Current: "prod"},
			before: utf8Mark + strings.ReplaceAll(commented, "\n", "\r\n"), old: "current-context: dev", new: "current-context: prod",
		},
		{
			name: "a file that is indented by four", change: Change{Current: "b"},
			before: "contexts:\n    - name: a\n      context:\n        cluster: c\n    - name: b\n      context:\n        cluster: c\n" +
				"clusters:\n    - name: c\n      cluster:\n        server: https://s\n",
			whole: "contexts:\n  - name: a\n    context:\n      cluster: c\n  - name: b\n    context:\n      cluster: c\n" +
				"clusters:\n  - name: c\n    cluster:\n      server: https://s\ncurrent-context: b\n",
		},
		{
			name: "several documents", change: Change{Users: map[string]*User{"a": {Token: "new"}, "c": {Token: "c"}}, Current: "x"},
			before: "users:\n- name: b\n  user: {token: b}\n---\ncurrent-context: y\nusers:\n- name: a\n  user: {token: old}\n---\n" +
				"contexts: [{name: x, context: {cluster: c}}, {name: y, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'http://s'}}]\n",
			whole: "users:\n- name: b\n  user: {token: b}\n- name: c\n  user:\n    token: c\n---\ncurrent-context: x\nusers:\n- name: a\n  user: {token: new}\n---\n" +
				"contexts: [{name: x, context: {cluster: c}}, {name: y, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'http://s'}}]\n",
		},
		{
			name: "an empty file", before: "", change: Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}},
			whole: "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    server: https://s\n",
		},
		{
			name: "a file of comments", before: "# mine\n\n# all mine\n", change: Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}},
			whole: "# mine\n\n# all mine\napiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    server: https://s\n",
		},
		{
			name: "empty lists", before: "clusters: []\nusers: null\nother: x\n",
			change: Change{Clusters: map[string]*Cluster{"c": {Server: "https://s"}}, Users: map[string]*User{"u": {Token: "t"}}},
			whole:  "clusters:\n- name: c\n  cluster:\n    server: https://s\nusers:\n- name: u\n  user:\n    token: t\nother: x\n",
		},
		{
			name:   "JSON stays JSON",
			before: "{\n\t\"users\": [{\"name\": \"1\", \"user\": {\"token\": \"a\", \"n\": 1.50, \"h\": \"<&\\u00e9\\/\"}}],\n\t\"x\": null\n}\n",
			change: Change{Users: map[string]*User{"1": {Token: "b", AsGroups: nil}}},
			whole:  "{\n\t\"users\": [\n\t\t{\n\t\t\t\"name\": \"1\",\n\t\t\t\"user\": {\n\t\t\t\t\"token\": \"b\",\n\t\t\t\t\"n\": 1.50,\n\t\t\t\t\"h\": \"<&é/\"\n\t\t\t}\n\t\t}\n\t],\n\t\"x\": null\n}\n",
		},
		{
			name: "JSON in one line", before: `{"a":[1,true,{"b":null}],"a":2}`,
			change: Change{Clusters: map[string]*Cluster{"true": {Server: "https://s", Insecure: true}}},
			whole:  `{"a":[1,true,{"b":null}],"a":2,"clusters":[{"name":"true","cluster":{"server":"https://s","insecure-skip-tls-verify":true}}]}`,
		},
		{
			name: "anchors elsewhere", change: Change{Users: map[string]*User{"b": {Token: "new"}}},
			before: "users:\n- name: a\n  user: &a {token: old}\n- name: b\n  user: {token: old}\n- name: c\n  user: *a\n",
			old:    "b\n  user: {token: old}", new: "b\n  user: {token: new}",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t)
			file := write(t, filepath.Join(t.TempDir(), "config"), test.before)
			if err := os.Chmod(file, 0o640); err != nil {
				t.Fatal(err)
			}
			test.o.Path = file
			if err := Write(t.Context(), test.o, test.change); err != nil {
				t.Fatal(err)
			}
			want := test.whole
			if want == "" {
				if want = strings.Replace(test.before, test.old, test.new, 1); want == test.before {
					t.Fatal("the test changes nothing")
				}
			}
			if got := contentOf(t, file); got != want {
				t.Errorf("file is\n%s\nwant\n%s", got, want)
			}
			onlyFiles(t, filepath.Dir(file), "config")
			info, err := os.Stat(file)
			if err != nil || othersRead(0o640) && info.Mode() != 0o640 {
				t.Errorf("mode is %v, %v", info.Mode(), err)
			}
		})
	}
}

// Each validation, with its text; and nothing is written.
func TestAnInvalidChangeIsNotWritten(t *testing.T) {
	wide := func(text string) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		return string(b)
	}
	good := &Cluster{Server: "https://s"}
	const references = "cannot be changed: it uses YAML anchors, aliases or merge keys, " +
		"so a change could affect other parts; edit the file by hand"
	const notSame = "cannot be changed without changing other parts of the file; edit it by hand"
	for _, test := range []struct {
		name, before string
		o            Options
		change       Change
		want         string // with $ for "kubeconfig FILE: "
	}{
		{"no name", "", Options{}, Change{Users: map[string]*User{"": {}}}, "write a kubeconfig: Users must not have an empty name"},
		{"no name of a cluster", "", Options{}, Change{Clusters: map[string]*Cluster{"": nil}}, "write a kubeconfig: Clusters must not have an empty name"},
		{"no name of a context", "", Options{}, Change{Contexts: map[string]*Context{"": nil}}, "write a kubeconfig: Contexts must not have an empty name"},
		{
			"half a plugin", "",
			Options{},
			Change{Users: map[string]*User{"u": {Exec: Exec{Command: "c"}}}},
			`$users["u"].exec: apiVersion is not set; it must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1`,
		},
		{"a name that is no text", "", Options{}, Change{Users: map[string]*User{"\xff": {}}}, `$users["\xff"]: name must be valid UTF-8`},
		{"a token that is no text", "", Options{}, Change{Users: map[string]*User{"u": {Token: "s3cr3t\xff"}}}, `$users["u"]: token must be valid UTF-8`},
		{
			"an extra that is no text", "",
			Options{},
			Change{Users: map[string]*User{"u": {As: "a", AsExtra: map[string][]string{"s3cr3t": {"\xff"}}}}},
			`$users["u"]: as-user-extra must be valid UTF-8`,
		},
		{"a server that is none", "", Options{}, Change{Clusters: map[string]*Cluster{"c": {}}}, `$clusters["c"]: server is not set`},
		{
			"a CA without verification", "",
			Options{},
			Change{Clusters: map[string]*Cluster{"c": {Server: "https://s", CAFile: "ca", Insecure: true}}},
			`$clusters["c"]: insecure-skip-tls-verify excludes certificate-authority and certificate-authority-data`,
		},
		{
			"two ways to authenticate", "",
			Options{},
			Change{Users: map[string]*User{"u": {Token: "s3cr3t", Username: "a"}}},
			`$users["u"]: token excludes username: only one authentication method is allowed`,
		},
		{
			"a plugin and a token", "",
			Options{},
			Change{Users: map[string]*User{"u": {Token: "s3cr3t", Exec: Exec{APIVersion: "client.authentication.k8s.io/v1", Command: "c"}}}},
			`$users["u"]: exec excludes token: only one authentication method is allowed`,
		},
		{
			"a token of two lines", "",
			Options{},
			Change{Users: map[string]*User{"u": {Token: "s3cr3t\n"}}},
			`$users["u"]: token must have no spaces or control characters`,
		},
		{"impersonation without a user", "", Options{}, Change{Users: map[string]*User{"u": {AsUID: "1"}}}, `$users["u"]: as-uid needs as: the user to act for`},
		{"a context without a cluster", "", Options{}, Change{Contexts: map[string]*Context{"x": {}}}, `$contexts["x"]: cluster is not set`},
		{"a context of a missing cluster", "", Options{}, Change{Contexts: map[string]*Context{"x": {Cluster: "c"}}}, `$contexts["x"]: cluster "c" not found`},
		{
			"a context of a missing user", "",
			Options{},
			Change{Contexts: map[string]*Context{"x": {Cluster: "c", User: "u"}}, Clusters: map[string]*Cluster{"c": good}},
			`$contexts["x"]: user "u" not found`,
		},
		{"a missing context", simple("a"), Options{}, Change{Current: "b"}, `$context "b" not found`},
		{"a context that is deleted at the same time", simple("a"), Options{}, Change{Current: "a", Contexts: map[string]*Context{"a": nil}}, `$context "a" not found`},
		{"a namespace of a missing context", simple("a"), Options{Context: "b"}, Change{Namespace: "n"}, `$context "b" not found`},
		{
			"a namespace without a context", "",
			Options{},
			Change{Namespace: "n"},
			"write a kubeconfig: Namespace needs a context: set current-context, Change.Current or Options.Context",
		},
		{
			"two namespaces", simple("a"),
			Options{},
			Change{Namespace: "n", Contexts: map[string]*Context{"a": {Cluster: "a"}}},
			`write a kubeconfig: Namespace and Contexts["a"] exclude each other`,
		},
		{"a file that is broken", "users: {", Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, "$is not YAML: line 1: did not find expected node content"},
		{"a file of another kind", "kind: Pod", Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, `$kind must be Config, got "Pod"`},
		{"a body that is a text", "users: [{name: u, user: x}]", Options{}, Change{Users: map[string]*User{"u": {}}}, `$users["u"]: must be a mapping`},
		{"UTF-16", wide(simple("a")), Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, "$cannot be changed: it is not in UTF-8; convert it first"},
		{
			"JSON with half of a pair", `{"a": "\ud800"}`,
			Options{},
			Change{Clusters: map[string]*Cluster{"c": good}},
			"$cannot be changed: it has an unpaired surrogate or the character U+FFFD",
		},
		{
			"a stanza with an anchor", "users: [{name: a, user: &a {token: x}}, {name: b, user: *a}]",
			Options{},
			Change{Users: map[string]*User{"a": {Token: "s3cr3t"}}},
			`$users["a"]: ` + references,
		},
		{
			"a stanza that is an alias", "users: [{name: a, user: &a {token: x}}, {name: b, user: *a}]",
			Options{},
			Change{Users: map[string]*User{"b": nil}},
			`$users["b"]: ` + references,
		},
		{
			"a stanza with a merge key", "x: &x {token: y}\nusers: [{name: b, user: {<<: *x}}]",
			Options{},
			Change{Users: map[string]*User{"b": {Token: "s3cr3t"}}},
			`$users["b"]: ` + references,
		},
		{
			"a list behind an alias", "x: &x [{name: a}]\nusers: *x",
			Options{},
			Change{Users: map[string]*User{"b": {Token: "s3cr3t"}}},
			`$users ` + references,
		},
		{
			"a list behind a merge key", "x: &x {users: [{name: a}]}\n<<: *x",
			Options{},
			Change{Users: map[string]*User{"b": {Token: "s3cr3t"}}},
			`$users ` + references,
		},
		{
			"a current context behind an alias", "x: &x a\ncurrent-context: *x\n" + strings.TrimPrefix(simple("a"), "current-context: a\n"),
			Options{},
			Change{Current: "a", Contexts: map[string]*Context{"a": nil}},
			`$context "a" not found`,
		},
		{
			"a current context with an anchor", "current-context: &x b\nx: *x\n" + strings.TrimPrefix(simple("a"), "current-context: a\n"),
			Options{},
			Change{Current: "a"},
			`$current-context ` + references,
		},
		// behaviour 105: these comments were lost.
		{"a comment behind a bracket", "x: [ # why\n  a, b]\n", Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, "$" + notSame},
		{"a comment behind the end", "x: y\n... # why\n", Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, "$" + notSame},
		{
			"a file that would be too large once it is indented", "x:\n" + strings.Repeat("- "+strings.Repeat("? ", 9000)+"a\n", 10),
			Options{},
			Change{Clusters: map[string]*Cluster{"c": good}},
			"$is larger than 16 MiB",
		},
		// behaviour 109, guarantee S7
		{"an alias bomb", bomb(20), Options{}, Change{Clusters: map[string]*Cluster{"c": good}}, "$has too many values in it, or aliases that expand to too many"},
		{
			"a file that would be too large", `{"x":"` + strings.Repeat("x", maxSize-10) + `"}`,
			Options{},
			Change{Clusters: map[string]*Cluster{"c": good}},
			"$is larger than 16 MiB",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			environment(t)
			file := write(t, filepath.Join(t.TempDir(), "config"), test.before)
			test.o.Path = file
			err := Write(t.Context(), test.o, test.change)
			want := strings.ReplaceAll(test.want, "$", "kubeconfig "+file+": ")
			if err == nil || err.Error() != want {
				t.Errorf("error is\n%v, want\n%v", err, want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t") {
				t.Errorf("error shows a secret: %v", err)
			}
			if contentOf(t, file) != test.before {
				t.Error("the file has changed")
			}
			onlyFiles(t, filepath.Dir(file), "config")
		})
	}
}

package kubeconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// behaviour 121: what kubectl takes is taken in the same way, with a warning that says what became of it. internal/proof/e2e/kubeconfigs
// compares both.
func TestInvalidValuesThatKubectlAcceptsAreWarnings(t *testing.T) {
	const server = `clusters["c"]: server `
	const noUser = server + "must have no user, query or fragment: "
	const noTLS = ` needs an https server, but clusters["c"] has none: it is not sent`
	for _, test := range []struct {
		cluster, user string
		want          string // the server and the credential
		warnings      []string
	}{
		{`server: "10.0.0.1:6443"`, ``, "http://10.0.0.1:6443", []string{
			server + `must be an absolute http or https URL, got "10.0.0.1:6443": plain HTTP is used`,
		}},
		{`server: "name:80/"`, `token: s3cr3t`, "http://name:80/", []string{
			server + `must be an absolute http or https URL, got "name:80/": plain HTTP is used`, `users["u"]: token` + noTLS,
		}},
		{`server: "https://a:s3cr3t@b/c"`, `token: x, exec: {` + somePlugin + `}`, "https://b/c a s3cr3t", []string{
			noUser + "the user is sent, and no other token or password",
			`users["u"]: exec excludes token: only one authentication method is allowed: the plugin is not used`,
		}},
		{`server: "https://a@b"`, ``, "https://b a ", []string{noUser + "the user is sent, and no other token or password"}},
		{`server: "https://@b"`, `token: t`, "https://b t", []string{noUser + "the user is ignored, because it has no name"}},
		{`server: "http://a:s3cr3t@b"`, ``, "http://b a s3cr3t", []string{noUser + "the user is sent in clear text"}},
		{`server: "https://a?token=s3cr3t"`, `token: t`, "https://a t", []string{noUser + "the query and the fragment are ignored"}},
		{`server: "https://a/b?#"`, ``, "https://a/b", []string{noUser + "the query and the fragment are ignored"}},
		{`server: "https://a/b#c"`, ``, "https://a/b", []string{noUser + "the query and the fragment are ignored"}},
		{`server: " https://a "`, ``, "https://a", []string{server + "must have no space around it: it is ignored"}},
		{`server: "https://a:1\n"`, ``, "https://a:1", []string{server + "must have no space around it: it is ignored"}},
		{someServer, `token: "t\n"`, "https://s:6443 t", []string{`users["u"]: token must have no spaces or control characters: the space around it is ignored`}},
		{someServer, `token: " \n"`, "https://s:6443", []string{`users["u"]: token must have no spaces or control characters: the space around it is ignored`}},
		{someServer, `token: t, client-key-data: czNjcjN0`, "https://s:6443 t", []string{`users["u"]: client-key needs client-certificate or client-certificate-data: it is ignored`}},
		{someServer, `token: t, client-key: /gone`, "https://s:6443 t", []string{`users["u"]: client-key needs client-certificate or client-certificate-data: it is ignored`}},
		{someServer, `password: s3cr3t`, "https://s:6443", []string{`users["u"]: password needs username: it is ignored`}},
		{someServer, `tokenFile: /t, password: s3cr3t`, "https://s:6443 /t", []string{`users["u"]: password needs username: it is ignored`}},
		{`server: "http://s", certificate-authority-data: czNjcjN0, insecure-skip-tls-verify: true`, ``, "http://s", nil},
		{`server: "HTTP://s"`, `tokenFile: /t, as: a`, "http://s for a", []string{`users["u"]: tokenFile` + noTLS}},
		{`server: "http://s"`, `exec: {command: c}`, "http://s", []string{`users["u"]: exec` + noTLS}},
		{`server: "http://s"`, `username: a, password: b`, "http://s", []string{`users["u"]: username` + noTLS, `users["u"]: password` + noTLS}},
		{`server: "http://s"`, `client-certificate-data: YQ==, client-key-data: YQ==`, "http://s", []string{
			`users["u"]: client-certificate-data` + noTLS, `users["u"]: client-key-data` + noTLS,
		}},
	} {
		l, err := Parse([]byte(one(test.cluster, test.user)), Options{})
		if err != nil {
			t.Errorf("%s %s: %v", test.cluster, test.user, err)
			continue
		}
		c := l.Config
		got := c.Server
		for _, text := range []string{string(c.BearerToken), c.BearerTokenFile} {
			if text != "" {
				got += " " + text
			}
		}
		if c.Username != "" {
			got += " " + c.Username + " " + string(c.Password)
		}
		if c.Impersonate != nil {
			got += " for " + c.Impersonate.User
		}
		var want []string
		for _, w := range test.warnings {
			want = append(want, "kubeconfig: "+w)
		}
		if got != test.want || !slices.Equal(l.Warnings, want) || c.Credentials != nil || c.TLS.Insecure || len(c.TLS.CAData) > 0 {
			t.Errorf("%s %s is\n%s %q, want\n%s %q", test.cluster, test.user, got, l.Warnings, test.want, want)
		}
		if text := fmt.Sprintf("%v %+v %q", l, l, l.Warnings); strings.Contains(text, "s3cr3t") {
			t.Errorf("%s %s shows a secret: %s", test.cluster, test.user, text)
		}
		if _, err := client.New(c); err != nil {
			t.Errorf("%s %s: %v", test.cluster, test.user, err)
		}
	}
}

// A user that does not exist has no credentials. The warning names the entries that have no name, because one of them may be meant.
func TestAUserThatDoesNotExistHasNoCredentials(t *testing.T) {
	data := "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n" +
		"clusters: [{name: c, cluster: {server: https://s}}]\nusers: [{Name: u, user: {token: s3cr3t}}]"
	l, err := Parse([]byte(data), Options{Path: "/c"})
	want := []string{
		`kubeconfig /c: users[0]: name is not set, and was ignored`,
		`kubeconfig /c: contexts["x"]: user "u" not found (kubeconfig /c: users[0]: name is not set, and was ignored): no credentials are sent`,
	}
	if err != nil || l.Config.Server != "https://s" || l.Config.BearerToken != "" || !slices.Equal(l.Warnings, want) {
		t.Errorf("parsed %v, %v, want the warnings %q", l, err, want)
	}
}

// A token file that cannot be read leaves the token beside it.
func TestATokenBesideATokenFileThatIsGone(t *testing.T) {
	file := write(t, t.TempDir()+"/config", one(someServer, `token: t, tokenFile: /nonexistent/t`))
	l, err := Load(Options{Path: file})
	if err != nil || l.Config.BearerToken != "t" || l.Config.BearerTokenFile != "" || len(l.Warnings) != 1 ||
		!strings.Contains(l.Warnings[0], `users["u"]: tokenFile "/nonexistent/t" cannot be read: no such file or directory: the token is used`) {
		t.Errorf("loaded %v, %v", l, err)
	}
}

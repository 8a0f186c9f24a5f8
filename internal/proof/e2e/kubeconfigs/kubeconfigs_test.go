// Package kubeconfigs compares what a kubeconfig means to package kubeconfig and to client-go's clientcmd.
package kubeconfigs

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// recorder notes the requests that a server gets.
type recorder struct {
	mu  sync.Mutex // guards got
	got string
}

func (r *recorder) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	protocol := "http"
	if q.TLS != nil {
		protocol = "https"
	}
	r.got += fmt.Sprintf("%s %s as %q for %q;", protocol, q.URL.RequestURI(), q.Header.Get("Authorization"), q.Header.Values("Impersonate-User"))
}

func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = ""
	return got
}

// theirs makes one request as client-go does with a kubeconfig.
func theirs(ctx context.Context, file string) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: file}, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return err
	}
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{Version: "v1"}, scheme.Codecs.WithoutConversion()
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return err
	}
	return c.Get().AbsPath("version").Do(ctx).Error()
}

// ours makes the same request.
func ours(ctx context.Context, file string) (warnings []string, err error) {
	l, err := kubeconfig.Load(kubeconfig.Options{Path: file})
	if err != nil {
		return nil, err
	}
	c, err := client.New(l.Config)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	resp, err := c.Raw(ctx, client.RawRequest{Path: "/version"})
	if err == nil {
		_ = resp.Body.Close()
	}
	return l.Warnings, err
}

// differences are the kubeconfigs that mean something else to us, with the reason.
var differences = map[string]string{
	"a token with a line end":      "client-go sends nothing, because net/http refuses the header",
	"a token with line ends":       "the same",
	"a token with space around it": "client-go sends the space",
	"a token with a space in it":   "a server would take the first part for the token",
	"a token of spaces":            "client-go sends an empty token",
	"an empty user in the server":  "client-go sends an empty name in place of the token",
	"a fragment behind a path":     "client-go makes the fragment a part of the path",
	"a path with an escape":        "a proxy may need the escape",
	"space before the server":      "client-go refuses it",
	"space behind the server":      "the same",
	"a line end behind the server": "the same",
	"no scheme and space":          "the same",
	"two CAs":                      "client-go refuses it, and says which one would win",
	"a field twice":                "nobody can mean it, and Write could not know which to change",
	"a name with a colon":          "a server would take the part before the colon for the name",
}

func TestKubectlAndBowlineAcceptTheSameKubeconfigs(t *testing.T) {
	seen := &recorder{}
	secure, plain := httptest.NewTLSServer(seen), httptest.NewServer(seen)
	defer secure.Close()
	defer plain.Close()
	dir := t.TempDir()
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("token", "from-file\n")
	put("plugin", "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"from-plugin\"}}'\n")
	if err := os.Chmod(filepath.Join(dir, "plugin"), 0o700); err != nil {
		t.Fatal(err)
	}
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	s, p := strings.TrimPrefix(secure.URL, "https://"), strings.TrimPrefix(plain.URL, "http://")
	const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}`
	trusted := func(server string) string {
		return fmt.Sprintf("server: %q, certificate-authority-data: %s", server, ca)
	}

	for _, test := range []struct{ name, cluster, user string }{
		{"a token", trusted("https://" + s), "token: abc"},
		{"a user that does not exist", trusted("https://" + s), "-"},
		{"no user", trusted("https://" + s), ""},
		{"an empty user", trusted("https://" + s), "{}"},
		{"a plugin", trusted("https://" + s), exec},
		{"a plugin and a token", trusted("https://" + s), exec + ", token: abc"},
		{"a plugin and a token file", trusted("https://" + s), exec + ", tokenFile: token"},
		{"a plugin and a password", trusted("https://" + s), exec + ", username: u, password: p"},
		{"a plugin and a password alone", trusted("https://" + s), exec + ", password: p"},
		{"a plugin and a key alone", trusted("https://" + s), exec + ", client-key-data: YQ=="},
		{"a plugin that is wrong, and a token", trusted("https://" + s), "token: abc, exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"},
		{"a token and a token file", trusted("https://" + s), "token: abc, tokenFile: token"},
		{"a token and a token file that is gone", trusted("https://" + s), "token: abc, tokenFile: gone"},
		{"a token file that is gone", trusted("https://" + s), "tokenFile: gone"},
		{"a token and a password", trusted("https://" + s), "token: abc, username: u, password: p"},
		{"a token file and a password", trusted("https://" + s), "tokenFile: token, username: u, password: p"},
		{"a token and a password alone", trusted("https://" + s), "token: abc, password: p"},
		{"a token and a name alone", trusted("https://" + s), "token: abc, username: u"},
		{"a token file and a password alone", trusted("https://" + s), "tokenFile: token, password: p"},
		{"a password alone", trusted("https://" + s), "password: p"},
		{"a name alone", trusted("https://" + s), "username: u"},
		{"a key alone", trusted("https://" + s), "token: abc, client-key-data: YQ=="},
		{"a key file alone that is gone", trusted("https://" + s), "token: abc, client-key: gone"},
		{"a certificate alone", trusted("https://" + s), "token: abc, client-certificate-data: YQ=="},
		{"a token with a line end", trusted("https://" + s), `token: "abc\n"`},
		{"a token with line ends", trusted("https://" + s), `token: "abc\r\n"`},
		{"a token with space around it", trusted("https://" + s), `token: " abc "`},
		{"a token with a space in it", trusted("https://" + s), `token: "a bc"`},
		{"a token of spaces", trusted("https://" + s), `token: "  "`},
		{"impersonation", trusted("https://" + s), "token: abc, as: jane"},
		{"groups without a user to act for", trusted("https://" + s), "token: abc, as-groups: [a]"},
		{"no scheme", trusted(s), "token: abc"},
		{"no scheme, for plain HTTP", fmt.Sprintf("server: %q", p), "token: abc"},
		{"no scheme, a name", fmt.Sprintf("server: %q", strings.Replace(p, "127.0.0.1", "localhost", 1)), "token: abc"},
		{"no scheme, with a slash", fmt.Sprintf("server: %q", p+"/"), "token: abc"},
		{"no scheme, with a path", fmt.Sprintf("server: %q", p+"/a/b"), "token: abc"},
		{"no scheme, with a name and a path", fmt.Sprintf("server: %q", strings.Replace(p, "127.0.0.1", "localhost", 1)+"/a"), ""},
		{"no scheme, insecure", fmt.Sprintf("server: %q, insecure-skip-tls-verify: true", s), "token: abc"},
		{"no scheme, with a query", fmt.Sprintf("server: %q", p+"?a=b"), ""},
		{"no scheme, with a user", fmt.Sprintf("server: %q", "u:pw@"+p), ""},
		{"no scheme but slashes", fmt.Sprintf("server: %q", "//"+p), ""},
		{"plain HTTP and a token", fmt.Sprintf("server: %q", "http://"+p), "token: abc"},
		{"plain HTTP and a token file that is gone", fmt.Sprintf("server: %q", "http://"+p), "tokenFile: gone"},
		{"plain HTTP and a password", fmt.Sprintf("server: %q", "http://"+p), "username: u, password: p"},
		{"plain HTTP and a plugin", fmt.Sprintf("server: %q", "http://"+p), exec},
		{"plain HTTP and impersonation", fmt.Sprintf("server: %q", "http://"+p), "token: abc, as: jane"},
		{"plain HTTP with a CA", trusted("http://" + p), "token: abc"},
		{"plain HTTP with a CA and insecure", trusted("http://"+p) + ", insecure-skip-tls-verify: true", "token: abc"},
		{"a CA and insecure", trusted("https://"+s) + ", insecure-skip-tls-verify: true", "token: abc"},
		{"insecure", fmt.Sprintf("server: %q, insecure-skip-tls-verify: true", "https://"+s), "token: abc"},
		{"upper case", trusted("HTTPS://" + s), "token: abc"},
		{"another scheme", trusted("ftp://" + s), "token: abc"},
		{"a user in the server", trusted("https://u:pw@" + s), ""},
		{"a user in the server, and a token", trusted("https://u:pw@" + s), "token: abc"},
		{"a user in the server, and a plugin", trusted("https://u:pw@" + s), exec},
		{"a user in the server, and a password", trusted("https://u:pw@" + s), "username: a, password: b"},
		{"a user without a password in the server", trusted("https://u@" + s), "token: abc"},
		{"an empty user in the server", trusted("https://@" + s), "token: abc"},
		{"a user in the server of plain HTTP", fmt.Sprintf("server: %q", "http://u:pw@"+p), "token: abc"},
		{"a query", trusted("https://" + s + "?a=b"), "token: abc"},
		{"a query behind a slash", trusted("https://" + s + "/?a=b"), "token: abc"},
		{"a query behind a path", trusted("https://" + s + "/c?a=b"), "token: abc"},
		{"a fragment", trusted("https://" + s + "#a"), "token: abc"},
		{"a fragment behind a path", trusted("https://" + s + "/c#a"), "token: abc"},
		{"a path", trusted("https://" + s + "/a/b/"), "token: abc"},
		{"a path with a space", trusted("https://" + s + "/a b"), "token: abc"},
		{"a path with an escape", trusted("https://" + s + "/a%2Fb"), "token: abc"},
		{"space before the server", trusted(" https://" + s), "token: abc"},
		{"space behind the server", trusted("https://" + s + " "), "token: abc"},
		{"a line end behind the server", trusted("https://" + s + "\n"), "token: abc"},
		{"a slash and space behind the server", trusted("https://" + s + "/ "), "token: abc"},
		{"a path and space behind the server", trusted("https://" + s + "/a "), "token: abc"},
		{"no scheme and space", fmt.Sprintf("server: %q", p+" "), ""},
		{"no server", "certificate-authority-data: " + ca, "token: abc"},
		{"a proxy without a host", trusted("https://"+s) + ", proxy-url: 'http:'", "token: abc"},
		{"a proxy of another scheme", trusted("https://"+s) + ", proxy-url: 'socks5h://localhost:1'", "token: abc"},
		{"two CAs", trusted("https://"+s) + ", certificate-authority: gone", "token: abc"},
		{"a field twice", trusted("https://"+s) + ", tls-server-name: other, tls-server-name: example.com", "token: abc"},
		{"an unknown field", trusted("https://"+s) + ", sever: other", "token: abc"},
		{"an auth-provider", trusted("https://" + s), "auth-provider: {name: oidc, config: {}}"},
		{"a name with a colon", trusted("https://" + s), "username: 'a:b', password: c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			user := ", user: u"
			users := fmt.Sprintf("users: [{name: u, user: {%s}}]\n", strings.Trim(test.user, "{}"))
			if strings.HasPrefix(test.user, exec[:5]) || strings.Contains(test.user, "{") {
				users = fmt.Sprintf("users: [{name: u, user: {%s}}]\n", test.user)
			}
			switch test.user {
			case "-":
				users = ""
			case "":
				user, users = "", ""
			case "{}":
				users = "users: [{name: u, user: {}}]\n"
			}
			put("config", fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: k, cluster: {%s}}]\ncontexts: [{name: c, context: {cluster: k%s}}]\n%s",
				test.cluster, user, users))
			file := filepath.Join(dir, "config")
			theirErr := theirs(t.Context(), file)
			want := seen.take()
			warnings, ourErr := ours(t.Context(), file)
			got := seen.take()
			if (want != got) != (differences[test.name] != "") {
				t.Errorf("client-go: %s %v\nours:      %s %v %q", want, theirErr, got, ourErr, warnings)
			}
		})
	}
}

package kubeconfig

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// one is a kubeconfig with one context, whose cluster and user have the given fields.
func one(cluster, user string) string {
	return `
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {` + cluster + `}}]
users: [{name: u, user: {` + user + `}}]
`
}

const someServer = `server: "https://s:6443", `

func TestEachFieldReachesTheConfig(t *testing.T) {
	cert, key := keyPair(t, "admin")
	for _, test := range []struct {
		name          string
		cluster, user string
		want          string // as client.Config shows itself
		token         string
		key           []byte
	}{
		{"a server alone", `server: "https://s:6443/prefix"`, ``, `{Server:https://s:6443/prefix`, "", nil},
		{"a server without TLS", `server: "http://localhost:8001"`, ``, `{Server:http://localhost:8001`, "", nil},
		// behaviour 99: what the client makes of it is tested with the client.
		{"a name for TLS", someServer + `tls-server-name: api.example`, ``, ` ServerName:api.example`, "", nil},
		{"no verification", someServer + `insecure-skip-tls-verify: true`, ``, ` Insecure:true`, "", nil},
		{
			"no verification, in the words of YAML 1.1", someServer + `insecure-skip-tls-verify: yes`, ``, ` Insecure:true`,
			"", nil,
		},
		{
			"verification, in so many words", someServer + `insecure-skip-tls-verify: false, certificate-authority: /ca`, ``,
			` Insecure:false`, "", nil,
		},
		{"a CA file", someServer + `certificate-authority: /etc/ca.crt`, ``, `{CAFile:/etc/ca.crt CAData: `, "", nil},
		// behaviour 96, behaviour 95
		{
			"CA data beats a CA file",
			someServer + `certificate-authority: /etc/ca.crt, certificate-authority-data: ` + base(cert), ``,
			`{CAFile: CAData:[redacted] `, "", nil,
		},
		{
			"certificate and key data beat files", someServer,
			`client-certificate: /c, client-key: /k, client-certificate-data: ` + base(cert) + `, client-key-data: ` + base(key),
			` CertFile: CertData:[redacted] KeyFile: KeyData:[redacted] `, "", key,
		},
		{
			"certificate and key files", someServer, `client-certificate: /c, client-key: /k`,
			` CertFile:/c CertData: KeyFile:/k KeyData: `, "", nil,
		},
		{
			"a certificate file with key data", someServer,
			`client-certificate: /c, client-key: /k, client-key-data: ` + base(key),
			` CertFile:/c CertData: KeyFile: KeyData:[redacted] `, "", key,
		},
		{"a token", someServer, `token: abc`, ` BearerToken:[redacted] BearerTokenFile: `, "abc", nil},
		{"a token file", someServer, `tokenFile: /t`, ` BearerToken: BearerTokenFile:/t `, "", nil},
		{"a token file beats a token", someServer, `token: abc, tokenFile: /t`, ` BearerToken: BearerTokenFile:/t `, "", nil},
		{
			"a token and a certificate", someServer, `token: abc, client-certificate: /c, client-key: /k`, ` CertFile:/c `,
			"abc", nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(one(test.cluster, test.user)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := l.Config.String(); !strings.Contains(got, test.want) {
				t.Errorf("config is\n%s, want\n...%s...", got, test.want)
			}
			if string(l.Config.BearerToken) != test.token || string(l.Config.TLS.KeyData) != string(test.key) {
				t.Error("config has another token or key than the file")
			}
			if data := l.Config.TLS.CAData + l.Config.TLS.CertData; data != "" && data != client.Secret(cert) {
				t.Error("config has another certificate than the file")
			}
			if l.Config.Proxy != nil {
				t.Error("config has a proxy")
			}
		})
	}
}

// behaviour 102
func TestAProxyIsUsedForEveryRequest(t *testing.T) {
	for _, proxy := range []string{"http://p:3128", "https://p", "socks5://[::1]:1080", "HTTP://name:secret@p:3128"} {
		t.Run(proxy, func(t *testing.T) {
			l, err := Parse([]byte(one(someServer+`proxy-url: "`+proxy+`"`, ``)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequest(http.MethodGet, "https://localhost", nil)
			if err != nil {
				t.Fatal(err)
			}
			u, err := l.Config.Proxy(r)
			if err != nil || !strings.EqualFold(u.String(), proxy) {
				t.Errorf("proxy is %v, %v", u, err)
			}
		})
	}
}

func TestAContextMayLackUserAndNamespace(t *testing.T) {
	l, err := Parse([]byte(`
contexts: [{name: x, context: {cluster: c}}, {name: y, context: {cluster: c, namespace: web}}]
clusters: [{name: c, cluster: {server: "http://localhost"}}]
`), Options{Path: "/c", Context: "x"})
	if err != nil || l.Namespace != "default" || l.Context != "x" || l.Origin != "/c" {
		t.Errorf("parsed %v, %v", l, err)
	}
	if c := l.Config; c.BearerToken != "" || c.BearerTokenFile != "" || c.TLS.CertFile != "" {
		t.Errorf("parsed %v, want no credentials", c)
	}
}

// A mistake in a stanza that is not used may be there for years.
func TestOnlyTheContextThatIsUsedIsChecked(t *testing.T) {
	l, err := Parse([]byte(one(someServer, `token: abc`)+`
---
contexts: [{name: y, context: {cluster: missing}}, {name: z, context: [1]}, {name: w}]
clusters: [{name: d, cluster: {server: [1], server: 2, certificate-authority-data: "?"}}, {name: e, cluster: 5}]
users: [{name: v, user: {exec: {command: [rm]}, token: {a: b}}}]
`), Options{})
	if err != nil || l.Config.BearerToken != "abc" {
		t.Errorf("parsed %v, %v", l, err)
	}
}

// behaviour 94
func TestAMissingReferenceIsATypedError(t *testing.T) {
	const file = `
contexts:
- {name: no-cluster, context: {cluster: c1, user: u}}
- {name: no-user, context: {cluster: c, user: u1}}
clusters: [{name: c, cluster: {server: "https://s"}}]
users: [{name: u, user: {token: abc}}]
`
	for _, test := range []struct {
		name, current, context string
		want                   NotFoundError
		text                   string
	}{
		{
			"the current context", "current-context: x", "",
			NotFoundError{"context", "x", "/c", "current-context", ""},
			`kubeconfig /c: current-context: context "x" not found`,
		},
		{
			"the context that was asked for", "current-context: no-user", "y",
			NotFoundError{"context", "y", "/c", "", ""},
			`kubeconfig /c: context "y" not found`,
		},
		{
			"the cluster", "", "no-cluster",
			NotFoundError{"cluster", "c1", "/c", `contexts["no-cluster"]`, ""},
			`kubeconfig /c: contexts["no-cluster"]: cluster "c1" not found`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse([]byte(test.current+file), Options{Path: "/c", Context: test.context})
			err = fmt.Errorf("start: %w", errors.Join(err, errors.New("other")))
			var got *NotFoundError
			if !errors.As(err, &got) {
				t.Fatalf("error is %v, want a NotFoundError", err)
			}
			if *got != test.want || got.Error() != test.text {
				t.Errorf("error is %#v: %v", *got, got)
			}
			if errors.As(err, new(*EmptyError)) || errors.As(err, new(*FieldError)) {
				t.Error("it is an error of another type too")
			}
		})
	}
}

// What is wrong has the file, the stanza and the field in its text, and nothing that may be secret.
func TestErrorsNameTheStanzaAndTheField(t *testing.T) {
	const secret = "s3cr3t"
	cert, _ := keyPair(t, "admin")
	_, otherKey := keyPair(t, "other")
	for _, test := range []struct{ name, cluster, user, want string }{
		{"no server", ``, ``, `clusters["c"]: server is not set`},
		{"a server that is a list", `server: [s3cr3t]`, ``, `clusters["c"]: server must be a string`},
		{
			"a server without a host", `server: "https://:6443"`, ``,
			`clusters["c"]: server must be an absolute http or https URL, got "https://:6443"`,
		},
		{
			"a server that is no URL", `server: "https://a b"`, ``,
			`clusters["c"]: server must be an absolute http or https URL, got "https://a b"`,
		},
		{
			"a server with control characters", `server: "https://a\e[2J"`, ``,
			`clusters["c"]: server must be an absolute http or https URL, got "https://a\x1b[2J"`,
		},
		{
			"a server of another scheme", `server: "unix:///s"`, ``,
			`clusters["c"]: server must be an absolute http or https URL, got "unix:///s"`,
		},
		{
			"a wrong server with a password", `server: "https://a:s3c/r3ts3cr3t@b:x"`, ``,
			`clusters["c"]: server must be an absolute http or https URL`,
		},
		// behaviour 97
		{
			"a CA file without verification", someServer + `insecure-skip-tls-verify: true, certificate-authority: /ca`, ``,
			`clusters["c"]: insecure-skip-tls-verify excludes certificate-authority and certificate-authority-data`,
		},
		{
			"CA data without verification",
			someServer + `insecure-skip-tls-verify: true, certificate-authority-data: ` + base(cert), ``,
			`clusters["c"]: insecure-skip-tls-verify excludes certificate-authority and certificate-authority-data`,
		},
		{
			"verification that is a number", someServer + `insecure-skip-tls-verify: 1`, ``,
			`clusters["c"]: insecure-skip-tls-verify must be true or false`,
		},
		{
			"CA data that is not base64", someServer + `certificate-authority-data: "s3cr3t?"`, ``,
			`clusters["c"]: certificate-authority-data is not base64: illegal base64 data at input byte 6`,
		},
		{
			"CA data that is not PEM", someServer + `certificate-authority-data: czNjcjN0`, ``,
			`clusters["c"]: certificate-authority-data holds no PEM certificate`,
		},
		{
			"a relative path without a folder", someServer + `certificate-authority: ca.crt`, ``,
			`clusters["c"]: certificate-authority must be an absolute path, because it is not in a file, got "ca.crt"`,
		},
		// behaviour 102
		{
			"a proxy of another scheme", someServer + `proxy-url: "ftp://p"`, ``,
			`clusters["c"]: proxy-url must be an http, https or socks5 URL with a host, got "ftp://p"`,
		},
		{
			"a proxy without a scheme", someServer + `proxy-url: "p:8080"`, ``,
			`clusters["c"]: proxy-url must be an http, https or socks5 URL with a host, got "p:8080"`,
		},
		{
			"a proxy without a host", someServer + `proxy-url: "http://:8080"`, ``,
			`clusters["c"]: proxy-url must be an http, https or socks5 URL with a host, got "http://:8080"`,
		},
		{
			"a wrong proxy with a password", someServer + `proxy-url: "http://a:s3cr3t@:8080"`, ``,
			`clusters["c"]: proxy-url must be an http, https or socks5 URL with a host`,
		},

		{"a user that is a text", someServer, `token: [s3cr3t]`, `users["u"]: token must be a string`},
		{
			"a token of two lines", someServer, `token: "s3cr3t\nX"`,
			`users["u"]: token must have no spaces or control characters`,
		},
		{"a token that YAML would decode", someServer, `token: !!binary czNjcjN0`, `users["u"]: token must be a string`},
		{"a token that is set twice", someServer, `token: s3cr3t, token: s3cr3t2`, `users["u"]: token is set twice`},
		{
			"key data that is not base64", someServer, `client-certificate: /c, client-key-data: "s3cr3t s3cr3t"`,
			`users["u"]: client-key-data is not base64: illegal base64 data at input byte 6`,
		},
		{
			"a certificate without a key", someServer, `client-certificate: /c`,
			`users["u"]: client-certificate needs client-key or client-key-data`,
		},
		{
			"certificate data without a key", someServer, `client-certificate-data: czNjcjN0`,
			`users["u"]: client-certificate needs client-key or client-key-data`,
		},
		{
			"a certificate that is not PEM", someServer, `client-certificate-data: czNjcjN0, client-key-data: czNjcjN0`,
			`users["u"]: client-key-data is not the private key of client-certificate-data, or one of them is not PEM`,
		},
		{
			"the key of another certificate", someServer,
			`client-certificate-data: ` + base(cert) + `, client-key-data: ` + base(otherKey),
			`users["u"]: client-key-data is not the private key of client-certificate-data, or one of them is not PEM`,
		},
		// behaviour 95
		{
			"a token and a password", someServer, `token: s3cr3t, username: a, password: s3cr3t`,
			`users["u"]: token excludes username: only one authentication method is allowed`,
		},
		// behaviour 101
		{
			"a plugin and a provider", someServer, `exec: {command: c}, auth-provider: {name: oidc}`,
			`users["u"]: exec excludes auth-provider: only one authentication method is allowed`,
		},
		{
			"a name that would be another", someServer, `username: "a:b", password: s3cr3t`,
			`users["u"]: username must not have a colon in it`,
		},
		{
			"a name of two lines", someServer, `username: "a\nb"`, `users["u"]: username must have no control characters`,
		},
		{
			"a password of two lines", someServer, `username: a, password: "s3cr3t\r\nX: y"`,
			`users["u"]: password must have no control characters`,
		},
		// behaviour 100
		{"a uid without a user", someServer, `as-uid: "1"`, `users["u"]: as-uid needs as: the user to act for`},
		{"groups without a user", someServer, `as: "", as-groups: [a]`, `users["u"]: as-groups needs as: the user to act for`},
		{
			"extra fields without a user", someServer, `as-user-extra: {a: [b]}`,
			`users["u"]: as-user-extra needs as: the user to act for`,
		},
		{"a user that is a list", someServer, `as: [a]`, `users["u"]: as must be a string`},
		{
			"groups that are a text", someServer, `as: a, as-groups: b`,
			`users["u"]: as-groups must be a list of strings, none of them empty`,
		},
		{
			"a group that is empty", someServer, `as: a, as-groups: [b, ""]`,
			`users["u"]: as-groups must be a list of strings, none of them empty`,
		},
		{
			"extra fields that are a list", someServer, `as: a, as-user-extra: [b]`,
			`users["u"]: as-user-extra must be a mapping of names to lists of strings, none of them empty`,
		},
		{
			"an extra field that is a text", someServer, `as: a, as-user-extra: {b: c}`,
			`users["u"]: as-user-extra must be a mapping of names to lists of strings, none of them empty`,
		},
		{
			"an extra field without a name", someServer, `as: a, as-user-extra: {"": [c]}`,
			`users["u"]: as-user-extra must be a mapping of names to lists of strings, none of them empty`,
		},
		{
			"an extra field that comes twice", someServer, `as: a, as-user-extra: {b: [c], b: [d]}`,
			`users["u"]: as-user-extra has "b" twice`,
		},
		{
			"a user with another header in it", someServer, `as: "a\r\nImpersonate-Group: system:masters"`,
			`users["u"]: as must have no control characters`,
		},
		{"a user with space around it", someServer, `as: " admin"`, `users["u"]: as must have no space around it`},
		{"a uid with a control character", someServer, `as: a, as-uid: "\e[2J"`, `users["u"]: as-uid must have no control characters`},
		{
			"a group with a control character", someServer, `as: a, as-groups: [a, "b\n"]`,
			`users["u"]: as-groups must have no control characters`,
		},
		{
			"an extra field with a control character", someServer, `as: a, as-user-extra: {b: ["\0"]}`,
			`users["u"]: as-user-extra must have no control characters`,
		},
		{
			"a name of an extra field with a control character", someServer, `as: a, as-user-extra: {"b\x7f": [c]}`,
			`users["u"]: as-user-extra must have no control characters`,
		},
		{
			"compression that is a text", someServer + `disable-compression: maybe`, ``,
			`clusters["c"]: disable-compression must be true or false`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(one(test.cluster, test.user)), Options{})
			if err == nil {
				t.Fatalf("parsed %v", l)
			}
			if err.Error() != "kubeconfig: "+test.want {
				t.Errorf("error is\n%v, want\nkubeconfig: %v", err, test.want)
			}
			for _, shown := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, err)} {
				if strings.Contains(shown, secret) {
					t.Errorf("error shows a secret: %s", shown)
				}
			}
			f := (*FieldError)(nil)
			if !errors.As(err, &f) || f.stanza == "" || f.field == "" {
				t.Errorf("error is %#v, want a FieldError with stanza and field", err)
			}
			if errors.Is(err, errors.ErrUnsupported) {
				t.Error("the field is not unsupported but wrong")
			}
		})
	}
}

// What is not supported is refused whatever is in it.
func TestAUserWithAnUnsupportedFieldIsNeverUsedWithoutIt(t *testing.T) {
	for _, test := range []struct{ name, user, field, want string }{
		{
			"a provider", `auth-provider: {name: oidc, config: {id-token: s3cr3t}}`, "auth-provider",
			"is not supported: use a credential plugin (exec), which has replaced it in Kubernetes",
		},
		{
			"a provider beside a token", `token: s3cr3t, auth-provider: {name: gcp}`, "auth-provider",
			"is not supported: use a credential plugin (exec), which has replaced it in Kubernetes",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(one(someServer, test.user)), Options{Path: "/c"})
			f := (*FieldError)(nil)
			if !errors.As(err, &f) || !errors.Is(err, errors.ErrUnsupported) {
				t.Fatalf("parsed %v, %v; want a FieldError that is ErrUnsupported", l, err)
			}
			if f.file != "/c" || f.stanza != `users["u"]` || f.field != test.field {
				t.Errorf("error is %#v, want it to name %s", f, test.field)
			}
			if want := `kubeconfig /c: users["u"]: ` + test.field + " " + test.want; err.Error() != want {
				t.Errorf("error is %q, want %q", err, want)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t") {
				t.Errorf("error shows what is in the field: %v", err)
			}
			if l.Config.Server != "" {
				t.Errorf("a Config comes with the error: %v", l)
			}
		})
	}
}

// behaviour 100
func TestPasswordImpersonationAndCompressionReachTheConfig(t *testing.T) {
	for _, test := range []struct {
		name, cluster, user string
		want                client.Config
	}{
		{"a password", ``, `username: anna, password: "s3cr3t: ü"`, client.Config{Username: "anna", Password: "s3cr3t: ü"}},
		{"a name without a password", ``, `username: anna`, client.Config{Username: "anna"}},
		{"a password that looks like a number", ``, `username: 007, password: 0x10`, client.Config{Username: "007", Password: "0x10"}},
		{"no compression", `disable-compression: true`, ``, client.Config{Uncompressed: true}},
		{"compression", `disable-compression: false`, ``, client.Config{}},
		{
			"impersonation of a user", ``, `token: abc, as: "system:serviceaccount:web:a"`,
			client.Config{BearerToken: "abc", Impersonate: &client.Subject{User: "system:serviceaccount:web:a"}},
		},
		{
			"all of impersonation", ``,
			`as: anna, as-uid: 17, as-groups: [devs, "system:masters"], as-user-extra: {scopes: [a, 2], Empty: [], none: null}`,
			client.Config{Impersonate: &client.Subject{
				User: "anna", UID: "17", Groups: []string{"devs", "system:masters"},
				Extra: map[string][]string{"scopes": {"a", "2"}, "Empty": {}, "none": {}},
			}},
		},
		{
			"what is empty impersonates nobody", ``, `as: "", as-uid: null, as-groups: [], as-user-extra: {}`,
			client.Config{},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse([]byte(one(someServer+test.cluster, test.user)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			test.want.Server = "https://s:6443"
			if !reflect.DeepEqual(l.Config, test.want) {
				t.Errorf("config has %q:%q %#v, want %q:%q %#v", l.Config.Username, l.Config.Password, l.Config.Impersonate,
					test.want.Username, test.want.Password, test.want.Impersonate)
			}
		})
	}
}

func TestAContextWithoutAClusterAndAFileWithoutACurrentContextAreErrors(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{
			"no cluster", "current-context: x\ncontexts: [{name: x, context: {user: u}}]",
			`kubeconfig /c: contexts["x"]: cluster is not set`,
		},
		{"no body", "current-context: x\ncontexts: [{name: x}]", `kubeconfig /c: contexts["x"]: cluster is not set`},
		{
			"a body of the wrong shape", "current-context: x\ncontexts: [{name: x, context: [a]}]",
			`kubeconfig /c: contexts["x"]: must be a mapping`,
		},
		{
			"no current context", "contexts: [{name: x}]",
			`kubeconfig /c: current-context is not set, and Options.Context is empty`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Parse([]byte(test.data), Options{Path: "/c"}); err == nil || err.Error() != test.want {
				t.Errorf("error is\n%v, want\n%v", err, test.want)
			}
		})
	}
}

package kubeconfig

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
)

// merged is the merged content of one or more files.
type merged struct {
	sources       []*source
	current       string
	currentSource *source
	ignored       []string // warnings about unknown fields outside the stanzas
	lost          []string // warnings about entries without a name, at most maxOther of a file
	contexts      map[string]*stanza
	clusters      map[string]*stanza
	users         map[string]*stanza
}

// add merges the next file. Existing entries win.
func (m *merged) add(next *merged) {
	m.sources = append(m.sources, next.sources...)
	if m.current == "" {
		m.current, m.currentSource = next.current, next.currentSource
	}
	m.ignored, m.lost = append(m.ignored, next.ignored...), append(m.lost, next.lost...)
	m.contexts = unite(m.contexts, next.contexts)
	m.clusters = unite(m.clusters, next.clusters)
	m.users = unite(m.users, next.users)
}

func unite(first, next map[string]*stanza) map[string]*stanza {
	if first == nil {
		return next
	}
	for name, s := range next {
		if first[name] == nil {
			first[name] = s
		}
	}
	return first
}

// copied returns m with its own maps, because add may change those of the first file.
func (m *merged) copied() *merged {
	c := *m
	c.contexts, c.clusters, c.users = maps.Clone(m.contexts), maps.Clone(m.clusters), maps.Clone(m.users)
	return &c
}

// empty reports whether nothing is configured.
func (m *merged) empty() bool {
	return m.current == "" && len(m.contexts) == 0 && len(m.clusters) == 0 && len(m.users) == 0 && len(m.lost) == 0
}

// files names the files.
func (m *merged) files() []string {
	var names []string
	for _, src := range m.sources {
		if src.name != "" {
			names = append(names, src.name)
		}
	}
	return names
}

// pick returns the configuration of a context, or of the current one.
func (m *merged) pick(name string, o Plugins) (Loaded, error) {
	if m.empty() {
		return Loaded{}, &EmptyError{Files: m.files()}
	}
	missing := &NotFoundError{What: "context", Name: name, File: strings.Join(m.files(), ", "), Ignored: strings.Join(m.lost, "; ")}
	if name == "" {
		if m.current == "" {
			err := errors.New("is not set, and no context was asked for")
			return Loaded{}, &FieldError{File: missing.File, Field: "current-context", Err: err}
		}
		name = m.current
		missing = &NotFoundError{What: "context", Name: name, File: m.currentSource.name, Stanza: "current-context", Ignored: strings.Join(m.lost, "; ")}
	}
	context := m.contexts[name].clone()
	if context == nil {
		return Loaded{}, missing
	}

	l := Loaded{Context: name, Origin: context.src.name, Namespace: context.text("namespace")}
	if l.Namespace == "" {
		l.Namespace = "default"
	}
	clusterName, userName := context.text("cluster"), context.text("user")
	if clusterName == "" {
		context.fail("cluster", errors.New("is not set"))
	}
	if context.err != nil {
		return Loaded{}, context.err
	}
	refers := NotFoundError{File: context.src.name, Stanza: context.path, Ignored: strings.Join(m.lost, "; ")}
	cluster := m.clusters[clusterName].clone()
	if cluster == nil {
		refers.What, refers.Name = "cluster", clusterName
		return Loaded{}, &refers
	}
	cluster.cluster(&l.Config)
	if cluster.err != nil {
		return Loaded{}, cluster.err
	}
	l.Warnings = slices.Concat(m.lost, m.ignored, context.ignored(), cluster.ignored())
	if userName == "" {
		return l, nil
	}
	user := m.users[userName].clone()
	if user == nil {
		refers.What, refers.Name = "user", userName
		return Loaded{}, &refers
	}
	user.user(&l.Config, cluster)
	user.exec(&l.Config, cluster, o)
	if user.err != nil {
		return Loaded{}, user.err
	}
	l.Warnings = append(append(l.Warnings, user.ignored()...), user.open()...)
	return l, nil
}

// cluster applies a cluster's stanza: the server's address and how to verify it.
func (s *stanza) cluster(c *client.Config) {
	c.Server = s.text("server")
	if s.err == nil {
		if err := checkServer(c.Server); err != nil {
			s.fail("server", err)
		}
	}
	c.Uncompressed = s.flag("disable-compression")
	c.TLS.ServerName = s.text("tls-server-name")
	c.TLS.Insecure = s.flag("insecure-skip-tls-verify")
	c.TLS.CAData, c.TLS.CAFile = s.either("certificate-authority")
	if c.TLS.Insecure && (len(c.TLS.CAData) > 0 || c.TLS.CAFile != "") {
		s.fail("insecure-skip-tls-verify", errors.New("excludes certificate-authority and certificate-authority-data"))
	}
	if len(c.TLS.CAData) > 0 && !x509.NewCertPool().AppendCertsFromPEM(c.TLS.CAData) {
		s.fail("certificate-authority-data", errors.New("holds no PEM certificate"))
	}
	if proxy := s.text("proxy-url"); proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5") {
			s.fail("proxy-url", fmt.Errorf("must be an http, https or socks5 URL with a host%s", got(proxy)))
			return
		}
		c.Proxy = http.ProxyURL(u)
	}
}

// checkServer returns why a server cannot be used, by the rules of client.New.
func checkServer(server string) error {
	if server == "" {
		return errors.New("is not set")
	}
	u, err := url.Parse(server)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return fmt.Errorf("must be an absolute http or https URL%s", got(server))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must have no user, query or fragment")
	}
	return nil
}

// got quotes a wrong URL, unless it may contain a password or a token.
func got(s string) string {
	if strings.ContainsAny(s, "@?#") || len(s) > 200 {
		return ""
	}
	return fmt.Sprintf(", got %q", s)
}

// methods are the authentication methods that exclude each other, each with the fields of a user that select it. With two,
// a server would use one, and the file does not say which. A client certificate belongs to the connection, so it may come
// with a token or a password; a plugin may return a certificate too.
var methods = []struct{ fields, others []string }{
	{[]string{"token", "tokenFile"}, []string{"username", "password"}},
	{[]string{"exec"}, []string{
		"auth-provider", "token", "tokenFile", "username", "password",
		"client-certificate", "client-certificate-data", "client-key", "client-key-data",
	}},
}

// oneMethod checks that a user has only one authentication method.
func (s *stanza) oneMethod() {
	for _, method := range methods {
		for _, other := range method.others {
			for _, field := range method.fields {
				if s.has(field) && s.has(other) {
					s.fail(field, fmt.Errorf("excludes %s: only one authentication method is allowed", other))
				}
			}
		}
	}
}

// user applies a user's stanza: the identity at the server of the given cluster.
func (s *stanza) user(c *client.Config, cluster *stanza) {
	s.oneMethod()
	if s.has("auth-provider") { // ignoring it would mean acting as somebody else
		s.fail("auth-provider", unsupported("is not supported: use a credential plugin (exec), which has replaced it in Kubernetes"))
	}

	// A token file is read again when the token expires, so it is better than the token that it held once.
	if c.BearerTokenFile = s.file("tokenFile"); c.BearerTokenFile == "" {
		c.BearerToken = s.text("token")
	}
	if strings.ContainsFunc(c.BearerToken, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		s.fail("token", errors.New("has a space or a control character in it"))
	}
	s.password(c)
	s.impersonation(c)
	t := &c.TLS
	t.CertData, t.CertFile = s.either("client-certificate")
	t.KeyData, t.KeyFile = s.either("client-key")
	hasCert, hasKey := len(t.CertData) > 0 || t.CertFile != "", len(t.KeyData) > 0 || t.KeyFile != ""
	switch {
	case hasCert && !hasKey:
		s.fail("client-certificate", errors.New("needs client-key or client-key-data"))
	case hasKey && !hasCert:
		s.fail("client-key", errors.New("needs client-certificate or client-certificate-data"))
	case len(t.CertData) > 0 && len(t.KeyData) > 0:
		if _, err := tls.X509KeyPair(t.CertData, t.KeyData); err != nil {
			s.fail("client-key-data", errors.New("is not the private key of client-certificate-data, or one of them is not PEM"))
		}
	}

	// Other clients drop the credentials here, or send them in clear text.
	if u, err := url.Parse(c.Server); err == nil && u.Scheme == "http" {
		for _, field := range []string{"token", "tokenFile", "username", "client-certificate", "client-certificate-data", "exec"} {
			if s.has(field) {
				s.fail(field, fmt.Errorf("needs a server with https, and %s has none", cluster.path))
			}
		}
	}
}

// password sets the name and the password of basic authentication (RFC 7617, section 2: no colon in the name, and no
// control character in either).
func (s *stanza) password(c *client.Config) {
	c.Username, c.Password = s.text("username"), s.text("password")
	switch {
	case c.Username == "" && c.Password != "":
		s.fail("password", errors.New("needs username"))
	case strings.Contains(c.Username, ":"):
		s.fail("username", errors.New("must not have a colon in it"))
	case strings.ContainsFunc(c.Username, unicode.IsControl):
		s.fail("username", errNotText)
	case strings.ContainsFunc(c.Password, unicode.IsControl):
		s.fail("password", errNotText)
	}
}

var errNotText = errors.New("has a control character in it")

// impersonation sets the user to act for. All its values are sent in HTTP headers, which end at a line end and lose
// surrounding space: a value that is refused here would be a different one at the server. Programs may write as with an
// empty text; as in other clients, that means no impersonation.
func (s *stanza) impersonation(c *client.Config) {
	var i client.Impersonation
	i.User, i.UID = s.text("as"), s.text("as-uid")
	i.Groups, i.Extra = s.list("as-groups"), s.lists("as-user-extra")
	for _, field := range []string{"as-uid", "as-groups", "as-user-extra"} {
		if n := s.value(field); i.User == "" && s.has(field) && (n.Kind == yaml.ScalarNode || len(n.Content) > 0) {
			s.fail(field, errors.New("needs as: the user to act for"))
		}
	}
	check := func(field string, texts ...string) {
		for _, text := range texts {
			switch {
			case strings.ContainsFunc(text, unicode.IsControl):
				s.fail(field, errNotText)
			case strings.TrimSpace(text) != text:
				s.fail(field, errors.New("has space around it"))
			}
		}
	}
	check("as", i.User)
	check("as-uid", i.UID)
	check("as-groups", i.Groups...)
	for _, key := range slices.Sorted(maps.Keys(i.Extra)) {
		check("as-user-extra", key)
		check("as-user-extra", i.Extra[key]...)
	}
	if i.User != "" {
		c.Impersonate = &i
	}
}

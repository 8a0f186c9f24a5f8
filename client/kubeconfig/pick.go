package kubeconfig

import (
	"cmp"
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
	"github.com/bowline-go/bowline/internal/conn"
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

// pick returns the configuration of a context, or of the current one. An error names the unknown fields that may be the
// cause.
func (m *merged) pick(name string, o Plugins) (Loaded, error) {
	var used []*stanza
	l, err := m.choose(name, o, &used)
	if err != nil {
		var unknown []string
		for _, s := range used {
			unknown = append(unknown, s.ignored()...)
		}
		return Loaded{}, m.explain(err, unknown...)
	}
	return l, nil
}

// explain adds to an error the warnings about unknown fields outside the stanzas, and the warnings in more.
func (m *merged) explain(err error, more ...string) error {
	if ignored := slices.Concat(m.ignored, more); len(ignored) > 0 && err != nil {
		return fmt.Errorf("%w (%s)", err, strings.Join(ignored, "; "))
	}
	return err
}

// choose is pick, but its error does not name unknown fields. It adds the stanzas that it reads to used.
func (m *merged) choose(name string, o Plugins, used *[]*stanza) (Loaded, error) {
	if m.empty() {
		return Loaded{}, &EmptyError{files: m.files()}
	}
	missing := &NotFoundError{What: "context", Name: name, file: strings.Join(m.files(), ", "), ignored: strings.Join(m.lost, "; ")}
	if name == "" {
		if m.current == "" {
			err := errors.New("is not set, and Options.Context is empty")
			return Loaded{}, &FieldError{file: missing.file, field: "current-context", err: err}
		}
		name = m.current
		missing = &NotFoundError{What: "context", Name: name, file: m.currentSource.name, stanza: "current-context", ignored: strings.Join(m.lost, "; ")}
	}
	context := m.contexts[name].clone()
	if context == nil {
		return Loaded{}, missing
	}

	*used = append(*used, context)
	l := Loaded{Context: name, Origin: context.src.name, Namespace: cmp.Or(context.text("namespace"), "default")}
	clusterName, userName := context.text("cluster"), context.text("user")
	if clusterName == "" {
		context.fail("cluster", errors.New("is not set"))
	}
	if context.err != nil {
		return Loaded{}, context.err
	}
	refers := NotFoundError{file: context.src.name, stanza: context.path, ignored: strings.Join(m.lost, "; ")}
	cluster := m.clusters[clusterName].clone()
	if cluster == nil {
		refers.What, refers.Name = "cluster", clusterName
		return Loaded{}, &refers
	}
	*used = append(*used, cluster)
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
		l.Warnings = append(l.Warnings, refers.Error()+": no credentials are sent")
		return l, nil
	}
	*used = append(*used, user)
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
	if u := s.address(); u != nil {
		c.Server = s.origin(c, u)
	}
	c.Uncompressed = s.flag("disable-compression")
	c.TLS.ServerName = s.text("tls-server-name")
	c.TLS.Insecure = s.flag("insecure-skip-tls-verify")
	c.TLS.CAData, c.TLS.CAFile = s.either("certificate-authority")
	if unencrypted(c.Server) {
		c.TLS = client.TLS{}
	}
	if c.TLS.Insecure && (c.TLS.CAData != "" || c.TLS.CAFile != "") {
		s.fail("insecure-skip-tls-verify", errors.New("excludes certificate-authority and certificate-authority-data"))
	}
	if c.TLS.CAData != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(c.TLS.CAData)) {
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

// address returns the URL of the server as it is written, and nil if there is none that can be used. Like kubectl, it
// accepts a server without a scheme, and plain HTTP is then used.
func (s *stanza) address() *url.URL {
	text := s.text("server")
	u, err := parseServer(text)
	if trimmed := strings.TrimSpace(text); err != nil && trimmed != text {
		if u, err = parseServer(trimmed); err == nil {
			s.unwise("server", errors.New("must have no space around it"), "it is ignored")
		}
	}
	if err != nil {
		s.fail("server", err)
	}
	return u
}

// origin returns the server to connect to. A user in its URL takes the place of other credentials, as in kubectl.
func (s *stanza) origin(c *client.Config, u *url.URL) string {
	if !strings.Contains(s.text("server"), "://") {
		s.unwise("server", fmt.Errorf("must be an absolute http or https URL%s", got(s.text("server"))), "plain HTTP is used")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		s.unwise("server", errServer, "the query and the fragment are ignored")
	}
	server := withoutUser(u)
	password, _ := u.User.Password()
	switch {
	case u.User == nil:
		return server
	case u.User.Username() == "":
		s.unwise("server", errServer, "the user is ignored, because it has no name")
		return server
	case u.Scheme == "http":
		s.unwise("server", errServer, "the user is sent in clear text")
	default:
		s.unwise("server", errServer, "the user is sent, and no other token or password")
	}
	c.Username, c.Password = u.User.Username(), client.Secret(password)
	s.checkPassword(c, "server", "server")
	return server
}

// withoutUser returns the server of a URL: without its user, query and fragment.
func withoutUser(u *url.URL) string {
	o := *u
	o.User, o.RawQuery, o.ForceQuery, o.Fragment, o.RawFragment = nil, "", false, "", ""
	return o.String()
}

var errServer = errors.New("must have no user, query or fragment")

// unencrypted reports whether a server uses plain HTTP. The credentials of a user are not sent to such a server;
// kubectl does not send them either.
func unencrypted(server string) bool {
	u, err := url.Parse(server)
	return err == nil && u.Scheme == "http"
}

// parseServer returns the URL of a server, or why it cannot be used.
func parseServer(server string) (*url.URL, error) {
	if server == "" {
		return nil, errors.New("is not set")
	}
	bad := fmt.Errorf("must be an absolute http or https URL%s", got(server))
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" || u.Host == "" {
		if u, err = url.Parse("http://" + server); err != nil || u.Path != "" && u.Path != "/" || strings.Contains(server, "://") {
			return nil, bad
		}
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, bad
	}
	return u, nil
}

// checkServer returns why a server cannot be used, by the rules of client.New.
func checkServer(server string) error {
	u, err := parseServer(server)
	switch {
	case err != nil:
		return err
	case !strings.Contains(server, "://"):
		return fmt.Errorf("must be an absolute http or https URL%s", got(server))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errServer
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

// methods are the authentication methods that exclude each other, as in kubectl. With two, a server would use one, and
// the file does not say which. A client certificate belongs to the connection, so it may come with a token or a
// password; a plugin may return a certificate too.
var methods = []struct {
	field  string
	others []string
}{
	{"token", []string{"username", "password"}},
	{"tokenFile", []string{"username"}},
	{"exec", []string{"auth-provider"}},
}

// credentialFields are the fields of a user that prove who it is.
var credentialFields = []string{
	"token", "tokenFile", "username", "password", "client-certificate", "client-certificate-data", "client-key", "client-key-data",
	"exec", "auth-provider",
}

// oneMethod checks that a user has only one authentication method.
func (s *stanza) oneMethod() {
	for _, method := range methods {
		for _, other := range method.others {
			if s.has(method.field) && s.has(other) {
				s.fail(method.field, fmt.Errorf("excludes %s: only one authentication method is allowed", other))
			}
		}
	}
	if !s.has("exec") {
		return
	}
	for _, other := range []string{"token", "tokenFile", "username", "client-certificate", "client-certificate-data"} {
		if s.has(other) {
			s.unwise("exec", fmt.Errorf("excludes %s: only one authentication method is allowed", other), "the plugin is not used")
		}
	}
	for _, other := range []string{"password", "client-key", "client-key-data"} {
		if s.has(other) && s.strict {
			s.fail("exec", fmt.Errorf("excludes %s: only one authentication method is allowed", other))
		}
	}
}

// fixed reports whether the file has a credential that takes the place of a plugin, as in kubectl.
func (s *stanza) fixed(c *client.Config) bool {
	return c.BearerToken != "" || c.BearerTokenFile != "" || c.Username != "" || c.TLS.CertFile != "" || c.TLS.CertData != ""
}

// user applies a user's stanza: the identity at the server of the given cluster.
func (s *stanza) user(c *client.Config, cluster *stanza) {
	if unencrypted(c.Server) { // kubectl does not send credentials in clear text either
		for _, field := range credentialFields {
			if s.has(field) {
				s.unwise(field, fmt.Errorf("needs an https server, but %s has none", cluster.path), "it is not sent")
			}
		}
		s.impersonation(c)
		return
	}
	s.oneMethod()
	if s.has("auth-provider") { // without auth-provider, the program would act as another user
		s.fail("auth-provider", unsupported("is not supported: use a credential plugin (exec), which has replaced it in Kubernetes"))
	}
	if c.Username == "" { // otherwise the server's URL has a user
		s.token(c)
		s.password(c)
	}
	s.impersonation(c)
	t := &c.TLS
	if !s.has("client-certificate") && !s.has("client-certificate-data") {
		if s.has("client-key") || s.has("client-key-data") {
			s.unwise("client-key", errors.New("needs client-certificate or client-certificate-data"), "it is ignored")
		}
		return
	}
	t.CertData, t.CertFile = s.either("client-certificate")
	t.KeyData, t.KeyFile = s.either("client-key")
	hasCert, hasKey := t.CertData != "" || t.CertFile != "", t.KeyData != "" || t.KeyFile != ""
	switch {
	case hasCert && !hasKey:
		s.fail("client-certificate", errors.New("needs client-key or client-key-data"))
	case t.CertData != "" && t.KeyData != "":
		if _, err := tls.X509KeyPair([]byte(t.CertData), []byte(t.KeyData)); err != nil {
			s.fail("client-key-data", errors.New("is not the private key of client-certificate-data, or one of them is not PEM"))
		}
	}
}

// token sets the token. A token file that can be read takes the place of the token, because the client reads the file
// again when the token expires.
func (s *stanza) token(c *client.Config) {
	text := s.text("token")
	c.BearerToken = client.Secret(strings.TrimSpace(text))
	if string(c.BearerToken) != text {
		s.unwise("token", errToken, "the space around it is ignored")
	}
	if conn.HasControl(c.BearerToken) {
		s.fail("token", errToken)
	}
	files := s.clone()
	if c.BearerTokenFile = files.file("tokenFile"); files.err == nil {
		if c.BearerTokenFile != "" {
			c.BearerToken = ""
		}
		return
	}
	fault, ok := errors.AsType[*FieldError](files.err)
	if c.BearerToken == "" || !ok {
		s.err = files.err
		return
	}
	s.unwise("tokenFile", fault.err, "the token is used")
}

var errToken = errors.New("must have no spaces or control characters")

// password sets the username and the password of basic authentication (RFC 7617, section 2: no colon in the username,
// and no control character in either).
func (s *stanza) password(c *client.Config) {
	c.Username, c.Password = s.text("username"), client.Secret(s.text("password"))
	if c.Username == "" && c.Password != "" {
		s.unwise("password", errors.New("needs username"), "it is ignored")
		c.Password = ""
	}
	s.checkPassword(c, "username", "password")
}

func (s *stanza) checkPassword(c *client.Config, username, password string) {
	switch {
	case strings.Contains(c.Username, ":"):
		s.fail(username, errors.New("must not have a colon in it"))
	case strings.ContainsFunc(c.Username, unicode.IsControl):
		s.fail(username, errNotText)
	case strings.ContainsFunc(string(c.Password), unicode.IsControl):
		s.fail(password, errNotText)
	}
}

var errNotText = errors.New("must have no control characters")

// impersonation sets the user to act for. The client sends all values in HTTP headers, which cannot contain control
// characters and lose surrounding space. So impersonation refuses such values: the server would read different ones. A
// program may write the field "as" with an empty text; as in other clients, that means no impersonation.
func (s *stanza) impersonation(c *client.Config) {
	var i client.Subject
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
				s.fail(field, errors.New("must have no space around it"))
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

package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/shown"
)

// A type that may hold a secret is printed, logged and encoded as a view, in which a placeholder stands for each secret.

// view is the part of a Config that may be shown.
type view struct {
	Server          string `json:"server"`
	CAFile          string `json:"caFile,omitempty"`
	CAData          string `json:"caData,omitempty"`
	CertFile        string `json:"certFile,omitempty"`
	CertData        string `json:"certData,omitempty"`
	KeyFile         string `json:"keyFile,omitempty"`
	KeyData         string `json:"keyData,omitempty"`
	ServerName      string `json:"serverName,omitempty"`
	Insecure        bool   `json:"insecure,omitempty"`
	BearerToken     string `json:"bearerToken,omitempty"`
	BearerTokenFile string `json:"bearerTokenFile,omitempty"`
	UserAgent       string `json:"userAgent,omitempty"`
	Username        string `json:"username,omitempty"`
	Password        string `json:"password,omitempty"`
	Credentials     string `json:"credentials,omitempty"`
	Impersonate     string `json:"impersonate,omitempty"`
}

func (c Config) view() view {
	v := view{
		Server: redactURL(c.Server), CAFile: showPath(c.TLS.CAFile), CAData: redactBytes(c.TLS.CAData),
		CertFile: showPath(c.TLS.CertFile), CertData: redactBytes(c.TLS.CertData),
		KeyFile: showPath(c.TLS.KeyFile), KeyData: shown.Redact(string(c.TLS.KeyData)),
		ServerName: c.TLS.ServerName, Insecure: c.TLS.Insecure,
		BearerToken: shown.Redact(c.BearerToken), BearerTokenFile: showPath(c.BearerTokenFile), UserAgent: c.UserAgent,
		Username: c.Username, Password: shown.Redact(c.Password),
	}
	if c.Credentials != nil {
		v.Credentials = c.Credentials.String()
	}
	if c.Impersonate != nil {
		v.Impersonate = fmt.Sprintf("%+v", *c.Impersonate)
	}
	return v
}

// showPath returns a path, or a placeholder if the text is no path, such as a key that was given in place of one.
func showPath(s string) string {
	if conn.BreaksHeader(s) {
		return shown.Redacted
	}
	return s
}

func redactBytes(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return fmt.Sprintf("[%d bytes]", len(b))
}

// String returns the configuration for people, without credentials.
func (c Config) String() string { return fmt.Sprintf("%+v", c.view()) }

// GoString returns the same as String, so that %#v shows no credential either.
func (c Config) GoString() string { return "client.Config" + c.String() }

// Format prints String or GoString whatever the verb, because fmt does not call them for some verbs, such as %d.
func (c Config) Format(f fmt.State, verb rune) { shown.Format(f, verb, c) }

// MarshalJSON encodes the configuration for people, without credentials; it cannot be read back.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.view()) }

// String returns t for people, without the private key.
func (t TLS) String() string { return Config{TLS: t}.String() }

// GoString returns the same as String.
func (t TLS) GoString() string { return "client.TLS" + t.String() }

// Format prints String or GoString whatever the verb.
func (t TLS) Format(f fmt.State, verb rune) { shown.Format(f, verb, t) }

// MarshalJSON encodes t for people, without the private key.
func (t TLS) MarshalJSON() ([]byte, error) { return Config{TLS: t}.MarshalJSON() }

// String says whether there is a token and a certificate, and shows neither.
func (c Credential) String() string {
	return fmt.Sprintf("{Token:%s Certificate:%t Expires:%v}", shown.Redact(c.Token), c.Certificate != nil, c.Expires)
}

// GoString returns the same as String.
func (c Credential) GoString() string { return "client.Credential" + c.String() }

// Format prints String or GoString whatever the verb.
func (c Credential) Format(f fmt.State, verb rune) { shown.Format(f, verb, c) }

// MarshalJSON encodes c for people, without token and certificate.
func (c Credential) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"token": shown.Redact(c.Token), "certificate": c.Certificate != nil, "expires": c.Expires})
}

// String shows nothing of c.
func (c *Credentials) String() string { return "client.Credentials" }

// GoString returns the same as String.
func (c *Credentials) GoString() string { return c.String() }

// Format prints String whatever the verb.
func (c *Credentials) Format(f fmt.State, verb rune) { shown.Format(f, verb, c) }

// MarshalJSON encodes String.
func (c *Credentials) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }

// rawView is the part of a RawRequest that may be shown. A body may be a Secret, and a query may have a token.
type rawView struct {
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  url.Values  `json:"query,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Body   string      `json:"body,omitempty"`
}

func (r RawRequest) view() rawView {
	v := rawView{Method: r.Method, Path: r.Path, Body: redactBytes(r.Body)}
	if len(r.Query) > 0 {
		v.Query = make(url.Values, len(r.Query))
	}
	for name := range r.Query {
		v.Query[name] = []string{shown.Redacted}
	}
	if len(r.Header) > 0 {
		v.Header = make(http.Header, len(r.Header))
	}
	for name, values := range r.Header {
		switch http.CanonicalHeaderKey(name) {
		case "Accept", "Accept-Encoding", "Content-Type", "If-Match", "If-None-Match", "If-Modified-Since", "User-Agent":
			v.Header[name] = values
		default: // Authorization and Cookie are certainly secret, and others may be
			v.Header[name] = []string{shown.Redacted}
		}
	}
	return v
}

// String returns r for people. It shows only the names of the query's parameters, the values of headers that are never secret,
// and the length of the body.
func (r RawRequest) String() string { return fmt.Sprintf("%+v", r.view()) }

// GoString returns the same as String.
func (r RawRequest) GoString() string { return "client.RawRequest" + r.String() }

// Format prints String or GoString whatever the verb.
func (r RawRequest) Format(f fmt.State, verb rune) { shown.Format(f, verb, r) }

// MarshalJSON encodes what String shows.
func (r RawRequest) MarshalJSON() ([]byte, error) { return json.Marshal(r.view()) }

// redactURL returns s without the parts that may be secret: the user, the query and the fragment. s need not be a URL.
func redactURL(s string) string {
	u, err := url.Parse(s)
	if err == nil && u.Host != "" && !strings.Contains(u.Path, "@") {
		if u.User != nil {
			u.User = url.User("redacted")
		}
		if u.RawQuery != "" {
			u.RawQuery = "redacted"
		}
		if u.Fragment != "" {
			u.Fragment, u.RawFragment = "redacted", ""
		}
		return u.String()
	}
	// s is not a URL, such as "user:pass@host", or "https://user:p%ss@host".
	scheme, rest, ok := strings.Cut(s, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", s
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = shown.Redacted + rest[i:]
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i+1] + shown.Redacted
	}
	return scheme + rest
}

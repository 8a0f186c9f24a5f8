package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// A Config is printed, logged and encoded as a view of it, in which something else stands for each credential.

const redacted = "[redacted]"

func redactString(s string) string {
	if s == "" {
		return ""
	}
	return redacted
}

// view is a Config as it may be shown.
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
}

func (c Config) view() view {
	size := func(b []byte) string {
		if len(b) == 0 {
			return ""
		}
		return fmt.Sprintf("[%d bytes]", len(b))
	}
	return view{
		Server: redactURL(c.Server), CAFile: c.TLS.CAFile, CAData: size(c.TLS.CAData),
		CertFile: c.TLS.CertFile, CertData: size(c.TLS.CertData),
		KeyFile: c.TLS.KeyFile, KeyData: redactString(string(c.TLS.KeyData)),
		ServerName: c.TLS.ServerName, Insecure: c.TLS.Insecure,
		BearerToken: redactString(c.BearerToken), BearerTokenFile: c.BearerTokenFile, UserAgent: c.UserAgent,
	}
}

// String returns the configuration for people, without credentials.
func (c Config) String() string { return fmt.Sprintf("%+v", c.view()) }

// GoString returns the same as String, so that %#v shows no credential either.
func (c Config) GoString() string { return "client.Config" + c.String() }

// Format prints String or GoString whatever the verb, because for some verbs, such as %d, fmt does not ask for them.
func (c Config) Format(f fmt.State, verb rune) { format(f, verb, c) }

// MarshalJSON encodes the configuration for people, without credentials; it cannot be read back.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.view()) }

// String returns t for people, without the private key.
func (t TLS) String() string { return Config{TLS: t}.String() }

// GoString returns the same as String.
func (t TLS) GoString() string { return "client.TLS" + t.String() }

// Format prints String or GoString whatever the verb.
func (t TLS) Format(f fmt.State, verb rune) { format(f, verb, t) }

// MarshalJSON encodes t for people, without the private key.
func (t TLS) MarshalJSON() ([]byte, error) { return Config{TLS: t}.MarshalJSON() }

func format(f fmt.State, verb rune, v interface {
	fmt.Stringer
	fmt.GoStringer
},
) {
	text := v.String()
	if verb == 'v' && f.Flag('#') {
		text = v.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// redactURL returns s without what may be a secret in it: the user, the query and the fragment. s need not be a URL.
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
	// Such as "user:pass@host", or "https://user:p%ss@host".
	scheme, rest, ok := strings.Cut(s, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", s
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = redacted + rest[i:]
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i+1] + redacted
	}
	return scheme + rest
}

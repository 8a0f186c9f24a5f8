package client

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/shown"
)

// Secret is a text that is not shown: a token, a password, a key. Every verb of package fmt prints "[redacted]" in its
// place, as do encodings to JSON, YAML and other text, log/slog and logr; an empty Secret stays empty. string(s) is the
// text itself.
//
// A struct with Secrets in exported fields can therefore be printed, logged and encoded as it is. Three places call no
// method of a Secret, and show it:
//
//   - package fmt in an unexported field;
//   - package fmt with a verb that go vet refuses: %p, %w, and %s or %q of a pointer that is within another value,
//     unless it points to a type of this package or of client/kubeconfig;
//   - encoding/json as the key of a map.
type Secret = shown.Secret

// view is the part of a Config that is shown.
type view struct {
	Server          string
	TLS             TLS
	BearerToken     Secret
	BearerTokenFile string
	Username        string
	Password        Secret
	Credentials     bool
	Impersonate     Subject
	UserAgent       string
}

func (c Config) view() view {
	v := view{
		Server: redactURL(c.Server), TLS: c.TLS, BearerToken: c.BearerToken, BearerTokenFile: showPath(c.BearerTokenFile),
		Username: c.Username, Password: c.Password, Credentials: c.Credentials != nil, UserAgent: c.UserAgent,
	}
	if c.Impersonate != nil {
		v.Impersonate = *c.Impersonate
	}
	return v
}

// String returns the server, its certificates and the client's identity, without secrets. It also hides the user, the
// query and the fragment of Server, and a key that was given in the place of a path.
func (c Config) String() string { return fmt.Sprintf("%+v", c.view()) }

// Format prints String for every verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalJSON encodes what String shows; it cannot be read back.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.view()) }

// tlsView is a TLS that can be shown.
type tlsView TLS

func (t TLS) view() tlsView {
	t.CAFile, t.CertFile, t.KeyFile = showPath(t.CAFile), showPath(t.CertFile), showPath(t.KeyFile)
	return tlsView(t)
}

// Format prints t for every verb. It hides a key that was given in the place of a path.
func (t TLS) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%+v", t.view()) }

// MarshalJSON encodes what Format prints; it cannot be read back.
func (t TLS) MarshalJSON() ([]byte, error) { return json.Marshal(t.view()) }

// showPath returns a path, or a placeholder if the text is no path, such as a key that was given in place of one.
func showPath(s string) string {
	if conn.BreaksHeader(s) {
		return shown.Redacted
	}
	return s
}

// Format prints r for every verb, with only the names of its parameters and headers.
func (r RawRequest) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{Method:%s Path:%s Query:%q Header:%q Body:%v}", r.Method, r.Path, slices.Sorted(maps.Keys(r.Query)),
		slices.Sorted(maps.Keys(r.Header)), Secret(r.Body))
}

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

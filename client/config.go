package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/undertest"
	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
)

// Config says where an API server is and how to talk to it. The zero value of every field but Server is a usable
// default. New copies what it needs: a Config may be changed and used again afterwards.
//
// Printing a Config with package fmt, or encoding it as JSON, shows no credential. Two ways out are fmt's own: it asks no
// method of a value in an unexported field, and none for a verb that fits nothing (%p and %w, which go vet refuses).
type Config struct {
	// Server is the server's absolute URL, http or https, such as "https://10.0.0.1:6443". A path is a prefix of every
	// request's path.
	Server string

	// TLS says whom to trust and who to be. It is used with https servers only.
	TLS TLS

	// BearerToken is sent with each request that has no Authorization yet. BearerTokenFile, where both are set, wins.
	BearerToken string

	// BearerTokenFile holds the token. It is read again at least once a minute, because the tokens of service accounts
	// expire, and after a token was refused (401); while it cannot be read, the last good token is used, and Hooks.Stale
	// is told. See [TLS] for a file system that does not answer.
	BearerTokenFile string

	// Username and Password are sent with each request, as HTTP's basic authentication (RFC 7617). They exclude the tokens.
	Username, Password string

	// Credentials gets credentials that change while the program runs, such as those of a plugin. It excludes the fields
	// above, and the certificate of TLS.
	Credentials *Credentials

	// Impersonate is whom the client acts for, unless a handle says otherwise; see [Resource.As]. Nil means nobody: the client
	// acts for itself. An Impersonation without a User is refused.
	Impersonate *Impersonation

	// UserAgent is sent with each request; empty means "bowline/v0 (os/architecture)". The server takes what stands before
	// the first slash as the field manager of writes that name none.
	UserAgent string

	// Limiter, where set, is waited for before each request except watches. Nil means no limit: API servers protect
	// themselves with priority and fairness. Several clients may share one.
	Limiter *rate.Limiter

	// Retry says how often, and when, a request is sent again that failed in passing.
	Retry Retry

	// StallTimeout bounds how long a server may make no progress with an answer while a call waits for it; 0 means 30 s, and a
	// negative duration means no bound. An answer has stalled when less than 1 KiB of it came in a wait of that length; the
	// time that the caller takes between two reads does not count, and neither do the silences of a watch, or of what a raw
	// request follows (watch and follow in its query). Unless StallTimeout is negative, the headers of an answer must come
	// within 75 s, which is more than an API server takes for a request. The error has a [*StallError] in it.
	//
	// Nothing bounds how long a call takes as a whole, but its context.
	StallTimeout time.Duration

	// Concurrency, where set, bounds how many requests are under way at a time, watches excepted, and finds out by itself how
	// many the server takes. Nil means no bound. Several clients may share one; with a Limiter, both are waited for.
	Concurrency *Concurrency

	// MaxObject bounds the size of one object, in bytes after decompression; 0 means 32 MiB. A larger one is an [*AnswerError],
	// noticed while it is read. In a list or a watch that is the *DecodeError of this one object, which is skipped.
	MaxObject int

	// Uncompressed asks the server not to compress its answers: less work on both sides, and more bytes between them.
	Uncompressed bool

	// Dial makes connections; nil means net.Dialer with a timeout of 30 s. It is used for everything.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy chooses a proxy for a request, one of http, https or socks5; nil means http.ProxyFromEnvironment. The user of the
	// URL is for the proxy, and the client's credentials are for the server only. An https proxy is trusted if the system's
	// authorities or those of TLS vouch for it.
	Proxy func(*http.Request) (*url.URL, error)

	// Wrap, where set, is given the transport and returns the one to use. It sees each request, watches too, with its
	// credentials, and should keep the context of what it sends on: by that the transport knows a watch.
	Wrap func(http.RoundTripper) http.RoundTripper

	// Hooks are called on the things that a program may want to see. All are optional.
	Hooks Hooks

	// Logger gets one line for each request at V(6), and nothing else. The zero value discards it.
	Logger logr.Logger

	test *undertest.Test // that the client is used in, or nil; see UnderTest
}

// TLS says which servers to trust and which certificate to show. Data wins over a file of the same purpose. Files are
// first read when a request needs them, not by New. They are read again by a request each 30 s, and when a handshake fails
// for a certificate, or the server refuses the client (401); that request is then sent once more if they have changed.
// What is new in them is for new requests, on new connections. Requests under way go on, watches too, and the connections
// of those that were there before are closed after the last of them. While a file cannot be used, what was in it before
// is, and Hooks.Stale is told.
//
// A file system may not answer, such as a network mount whose server is gone. Then a request waits for a second and uses what
// was in the files before. A request for which nothing was read before waits until its context ends, and for 30 s at most; its
// error names the file. Nothing can end such a read: one goroutine of the client, with one open file, stays until the system
// answers, for the files of TLS, and one for Config.BearerTokenFile. [Client.Close] does not wait for them.
type TLS struct {
	// CAFile and CAData hold PEM certificates. Where either is set, only servers that they vouch for are trusted, and the
	// system's own certificates are not.
	CAFile string
	CAData []byte

	// CertFile and KeyFile, or CertData and KeyData, are the client's certificate and its private key, as PEM.
	CertFile string
	CertData []byte
	KeyFile  string
	KeyData  []byte

	// ServerName replaces the host of Config.Server in the handshake (SNI) and in the check of the server's certificate.
	ServerName string

	// Insecure accepts any server certificate, an https proxy's too. It excludes CAFile and CAData.
	Insecure bool
}

// Hooks are functions that a client calls as things happen. Each must be safe for use by several goroutines at once and
// should return soon, because the request waits for it.
type Hooks struct {
	// Request is called after each HTTP exchange, when the headers of the answer are there or the attempt has failed.
	Request func(ctx context.Context, r RequestInfo)

	// Retry is called after an attempt that failed and before the wait for the next one.
	Retry func(ctx context.Context, r RetryInfo)

	// Warning is called with each warning of the server, once per distinct text and client. After 1000 distinct texts,
	// an earlier one may be reported again. If an answer has more than 100 warnings, a last one says how many were left out.
	Warning func(ctx context.Context, w Warning)

	// Stale is called when a token, a certificate or an authority could not be got again, and the old one stays in use. It is
	// called by a request, or by what fetches a credential in the background; ctx has the values of a request.
	Stale func(ctx context.Context, err error)
}

// validate returns every reason why c cannot be used.
func (c Config) validate() (*url.URL, error) {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("client.Config: "+format, args...))
	}
	server, err := url.Parse(c.Server)
	switch {
	case c.Server == "":
		bad("Server is empty; it must be an absolute http or https URL")
	case err != nil || (server.Scheme != "http" && server.Scheme != "https") || server.Hostname() == "":
		bad("Server must be an absolute http or https URL, got %q", redactURL(c.Server))
	case server.User != nil || server.RawQuery != "" || server.Fragment != "":
		bad("Server must have no user, query or fragment, got %q", redactURL(c.Server))
	}
	if c.TLS.Insecure && (c.TLS.CAFile != "" || len(c.TLS.CAData) > 0) {
		bad("TLS.Insecure excludes TLS.CAFile and TLS.CAData")
	}
	hasCert := c.TLS.CertFile != "" || len(c.TLS.CertData) > 0
	hasKey := c.TLS.KeyFile != "" || len(c.TLS.KeyData) > 0
	if hasCert != hasKey {
		bad("a client certificate needs both TLS.CertFile or TLS.CertData and TLS.KeyFile or TLS.KeyData")
	}
	for _, file := range []struct{ field, path string }{
		{"TLS.CAFile", c.TLS.CAFile},
		{"TLS.CertFile", c.TLS.CertFile},
		{"TLS.KeyFile", c.TLS.KeyFile},
		{"BearerTokenFile", c.BearerTokenFile},
	} {
		if conn.BreaksHeader(file.path) { // a key in its place would be in the error of opening it
			bad("%s must be a path, and has a control character in it", file.field)
		}
	}
	c.validateIdentity(bad)
	if conn.BreaksHeader(c.UserAgent) {
		bad("UserAgent has a control character in it")
	}
	if c.MaxObject < 0 {
		bad("MaxObject must not be negative, got %d", c.MaxObject)
	}
	errs = append(errs, c.Retry.validate()...)
	if c.Concurrency != nil {
		errs = append(errs, c.Concurrency.usable())
	}
	return server, errors.Join(errs...)
}

// validateIdentity checks who the client is to be. There is one way to say it, beside a certificate.
func (c Config) validateIdentity(bad func(format string, args ...any)) {
	token, basic := c.BearerToken != "" || c.BearerTokenFile != "", c.Username != "" || c.Password != ""
	if conn.HasControl(c.BearerToken) {
		bad("BearerToken has a space or a control character in it")
	}
	switch {
	case basic && c.Username == "":
		bad("Password needs a Username")
	case strings.Contains(c.Username, ":"):
		bad("Username must have no colon")
	case conn.BreaksHeader(c.Username):
		bad("Username has a control character in it")
	}
	if conn.BreaksHeader(c.Password) {
		bad("Password has a control character in it")
	}
	if basic && token {
		bad("Username and Password exclude BearerToken and BearerTokenFile")
	}
	if c.Credentials != nil {
		if !c.Credentials.state.IsUsable() {
			bad("Credentials has nothing to call; it must be made by NewCredentials with a function")
		}
		if token || basic {
			bad("Credentials excludes BearerToken, BearerTokenFile, Username and Password")
		}
		if conn.TLS(c.TLS).HasCertificate() {
			bad("Credentials excludes TLS.CertFile and TLS.CertData")
		}
	}
	if c.Impersonate != nil {
		for _, reason := range c.Impersonate.validate() {
			bad("Impersonate: %s", reason)
		}
	}
}

// connection returns what the connections of a client need. c is valid.
func (c Config) connection(server *url.URL) conn.Options {
	o := conn.Options{
		Server: server, TLS: conn.TLS(c.TLS), TokenFile: c.BearerTokenFile, Token: c.BearerToken, Username: c.Username, Password: c.Password,
		Impersonate: c.Impersonate.header(), NoHeaderTimeout: c.StallTimeout < 0, Uncompressed: c.Uncompressed,
		Dial: c.Dial, Proxy: c.Proxy, Wrap: c.Wrap, Stale: c.Hooks.Stale,
	}
	if c.Credentials != nil {
		o.Credentials = c.Credentials.state
	}
	return o
}

// defaultStall is the default of Config.StallTimeout.
const defaultStall = 30 * time.Second

// stallTimeout returns the bound that StallTimeout means, 0 for none.
func (c Config) stallTimeout() time.Duration {
	if c.StallTimeout == 0 {
		return defaultStall
	}
	return max(c.StallTimeout, 0)
}

// Anonymous returns a configuration for the same server, by the same way, that says nothing of who the client is: without
// tokens, password, client certificate, Credentials, Impersonate, and Wrap, which might add any of them. Whom to trust, the
// proxy and its password, Dial, limits, hooks and the logger stay. It is for asking what anybody may ask, and for requests
// with credentials of their own, such as a token to be checked.
func (c Config) Anonymous() Config {
	c.BearerToken, c.BearerTokenFile = "", ""
	c.Username, c.Password = "", ""
	c.Credentials = nil
	c.Impersonate = nil
	c.Wrap = nil
	c.TLS.CertFile, c.TLS.CertData = "", nil
	c.TLS.KeyFile, c.TLS.KeyData = "", nil
	c.TLS.CAData = slices.Clone(c.TLS.CAData)
	return c
}

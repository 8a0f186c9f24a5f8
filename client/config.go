package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Config says where an API server is and how to talk to it. The zero value of every field but Server is a usable
// default. New copies the Config: it may be changed and used again afterwards.
//
// Printing, logging or encoding a Config shows no credential. Credentials are Secrets, and methods of Config and TLS
// hide any part of Server and of a path that may be a credential.
type Config struct {
	underTest // clienttest sets it

	// Server is the server's absolute URL, http or https, such as "https://10.0.0.1:6443". A path is a prefix of every
	// request's path.
	Server string

	// TLS says which servers to trust and which client certificate to show. It is used with https servers only.
	TLS TLS

	// BearerToken is sent with each request that has no Authorization yet. If BearerTokenFile is also set, the file is
	// used.
	BearerToken Secret

	// BearerTokenFile names a file that holds the token. The client reads it again at least once a minute, because the
	// tokens of service accounts expire, and after the server refused a token (401). While the file cannot be read, the
	// client uses the last good token and calls Hooks.Stale. See [TLS] for a file system that does not answer.
	BearerTokenFile string

	// Username and Password are sent with each request, as HTTP's basic authentication (RFC 7617). They exclude the
	// tokens.
	Username string
	Password Secret

	// Credentials gets credentials that change while the program runs, such as those of a plugin. It excludes the
	// fields above, and the certificate of TLS.
	Credentials *Credentials

	// Impersonate is the user that the client acts for, unless a handle says otherwise; see [Resource.As]. Nil means
	// that the client acts for itself. New refuses a Subject without a User.
	Impersonate *Subject

	// UserAgent is sent with each request; empty means "bowline/version (os/architecture)", with this module's version
	// from the program's build information, or "devel" for a working copy. For a write that names no field manager, the
	// server uses the text before the first slash.
	UserAgent string

	// Limiter, if set, delays each request except watches. Nil means no limit: API servers protect themselves with
	// priority and fairness. Several clients may share one.
	Limiter *rate.Limiter

	// Retry says when and how often the client retries a request after a transient failure.
	Retry Retry

	// StallTimeout bounds how long a server may make no progress with an answer while a call waits for it. 0 means 30
	// s, and a negative duration means no bound. An answer stalls when less than 1 KiB of it arrives in a wait of that
	// length. The following time does not count: the time that the caller takes between two reads, and pauses in a
	// watch or in the answer to a raw request with watch or follow in its query. Unless StallTimeout is negative, the
	// headers of an answer must arrive within 75 s, which is more than an API server takes for a request. The error is
	// a timeout for apierrors.NetworkOf.
	//
	// Only the context limits how long a call takes as a whole.
	StallTimeout time.Duration

	// MaxObject bounds the size of one object, in bytes after decompression; 0 means 32 MiB. A larger one is an
	// [*AnswerError], which the client returns while it reads. In a list or a watch the error is the *DecodeError of
	// this one object, which is skipped.
	MaxObject int

	// Protobuf, if set, makes the client ask for lists and watches as protobuf, which costs servers and clients a
	// fraction of the work of JSON. Package client/protobuf makes the value. JSON stays the second choice, so no
	// setting is needed for custom resources, for servers that have only JSON, and for Go types that cannot be decoded
	// from protobuf. All other requests use JSON. Type.JSON switches protobuf off for a resource. The Status of an
	// informer says which is used, and why.
	Protobuf Protobuf

	// Uncompressed asks the server not to compress its answers. That saves work on both sides and sends more bytes.
	Uncompressed bool

	// Dial makes every connection; nil means net.Dialer with a timeout of 30 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy chooses a proxy for a request, one of http, https or socks5; nil means http.ProxyFromEnvironment. The user
	// in the proxy's URL is sent only to the proxy, and the client's credentials only to the server. The client trusts
	// an https proxy if the system's authorities or those of TLS vouch for it.
	Proxy func(*http.Request) (*url.URL, error)

	// Wrap, if set, gets the transport and returns the one to use. It sees each request, watches too, with its
	// credentials. It should keep the context of the request that it sends on, because the transport recognizes a watch
	// by it.
	Wrap func(http.RoundTripper) http.RoundTripper

	// Hooks are called on events that a program may want to observe. All are optional.
	Hooks Hooks

	// Logger gets the server's warnings and the failures to renew a credential that no hook takes, and one line for
	// each request at V(6). If it is the zero Logger, the first two go elsewhere: see Hooks.Warning.
	Logger logr.Logger
}

// underTest says which test a client is used in. It is an alias, so that its methods are not among those that users
// see.
type underTest = undertest.Mark

// TLS says which servers to trust and which certificate to show. Data wins over a file of the same purpose. New does
// not read the files: the first request that needs them does. A request reads them again every 30 s, and when a
// handshake fails because of a certificate or the server refuses the client (401). That request is then sent once more
// if the files have changed. New requests use the new contents, on new connections. Requests under way go on, watches
// too; the client closes the old connections after the last of them. While a file cannot be used, the client uses its
// previous contents and calls Hooks.Stale.
//
// A file system may not answer, such as a network mount whose server is gone. A request then waits for a second and
// uses the previous contents of the files. A request that has no previous contents waits until its context ends, at
// most 30 s; its error names the file. Such a read cannot be ended: until the system answers, one goroutine of the
// client stays for the files of TLS, and one for Config.BearerTokenFile, each with one open file. [Client.Close] does
// not wait for them.
type TLS struct {
	// CAFile and CAData hold PEM certificates. If either is set, the client trusts only servers that they vouch for,
	// and not the system's own certificates.
	CAFile string
	CAData Secret

	// CertFile and KeyFile, or CertData and KeyData, are the client's certificate and its private key, as PEM.
	CertFile string
	CertData Secret
	KeyFile  string
	KeyData  Secret

	// ServerName replaces the host of Config.Server in the handshake (SNI) and in the check of the server's
	// certificate.
	ServerName string

	// Insecure accepts any server certificate, also that of an https proxy. It excludes CAFile and CAData.
	Insecure bool
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
	if c.TLS.Insecure && (c.TLS.CAFile != "" || c.TLS.CAData != "") {
		bad("TLS.Insecure excludes TLS.CAFile and TLS.CAData")
	}
	hasCert := c.TLS.CertFile != "" || c.TLS.CertData != ""
	hasKey := c.TLS.KeyFile != "" || c.TLS.KeyData != ""
	if hasCert != hasKey {
		bad("a client certificate needs TLS.CertFile or TLS.CertData, and TLS.KeyFile or TLS.KeyData")
	}
	for _, file := range []struct{ field, path string }{
		{"TLS.CAFile", c.TLS.CAFile},
		{"TLS.CertFile", c.TLS.CertFile},
		{"TLS.KeyFile", c.TLS.KeyFile},
		{"BearerTokenFile", c.BearerTokenFile},
	} {
		if conn.BreaksHeader(file.path) { // this may be a key instead of a path; opening it would put the key in the error
			bad("%s must be a path without control characters", file.field)
		}
	}
	c.validateIdentity(bad)
	if conn.BreaksHeader(c.UserAgent) {
		bad("UserAgent must have no control characters")
	}
	if c.MaxObject < 0 {
		bad("MaxObject must not be negative, got %d", c.MaxObject)
	}
	errs = append(errs, c.Retry.validate()...)
	return server, errors.Join(errs...)
}

// validateIdentity checks the credentials: a certificate, and at most one other way to identify the client.
func (c Config) validateIdentity(bad func(format string, args ...any)) {
	token, basic := c.BearerToken != "" || c.BearerTokenFile != "", c.Username != "" || c.Password != ""
	if conn.HasControl(c.BearerToken) {
		bad("BearerToken must have no spaces or control characters")
	}
	switch {
	case basic && c.Username == "":
		bad("Password needs a Username")
	case strings.Contains(c.Username, ":"):
		bad("Username must have no colon")
	case conn.BreaksHeader(c.Username):
		bad("Username must have no control characters")
	}
	if conn.BreaksHeader(c.Password) {
		bad("Password must have no control characters")
	}
	if basic && token {
		bad("Username and Password exclude BearerToken and BearerTokenFile")
	}
	if c.Credentials != nil {
		if !c.Credentials.state.IsUsable() {
			bad("Credentials must be made by NewCredentials with a function that is not nil")
		}
		if token || basic {
			bad("Credentials excludes BearerToken, BearerTokenFile, Username and Password")
		}
		if c.TLS.CertFile != "" || c.TLS.CertData != "" {
			bad("Credentials excludes TLS.CertFile and TLS.CertData")
		}
	}
	if c.Impersonate != nil {
		for _, reason := range c.Impersonate.validate() {
			bad("Impersonate: %s", reason)
		}
	}
}

// connection returns the options for the connections of a client. c is valid. log is called with each error that no
// hook Stale takes.
func (c Config) connection(server *url.URL, log func(ctx context.Context, err error)) conn.Options {
	o := conn.Options{
		Server: server, CA: conn.PEM{File: c.TLS.CAFile, Data: c.TLS.CAData}, Cert: conn.PEM{File: c.TLS.CertFile, Data: c.TLS.CertData},
		Key: conn.PEM{File: c.TLS.KeyFile, Data: c.TLS.KeyData}, ServerName: c.TLS.ServerName, Insecure: c.TLS.Insecure,
		TokenFile: c.BearerTokenFile, Token: c.BearerToken, Username: c.Username, Password: c.Password,
		Impersonate: c.Impersonate.header(), NoHeaderTimeout: c.StallTimeout < 0, Uncompressed: c.Uncompressed,
		Dial: c.Dial, Proxy: c.Proxy, Wrap: c.Wrap,
		Stale: func(ctx context.Context, err error) {
			all, taking := c.Hooks.in(ctx)
			if taking.Stale == nil {
				log(ctx, err)
			}
			if all.Stale != nil {
				all.Stale(ctx, err)
			}
		},
	}
	if c.Credentials != nil {
		o.Credentials = c.Credentials.state
	}
	return o
}

// defaultStall is the default of Config.StallTimeout.
const defaultStall = 30 * time.Second

// stallTimeout returns the bound that StallTimeout stands for; 0 means no bound.
func (c Config) stallTimeout() time.Duration {
	if c.StallTimeout == 0 {
		return defaultStall
	}
	return max(c.StallTimeout, 0)
}

// Anonymous returns a configuration that reaches the same server in the same way, without anything that identifies the
// client. It leaves out tokens, password, client certificate, Credentials, Impersonate, and Wrap, which might add any
// of them. It keeps the authorities, the proxy and its password, Dial, limits, hooks and the logger. Use it to ask
// questions that anybody may ask, and for requests that bring other credentials, such as a token to check.
func (c Config) Anonymous() Config {
	c.BearerToken, c.BearerTokenFile = "", ""
	c.Username, c.Password = "", ""
	c.Credentials = nil
	c.Impersonate = nil
	c.Wrap = nil
	c.TLS.CertFile, c.TLS.CertData = "", ""
	c.TLS.KeyFile, c.TLS.KeyData = "", ""
	return c
}

package conn

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/bowline-go/bowline/internal/shown"
)

// Options name the server and the client's identity. They have been validated, except for the data of CA, Cert and
// Key.
type Options struct {
	// Server is the server's URL. Credentials are for its origin only.
	Server *url.URL
	// CA are the authorities that vouch for the server, Cert and Key are the client's certificate and its private key;
	// see client.TLS.
	CA, Cert, Key PEM
	// ServerName replaces the host of Server in the handshake and in the check of the server's certificate; empty
	// keeps it.
	ServerName string
	// Insecure accepts any certificate of a server.
	Insecure bool

	// Credentials, TokenFile, Token, or Username and Password identify the client: the first of them that is set
	// counts.
	Credentials *Credentials
	TokenFile   string
	Token       shown.Secret
	Username    string
	Password    shown.Secret
	// Impersonate are the headers that name the user that the client acts for; see Call.Impersonate.
	Impersonate http.Header

	// NoHeaderTimeout lets a server take any time to begin an answer, except to a watch.
	NoHeaderTimeout bool
	// Uncompressed asks for answers without compression.
	Uncompressed bool
	// Dial makes connections; nil means a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
	// Proxy chooses a proxy; nil means http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error) `json:"-"`
	// Wrap gets the transport below the credentials, and returns the one to use. A nil Wrap changes nothing.
	Wrap func(http.RoundTripper) http.RoundTripper `json:"-"`
	// Stale is called with the reason why a file or a credential could not be renewed, while the old one stays in use.
	// If Stale is nil, the reason is dropped.
	Stale func(ctx context.Context, err error) `json:"-"`
}

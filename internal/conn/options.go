package conn

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/bowline-go/bowline/internal/shown"
)

// Options say what to connect to and as whom. They have been validated, but for the data of CA, Cert and Key.
type Options struct {
	// Server is the server's URL. Credentials are for its origin only.
	Server *url.URL
	// CA are those who vouch for the server, Cert and Key the client's certificate and its private key; see client.TLS.
	CA, Cert, Key PEM
	// ServerName replaces the host of Server in the handshake and in the check of the server's certificate; empty keeps
	// it.
	ServerName string
	// Insecure accepts any certificate of a server.
	Insecure bool

	// Credentials, TokenFile, Token or Username and Password say who the client is: the first of them that is set.
	Credentials *Credentials
	TokenFile   string
	Token       shown.Secret
	Username    string
	Password    shown.Secret
	// Impersonate are the headers that say whom the client acts for; see Call.Impersonate.
	Impersonate http.Header

	// NoHeaderTimeout lets a server take any time to begin an answer that is no watch.
	NoHeaderTimeout bool
	// Uncompressed asks for answers without compression.
	Uncompressed bool
	// Dial makes connections; nil means a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `json:"-"`
	// Proxy chooses a proxy; nil means http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error) `json:"-"`
	// Wrap is given the transport below the credentials, and returns the one to use. Nil uses that one.
	Wrap func(http.RoundTripper) http.RoundTripper `json:"-"`
	// Stale is told why a file or a credential could not be got again while the old one stays in use. Nil drops that.
	Stale func(ctx context.Context, err error) `json:"-"`
}

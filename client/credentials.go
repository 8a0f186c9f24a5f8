package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
)

// Credential identifies a client: a token, a certificate, or both. Printing or encoding it shows no secret.
type Credential struct {
	// Token is sent with each request as a bearer token; empty sends none.
	Token Secret
	// Certificate is shown when a connection is made; nil shows none. It must not be changed afterwards.
	Certificate *tls.Certificate `json:"-"`
	// Expires is when the credential ends. The zero time means that it is good until the server refuses it, or its
	// Certificate ends.
	Expires time.Time
}

// Format prints c for every verb. Without it, package fmt would follow the pointer in Certificate for some verbs.
func (c Credential) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{Token:%v Certificate:%t Expires:%v}", c.Token, c.Certificate != nil, c.Expires)
}

// Credentials gets a credential when one is needed, and keeps it until it expires or the server refuses it.
//
// Credentials renews a credential before it expires, while the old one is still used. The first request in the last
// fifth of the credential's lifetime starts the renewal. That period is at least a minute, but at most half of the
// lifetime. If the renewal fails, the old credential stays in use, the client calls Hooks.Stale, and the next attempt
// follows after 10 s, then 20 s, and so on up to two minutes.
//
// Requests wait for a new credential in two cases:
//
//   - The old one has expired since the last fetch, by the wall clock or by the monotonic clock.
//   - The server has refused it, by a 401 or by a TLS alert about the certificate. If there is another credential, the
//     refused request is sent once more. Refusals lead to at most one new credential in 5 s.
//
// This machine's clock may be wrong, so an expired credential is sent all the same, and the server's clock decides.
// This happens if fetch returns an expired credential, or fails. The client then calls Hooks.Stale, requests do not
// wait, and fetch is called again in the background after the pauses above. An expired credential does not replace a
// valid one, unless the server refuses the valid one. If the server refuses an expired credential, and fetch fails,
// the error is that of fetch.
//
// If there has never been a credential, failed fetches in a row delay the next fetch: the first by nothing, the second
// by 1 s, the third by 2 s, and so on up to 10 s. During that time all requests fail with the error of the last fetch.
// Except after a refusal, a new credential is used for at least 5 s before the next one is fetched.
//
// Clients whose Configs name the same Credentials share one credential. It is safe for use by several goroutines at
// once. The zero Credentials cannot be used; see [NewCredentials].
type Credentials struct {
	state *conn.Credentials // a pointer, which fmt does not follow
}

// NewCredentials returns Credentials that call fetch for each new credential. fetch must not cache: it returns the
// answer of the plugin, the file or the server. fetch runs in a separate goroutine, once for all requests that wait,
// and never concurrently with itself. Its context ends after 15 minutes, when no request waits for it any more, and
// with [Client.Close]; fetch must return soon after that. The context has none of the values of the callers' contexts.
// A panic in fetch becomes the error of the waiting requests. A credential that is empty, or has a token with a space
// or a control character, is an error.
func NewCredentials(fetch func(ctx context.Context) (Credential, error)) *Credentials {
	c := &Credentials{}
	if fetch == nil { // client.New returns the error
		return c
	}
	c.state = conn.NewCredentials(func(ctx context.Context) (conn.Credential, error) {
		got, err := fetch(ctx)
		return conn.Credential(got), err
	}, func(err error) error { return &CredentialError{Err: err} })
	return c
}

// Named gives c a name and returns c. The name says where the credentials come from, such as `the plugin "aws" of the
// kubeconfig /home/a/.kube/config`. If the context of a call ends while fetch runs, the error has the name. Named must
// be called before c is used.
func (c *Credentials) Named(name string) *Credentials {
	if c != nil && c.state != nil {
		c.state.Name(name)
	}
	return c
}

// CredentialError says why there is no credential. The request was not sent, or it was sent with an expired credential
// and the server refused it. In both cases the request has had no effect.
type CredentialError struct {
	Err error
}

// Error returns the reason.
func (e *CredentialError) Error() string { return "get a credential: " + e.Err.Error() }

// Unwrap returns Err. It returns nil if Err is, or wraps, an answer of the API, such as that a service account does not
// exist: otherwise a caller would take that NotFound for an answer about its own object.
func (e *CredentialError) Unwrap() error {
	if apierrors.ReasonOf(e.Err) != "" {
		return nil
	}
	return e.Err
}

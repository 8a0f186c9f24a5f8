package client

import (
	"context"
	"crypto/tls"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
)

// Credential is what a client shows to say who it is: a token, a certificate, or both. Printing it shows neither.
type Credential struct {
	// Token is sent with each request as a bearer token; empty sends none.
	Token string
	// Certificate is shown when a connection is made; nil shows none. It must not be changed afterwards.
	Certificate *tls.Certificate
	// Expires is when the credential ends; the zero time means that it is good until the server refuses it, or its
	// Certificate ends.
	Expires time.Time
}

// Credentials gets a credential when one is needed, and keeps it until it expires or the server refuses it.
//
// It is got anew, while the old one is still used, by the first request within the last fifth of its time, or the last
// minute where that is more, or the second half where that is less. If that fails, the old one stays in use until it
// expires, Hooks.Stale is told, and the next attempt is after 10 s, then 20 s, and so on up to two minutes. Requests
// wait for a new one where the old one has expired, by the wall clock or by the monotonic one, and after it was refused
// (401); they are then sent once more, if there is another. Refusals lead to one new credential in 5 s at most. Where there
// is none in force, the second failure in a row is the error of all requests for 1 s, the next for 2 s, and so on up to 10 s.
//
// Clients whose Config names the same Credentials share what it has. It is safe for use by several goroutines at once.
// Printing it shows nothing of it. The zero Credentials is none; see [NewCredentials].
type Credentials struct {
	state *conn.Credentials // behind a pointer, where no printing follows
}

// NewCredentials returns Credentials that call fetch for each new credential, without any cache of fetch's own: the
// plugin's, the file's, the server's answer. fetch is called once for all who wait, never concurrently with itself, and on
// a goroutine of its own. Its context ends after 15 minutes, when nobody waits for it any more, and with [Client.Close];
// fetch must return soon after that. The context has none of the values of the callers'. A panic in fetch is an error of
// those who wait. A credential that is empty, has expired, or has a token with a space or a control character, is an error.
func NewCredentials(fetch func(ctx context.Context) (Credential, error)) *Credentials {
	c := &Credentials{}
	if fetch == nil { // New says so
		return c
	}
	c.state = conn.NewCredentials(func(ctx context.Context) (conn.Credential, error) {
		got, err := fetch(ctx)
		return conn.Credential(got), err
	}, func(err error) error { return &CredentialError{Err: err} })
	return c
}

// Named gives c a name and returns c: where its credentials come from, as errors say it of a call whose context ends while fetch
// runs, such as `the plugin "aws" of the kubeconfig /home/a/.kube/config`. It must be called before c is used.
func (c *Credentials) Named(name string) *Credentials {
	if c != nil && c.state != nil {
		c.state.Name(name)
	}
	return c
}

// CredentialError says why there is no credential. The request was not sent.
type CredentialError struct {
	Err error
}

// Error says why.
func (e *CredentialError) Error() string { return "get a credential: " + e.Err.Error() }

// Unwrap returns Err, unless it is, or wraps, an answer of the API, such as that there is no such service account: whoever asks
// whether an object is NotFound must not be told of another one.
func (e *CredentialError) Unwrap() error {
	if apierrors.ReasonOf(e.Err) != "" {
		return nil
	}
	return e.Err
}

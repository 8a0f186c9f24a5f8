package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"
)

// Credential is what a client shows to say who it is: a token, a certificate, or both. Printing it shows neither.
type Credential struct {
	// Token is sent with each request as a bearer token; empty sends none.
	Token string
	// Certificate is shown when a connection is made; nil shows none.
	Certificate *tls.Certificate
	// Expires is when the credential ends; the zero time means that it is good until the server refuses it.
	Expires time.Time
}

// String says what there is, and shows none of it.
func (c Credential) String() string {
	return fmt.Sprintf("{Token:%q Certificate:%t Expires:%v}", redactString(c.Token), c.Certificate != nil, c.Expires)
}

// Credentials gets a credential when one is needed, and keeps it until shortly before it expires or the server refuses it.
// Clients whose Config names the same Credentials share what it has. It is safe for use by several goroutines at once.
type Credentials struct {
	fetch func(context.Context) (Credential, error)

	mu   sync.Mutex // guards the rest
	now  Credential
	have bool
}

// NewCredentials returns Credentials that call fetch for each new credential. fetch is called once for all who wait, never
// concurrently with itself.
func NewCredentials(fetch func(ctx context.Context) (Credential, error)) *Credentials {
	return &Credentials{fetch: fetch}
}

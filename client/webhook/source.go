package webhook

import (
	"context"
	"crypto/tls"
)

// Source supplies the certificate of a [Server], and keeps it current. An Issuer of package client/webhook/certificates
// is a Source. Its methods may be called by several goroutines at once.
type Source interface {
	// Run keeps the certificate current until ctx ends, and returns nil then. The Server calls it.
	Run(ctx context.Context) error
	// Certificate returns the certificate for a new connection. It does not wait: an error refuses the connection.
	Certificate() (*tls.Certificate, error)
	// Ready returns nil while the certificate is valid and trusted, and otherwise what is missing.
	Ready() error
}

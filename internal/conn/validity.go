package conn

import (
	"crypto/x509"
	"fmt"
	"time"
)

// Validity returns why a certificate is not valid at the given time, or nil if it is.
func Validity(c *x509.Certificate, at time.Time) error {
	switch {
	case at.Before(c.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", c.NotBefore.UTC().Format(time.RFC3339))
	case at.After(c.NotAfter):
		return fmt.Errorf("the certificate has expired at %s", c.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

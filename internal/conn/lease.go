package conn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bowline-go/bowline/internal/shown"
)

// Credential proves who a client is: a bearer token, a certificate, or both. A zero Expires means that it is valid
// until the server refuses it, or Certificate ends.
type Credential struct {
	Token       shown.Secret
	Certificate *tls.Certificate `json:"-"`
	Expires     time.Time
}

// Format prints the name of the type for every verb. Without it, package fmt would follow the pointer in Certificate
// for some verbs.
func (Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "conn.Credential") }

// lease is one credential and its time of validity.
type lease struct {
	Credential
	taken time.Time // the time of arrival, by both clocks
}

// newLease returns the lease of a credential, or an error if the credential cannot be used.
func newLease(c Credential, now time.Time) (*lease, error) {
	switch {
	case c.Token == "" && c.Certificate == nil:
		return nil, errors.New("the credential must have a Token or a Certificate")
	case HasControl(c.Token):
		return nil, errors.New("the credential's Token must have no spaces or control characters")
	}
	if c.Certificate != nil {
		leaf, err := leafOf(c.Certificate)
		if err != nil {
			return nil, fmt.Errorf("the credential's Certificate: %w", err)
		}
		if c.Expires.IsZero() || leaf.NotAfter.Before(c.Expires) {
			c.Expires = leaf.NotAfter
		}
	}
	c.Expires = c.Expires.Round(0)
	return &lease{Credential: c, taken: now}, nil
}

// endedError says that a token or a certificate has expired by the clock of this machine. It is used nevertheless,
// because the server's clock may differ.
type endedError struct {
	what     string
	end, now time.Time
}

func (e *endedError) Error() string {
	return fmt.Sprintf("%s expired at %s, and the time here is %s; it is still sent, because the server's clock decides",
		e.what, stamp(e.end), stamp(e.now))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func leafOf(c *tls.Certificate) (*x509.Certificate, error) {
	switch {
	case len(c.Certificate) == 0:
		return nil, errors.New("it is empty")
	case c.PrivateKey == nil:
		return nil, errors.New("it has no private key")
	case c.Leaf != nil:
		return c.Leaf, nil
	}
	return x509.ParseCertificate(c.Certificate[0])
}

// header returns the value of Authorization.
func (l *lease) header() string {
	if l.Token == "" {
		return ""
	}
	return "Bearer " + string(l.Token)
}

// expired reports whether the lease has expired, by either clock: the monotonic one stops while a machine sleeps, and
// the wall clock can be set.
func (l *lease) expired(now time.Time) bool { return l.within(now, 0) }

// ending reports whether it is time to fetch another lease.
func (l *lease) ending(now time.Time) bool {
	life := l.Expires.Sub(l.taken.Round(0))
	return l.within(now, min(max(time.Minute, life/5), life/2))
}

// within reports whether the lease ends within the duration left.
func (l *lease) within(now time.Time, left time.Duration) bool {
	if l.Expires.IsZero() {
		return false
	}
	life := l.Expires.Sub(l.taken.Round(0))
	return l.Expires.Sub(now.Round(0)) <= left || life-now.Sub(l.taken) <= left
}

// same reports whether the server sees the same credential in o.
func (l *lease) same(o *lease) bool {
	return l.Token == o.Token && sameCertificate(l.Certificate, o.Certificate)
}

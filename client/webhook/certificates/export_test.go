package certificates

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// SettleTime is how long all configurations must have had an authority.
const SettleTime = settleTime

// Look looks at everything once, as Run does again and again.
func (i *Issuer) Look(ctx context.Context) error { return i.look(ctx) }

// Served returns the certificate that is shown, and its authority; nil if there is none.
func (i *Issuer) Served() (leaf, by *x509.Certificate) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served == nil {
		return nil, nil
	}
	return i.served.cert, i.by
}

// SetPace makes Run look less often.
func (i *Issuer) SetPace(d time.Duration) { i.pace = d }

// NewAuthority makes an authority with the name of those in a Secret.
func NewAuthority(secret meta.Key, now time.Time, lifetime time.Duration) (certPEM, keyPEM []byte, err error) {
	p, err := newAuthority(authorityName(secret), now, lifetime)
	if err != nil {
		return nil, nil, err
	}
	return p.certPEM, p.keyPEM, nil
}

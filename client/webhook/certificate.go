package webhook

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/internal/regular"
)

const (
	// lookEvery is how often the files are read again, at most. A certificate and its key are written one after the
	// other.
	lookEvery = 10 * time.Second
	// maxPEM is how long each file may be.
	maxPEM = 1 << 20
)

// certificate is a certificate in files. The caller guards it.
type certificate struct {
	certFile, keyFile string
	looked            time.Time
	texts             [2]string // of the files, when they were last read
	is                *tls.Certificate
	err               error // of the last reading
}

// get returns the certificate, which it reads again after a while. With an error it also returns the last good one, or
// nil.
func (c *certificate) get(now time.Time) (*tls.Certificate, error) {
	if !c.looked.IsZero() && now.Sub(c.looked) < lookEvery && now.After(c.looked) {
		return c.is, c.err
	}
	c.looked = now
	var texts [2]string
	for i, name := range []string{c.certFile, c.keyFile} {
		b, _, err := regular.Read(name, maxPEM)
		if err != nil {
			c.err = fmt.Errorf("read the certificate: %w", err)
			return c.is, c.err
		}
		texts[i] = string(b)
	}
	if texts == c.texts && c.is != nil {
		c.err = nil
		return c.is, nil
	}
	pair, err := tls.X509KeyPair([]byte(texts[0]), []byte(texts[1]))
	if err != nil {
		c.err = fmt.Errorf("read the certificate in %s and %s: %w", c.certFile, c.keyFile, err)
		return c.is, c.err
	}
	c.texts, c.is, c.err = texts, &pair, nil
	return c.is, nil
}

// valid returns why a certificate is not valid now, or nil.
func valid(c *tls.Certificate, now time.Time) error {
	switch {
	case now.Before(c.Leaf.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", c.Leaf.NotBefore.UTC().Format(time.RFC3339))
	case now.After(c.Leaf.NotAfter):
		return fmt.Errorf("the certificate has expired at %s", c.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

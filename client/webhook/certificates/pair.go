package certificates

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"net/netip"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
)

// The certificates: authorities, which sign themselves, and the certificates that they sign for servers.

// skew is how far the clocks of the replicas and of the API servers may be apart. The validity of a certificate begins
// this long before the certificate is made, and an authority stays trusted for this long after it has expired.
const skew = 24 * time.Hour

// pair is a certificate with its key.
type pair struct {
	cert             *x509.Certificate
	certPEM, keyPEM  []byte
	key              *ecdsa.PrivateKey
	tls              *tls.Certificate
	notBefore, after time.Time
}

// parse reads a pair. It returns an error if the texts are not PEM, or if the key does not belong to the certificate.
func parse(certPEM, keyPEM []byte) (*pair, error) {
	both, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := both.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the private key must be of ECDSA")
	}
	leaf := both.Leaf
	return &pair{leaf, certPEM, keyPEM, key, &both, leaf.NotBefore, leaf.NotAfter}, nil
}

// made signs a template with a new key. by is the authority; nil means that the new certificate signs itself.
func made(template *x509.Certificate, by *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, err
	}
	template.SerialNumber.Add(template.SerialNumber, big.NewInt(1)) // RFC 5280, 4.1.2.2: it must be positive
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return parse(encode("CERTIFICATE", cert), encode("PRIVATE KEY", private))
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// newAuthority makes an authority with the given name.
func newAuthority(name string, now time.Time, lifetime time.Duration) (*pair, error) {
	return made(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, nil)
}

// sign makes a certificate for a server. It does not outlive its authority.
func (p *pair) sign(names []string, now time.Time, lifetime time.Duration) (*pair, error) {
	template := &x509.Certificate{
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if template.NotAfter.After(p.after) {
		template.NotAfter = p.after
	}
	for _, name := range names {
		if ip, err := netip.ParseAddr(name); err == nil {
			template.IPAddresses = append(template.IPAddresses, ip.AsSlice())
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return made(template, p)
}

// isFor reports whether the certificate has all names.
func (p *pair) isFor(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return p.cert.VerifyHostname(name) != nil })
}

// names returns the names in the certificate.
func (p *pair) names() []string {
	all := slices.Clone(p.cert.DNSNames)
	for _, ip := range p.cert.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}

// period returns the lifetime for which the certificate was made.
func (p *pair) period() time.Duration { return p.after.Sub(p.notBefore) - skew }

// left returns how much longer the certificate is valid.
func (p *pair) left(now time.Time) time.Duration { return p.after.Sub(now) }

// isValid reports whether the certificate is valid now. A nil pair is not.
func (p *pair) isValid(now time.Time) bool {
	return p != nil && conn.Validity(p.cert, now) == nil
}

// signed reports whether authority has signed the certificate.
func (p *pair) signed(authority *x509.Certificate) bool {
	return bytes.Equal(p.cert.AuthorityKeyId, authority.SubjectKeyId) && p.cert.CheckSignatureFrom(authority) == nil
}

// authorityName returns the name of the authorities of a Secret. isOurs recognizes the authorities in a caBundle by
// this name. Software other than Go expects at most 64 characters in such a name.
func authorityName(secret meta.Key) string {
	name := "webhooks of " + secret.Namespace + "/" + secret.Name
	if len(name) > 64 {
		sum := sha256.Sum256([]byte(name))
		name = "webhooks of " + hex.EncodeToString(sum[:16])
	}
	return name
}

// isOurs reports whether a certificate is an authority with the given name that signs itself. It does not check the
// signature: a program that can write a caBundle can make API servers trust any authority.
func isOurs(c *x509.Certificate, name string) bool {
	return c.IsCA && c.Subject.CommonName == name && bytes.Equal(c.RawSubject, c.RawIssuer)
}

// certificatesIn returns the certificates in a text. It ignores everything else in the text.
func certificatesIn(text []byte) (all []*x509.Certificate) {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			all = append(all, c)
		}
	}
}

// bundle joins certificates into a text, each once, the newest first. Replicas that know the same certificates make the
// same text, so they do not undo each other's writes.
func bundle(of ...*x509.Certificate) (text []byte, all []*x509.Certificate) {
	for _, c := range of {
		if !has(all, c) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *x509.Certificate) int {
		if d := b.NotBefore.Compare(a.NotBefore); d != 0 {
			return d
		}
		return bytes.Compare(a.Raw, b.Raw)
	})
	for _, c := range all {
		text = append(text, encode("CERTIFICATE", c.Raw)...)
	}
	return text, all
}

// has reports whether all has c.
func has(all []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(all, c.Equal)
}

// isOver reports whether an authority has expired by the clocks of all replicas.
func isOver(c *x509.Certificate, now time.Time) bool { return now.After(c.NotAfter.Add(skew)) }

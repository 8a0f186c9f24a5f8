package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// authority signs the client certificates that the API server accepts. In a cluster the controller manager has its
// key.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// backdated is how long before its creation a certificate becomes valid: the clocks of a cluster do not quite agree.
const backdated = time.Minute

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the client authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "e2e-client-authority"},
		NotBefore:    time.Now().Add(-2 * backdated),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the client authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the client authority: %w", err)
	}
	return &authority{cert: cert, key: key}, nil
}

// sign returns a client certificate of a public key, in PEM.
func (a *authority) sign(subject pkix.Name, public any, life time.Duration) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().Add(-backdated),
		NotAfter:     time.Now().Add(life),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.cert, public, a.key)
	if err != nil {
		return nil, err
	}
	return encode("CERTIFICATE", der), nil
}

// Sign returns a client certificate, in PEM, as a certificate signing request in PEM asks for it. The signer of a
// cluster does the same once a request is approved. Sign does not check whom the certificate names. The certificate
// expires life from now, to the second.
func (p *ControlPlane) Sign(request []byte, life time.Duration) ([]byte, error) {
	block, _ := pem.Decode(request)
	if block == nil {
		return nil, errors.New("sign a certificate: the request is not PEM")
	}
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = csr.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	cert, err := p.clients.sign(csr.Subject, csr.PublicKey, life)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	return cert, nil
}

// Issue returns a client certificate and its key, in PEM, for a user and the groups that the user is in. The
// certificate expires life from now, to the second.
func (p *ControlPlane) Issue(user string, groups []string, life time.Duration) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate: %w", err)
	}
	cert, err = p.clients.sign(pkix.Name{CommonName: user, Organization: groups}, private.Public(), life)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate: %w", err)
	}
	return cert, encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

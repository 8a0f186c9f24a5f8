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
	"net"
	"time"
)

// authority signs certificates: those of clients that the API server accepts, or the one that the API server serves. In
// a cluster the controller manager has the key for the clients.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// backdated is how long before its creation a certificate becomes valid: the clocks of a cluster do not quite agree.
const backdated = time.Minute

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-2 * backdated),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key}, nil
}

// sign returns a certificate of a public key, in PEM. The template says what the certificate is for.
func (a *authority) sign(template *x509.Certificate, public any, life time.Duration) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-backdated), time.Now().Add(life)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, err
	}
	return encode("CERTIFICATE", der), nil
}

// pair returns a certificate and a new key, in PEM.
func (a *authority) pair(template *x509.Certificate, life time.Duration) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	cert, err = a.sign(template, private.Public(), life)
	return cert, encode("EC PRIVATE KEY", der), err
}

// keyPEM returns the authority's key.
func (a *authority) keyPEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return encode("PRIVATE KEY", der), nil
}

// ofClient is the template of a client's certificate.
func ofClient(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{Subject: subject, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

// ofServer is the template of the certificate that the servers of a control plane serve.
func ofServer() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}, // loopback, and the service default/kubernetes
	}
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
	cert, err := p.clients.sign(ofClient(csr.Subject), csr.PublicKey, life)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	return cert, nil
}

// Issue returns a client certificate and its key, in PEM, for a user and the groups that the user is in. The
// certificate expires life from now, to the second.
func (p *ControlPlane) Issue(user string, groups []string, life time.Duration) (cert, key []byte, err error) {
	cert, key, err = p.clients.pair(ofClient(pkix.Name{CommonName: user, Organization: groups}), life)
	if err != nil {
		return nil, nil, fmt.Errorf("issue a certificate: %w", err)
	}
	return cert, key, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

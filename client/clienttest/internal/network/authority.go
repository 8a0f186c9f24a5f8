package network

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// Authority signs the certificates of a server that serves https, and of its clients. Its keys are for tests: they are
// generated with the server and never stored.
type Authority struct {
	hosts     []string
	protocols []string

	mu      sync.Mutex // guards the rest
	serial  int64
	key     *ecdsa.PrivateKey
	cert    *x509.Certificate
	serving tls.Certificate
}

// NewAuthority makes a CA, and with it a certificate for a server at address, which may have further names.
func NewAuthority(address net.Addr, http2 bool, names ...string) *Authority {
	a := &Authority{hosts: append([]string{"localhost", "127.0.0.1", "::1"}, names...), protocols: []string{"http/1.1"}}
	if host, _, err := net.SplitHostPort(address.String()); err == nil {
		a.hosts = append(a.hosts, host)
	}
	if http2 {
		a.protocols = []string{"h2", "http/1.1"}
	}
	a.Swap(true)
	return a
}

// Swap makes another certificate, from a new CA if ca is set. It does nothing for a nil Authority.
func (a *Authority) Swap(ca bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if ca {
		t := &x509.Certificate{
			Subject: pkix.Name{CommonName: "clienttest CA"}, IsCA: true, BasicConstraintsValid: true,
			KeyUsage: x509.KeyUsageCertSign,
		}
		a.key, a.cert = newKey(), nil
		a.cert = a.sign(t, a.key)
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: "clienttest"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range a.hosts {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	key := newKey()
	leaf := a.sign(t, key)
	a.serving = tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// sign signs a certificate for key, with the CA if there is one, else with key itself. The certificate is valid today,
// and in the bubbles of testing/synctest, whose clocks start in the year 2000.
func (a *Authority) sign(t *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.serial++
	t.SerialNumber = big.NewInt(a.serial)
	t.NotBefore = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	t.NotAfter = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	parent := cmp.Or(a.cert, t)
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, a.key)
	if err != nil {
		panic(fmt.Sprintf("clienttest: sign a certificate: %v", err))
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		panic(fmt.Sprintf("clienttest: parse a certificate: %v", err))
	}
	return c
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(fmt.Sprintf("clienttest: generate a key: %v", err))
	}
	return key
}

// Config returns the configuration that crypto/tls reads at each handshake, so that Swap needs no restart.
func (a *Authority) Config() *tls.Config {
	return &tls.Config{
		NextProtos: a.protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			clients := x509.NewCertPool()
			clients.AddCert(a.cert)
			return &tls.Config{
				Certificates: []tls.Certificate{a.serving}, NextProtos: a.protocols,
				ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients,
				SessionTicketsDisabled: true, MinVersion: tls.VersionTLS12,
			}, nil
		},
	}
}

// PEM returns the CA's certificate.
func (a *Authority) PEM() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// ClientCertificate returns a new certificate for a user, and its key, as PEM; nil from a nil Authority.
func (a *Authority) ClientCertificate(user string) (certPEM, keyPEM []byte) {
	if a == nil {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := newKey()
	cert := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: user}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, key)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode a key: %v", err))
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

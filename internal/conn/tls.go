package conn

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/shown"
)

// TLS says which servers to trust and which certificate to show. Data wins over a file of the same purpose.
type TLS struct {
	CAFile   string
	CAData   shown.Secret
	CertFile string
	CertData shown.Secret
	KeyFile  string
	KeyData  shown.Secret

	ServerName string
	Insecure   bool
}

// certificate reads the client's certificate and key; nil where there is none.
func (t TLS) certificate(read read) (*tls.Certificate, error) {
	if !t.HasCertificate() {
		return nil, nil
	}
	cert, key := []byte(t.CertData), []byte(t.KeyData)
	var err error
	if len(cert) == 0 {
		if cert, err = read("TLS.CertFile", t.CertFile); err != nil {
			return nil, err
		}
	}
	if len(key) == 0 {
		if key, err = read("TLS.KeyFile", t.KeyFile); err != nil {
			return nil, err
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return &pair, nil
}

// HasCertificate reports whether the client has a certificate to show.
func (t TLS) HasCertificate() bool { return t.CertFile != "" || t.CertData != "" }

// sameCertificate reports whether a server is shown the same.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}

// ca returns the PEM certificates of those who vouch for the server; nil where the system's are meant, which empty or bad
// ones must not be taken for.
func (t TLS) ca(read read) ([]byte, error) {
	switch {
	case t.CAData != "":
		return []byte(t.CAData), nil
	case t.CAFile == "":
		return nil, nil
	}
	b, err := read("TLS.CAFile", t.CAFile)
	if err != nil {
		return nil, err
	}
	if _, err := certPool(b); err != nil {
		return nil, fmt.Errorf("read TLS.CAFile: %s: %w", t.CAFile, err)
	}
	return b, nil
}

// identity is what connections are made with: whom to trust, and who to be. Connections that were made with another one
// must not be used for new requests.
type identity struct {
	ca   []byte // PEM; nil for the system's
	cert *tls.Certificate
}

func (i identity) same(o identity) bool {
	return bytes.Equal(i.ca, o.ca) && sameCertificate(i.cert, o.cert)
}

// identity reads what connections are made with.
func (t TLS) identity(read read) (i identity, err error) {
	if i.ca, err = t.ca(read); err != nil {
		return identity{}, err
	}
	if i.cert, err = t.certificate(read); err != nil {
		return identity{}, err
	}
	return i, nil
}

// inFiles reports whether any of it may change.
func (t TLS) inFiles() bool {
	ca := t.CAData == "" && t.CAFile != ""
	return ca || t.certificateInFiles()
}

// certificateInFiles reports whether the client's certificate, or its key, may change.
func (t TLS) certificateInFiles() bool {
	return t.HasCertificate() && (t.CertData == "" || t.KeyData == "")
}

func certPool(data []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("no PEM certificate in it")
	}
	return pool, nil
}

// validateData checks what can be checked without I/O: certificates and keys that are given as data.
func (t TLS) validateData() error {
	if t.CAData != "" {
		if _, err := certPool([]byte(t.CAData)); err != nil {
			return fmt.Errorf("client.Config: TLS.CAData: %w", err)
		}
	}
	switch {
	case t.CertData != "" && t.KeyData != "":
		if _, err := tls.X509KeyPair([]byte(t.CertData), []byte(t.KeyData)); err != nil {
			return fmt.Errorf("client.Config: TLS.CertData and TLS.KeyData: %w", err)
		}
	case t.CertData != "" && !hasBlock(t.CertData, "CERTIFICATE"):
		return errors.New("client.Config: TLS.CertData: no PEM certificate in it")
	case t.KeyData != "" && !hasBlock(t.KeyData, "PRIVATE KEY"):
		return errors.New("client.Config: TLS.KeyData: no PEM private key in it")
	}
	return nil
}

// hasBlock reports whether data has a PEM block whose type ends in suffix.
func hasBlock(data shown.Secret, suffix string) bool {
	for rest := []byte(data); ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil || strings.HasSuffix(block.Type, suffix) {
			return block != nil
		}
	}
}

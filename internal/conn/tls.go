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
)

// TLS says which servers to trust and which certificate to show. Data wins over a file of the same purpose.
type TLS struct {
	CAFile   string
	CAData   []byte
	CertFile string
	CertData []byte
	KeyFile  string
	KeyData  []byte

	ServerName string
	Insecure   bool
}

// certificate reads the client's certificate and key; nil where there is none.
func (t TLS) certificate(read read) (*tls.Certificate, error) {
	if !t.HasCertificate() {
		return nil, nil
	}
	cert, key := t.CertData, t.KeyData
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
func (t TLS) HasCertificate() bool { return t.CertFile != "" || len(t.CertData) > 0 }

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
	case len(t.CAData) > 0:
		return t.CAData, nil
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
	ca := len(t.CAData) == 0 && t.CAFile != ""
	return ca || t.certificateInFiles()
}

// certificateInFiles reports whether the client's certificate, or its key, may change.
func (t TLS) certificateInFiles() bool {
	return t.HasCertificate() && (len(t.CertData) == 0 || len(t.KeyData) == 0)
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
	if len(t.CAData) > 0 {
		if _, err := certPool(t.CAData); err != nil {
			return fmt.Errorf("client.Config: TLS.CAData: %w", err)
		}
	}
	switch {
	case len(t.CertData) > 0 && len(t.KeyData) > 0:
		if _, err := tls.X509KeyPair(t.CertData, t.KeyData); err != nil {
			return fmt.Errorf("client.Config: TLS.CertData and TLS.KeyData: %w", err)
		}
	case len(t.CertData) > 0 && !hasBlock(t.CertData, "CERTIFICATE"):
		return errors.New("client.Config: TLS.CertData: no PEM certificate in it")
	case len(t.KeyData) > 0 && !hasBlock(t.KeyData, "PRIVATE KEY"):
		return errors.New("client.Config: TLS.KeyData: no PEM private key in it")
	}
	return nil
}

// hasBlock reports whether data has a PEM block whose type ends in suffix.
func hasBlock(data []byte, suffix string) bool {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		if block == nil || strings.HasSuffix(block.Type, suffix) {
			return block != nil
		}
	}
}

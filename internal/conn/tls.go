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

// PEM is one or more certificates or keys, as text or in a file. If both are set, the text counts.
type PEM struct {
	File string
	Data shown.Secret
}

func (p PEM) isSet() bool { return p.File != "" || p.Data != "" }

// inFile reports whether p is read from a file, so that it may change.
func (p PEM) inFile() bool { return p.File != "" && p.Data == "" }

// bytes returns the text. field names the field with the file.
func (p PEM) bytes(read read, field string) ([]byte, error) {
	if p.Data != "" {
		return []byte(p.Data), nil
	}
	return read(field, p.File)
}

// certificate reads the client's certificate and key; nil if there is none.
func (o Options) certificate(read read) (*tls.Certificate, error) {
	if !o.Cert.isSet() {
		return nil, nil
	}
	cert, err := o.Cert.bytes(read, "TLS.CertFile")
	if err != nil {
		return nil, err
	}
	key, err := o.Key.bytes(read, "TLS.KeyFile")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("load the client certificate: %w", err)
	}
	return &pair, nil
}

// sameCertificate reports whether a server would see the same certificate.
func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Certificate, b.Certificate, bytes.Equal)
}

// ca returns the PEM certificates of the authorities that vouch for the server; nil means the system's. Empty or bad
// certificates are an error, because they must not be taken for nil.
func (o Options) ca(read read) ([]byte, error) {
	if !o.CA.isSet() {
		return nil, nil
	}
	b, err := o.CA.bytes(read, "TLS.CAFile")
	if err != nil {
		return nil, err
	}
	if _, err := certPool(b); err != nil { // CA.Data was checked before
		return nil, fmt.Errorf("read TLS.CAFile: %s: %w", o.CA.File, err)
	}
	return b, nil
}

// identity says which authorities the connections trust and which certificate they show. New requests must not use
// connections that were made with another identity.
type identity struct {
	ca   []byte // PEM; nil for the system's
	cert *tls.Certificate
}

func (i identity) same(o identity) bool {
	return bytes.Equal(i.ca, o.ca) && sameCertificate(i.cert, o.cert)
}

// identity reads the identity for connections.
func (o Options) identity(read read) (i identity, err error) {
	if i.ca, err = o.ca(read); err != nil {
		return identity{}, err
	}
	if i.cert, err = o.certificate(read); err != nil {
		return identity{}, err
	}
	return i, nil
}

// inFiles reports whether any part of the identity is read from a file, so that it may change.
func (o Options) inFiles() bool {
	return o.CA.inFile() || o.certificateInFiles()
}

// certificateInFiles reports whether the client's certificate or its key is read from a file, so that it may change.
func (o Options) certificateInFiles() bool {
	return o.Cert.inFile() || o.Key.inFile()
}

func certPool(data []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, errors.New("found no PEM certificate")
	}
	return pool, nil
}

// validateData checks what can be checked without I/O: certificates and keys that are given as data.
func (o Options) validateData() error {
	if o.CA.Data != "" {
		if _, err := certPool([]byte(o.CA.Data)); err != nil {
			return fmt.Errorf("client.Config: TLS.CAData: %w", err)
		}
	}
	switch {
	case o.Cert.Data != "" && o.Key.Data != "":
		if _, err := tls.X509KeyPair([]byte(o.Cert.Data), []byte(o.Key.Data)); err != nil {
			return fmt.Errorf("client.Config: TLS.CertData and TLS.KeyData: %w", err)
		}
	case o.Cert.Data != "" && !hasBlock(o.Cert.Data, "CERTIFICATE"):
		return errors.New("client.Config: TLS.CertData must have a PEM certificate")
	case o.Key.Data != "" && !hasBlock(o.Key.Data, "PRIVATE KEY"):
		return errors.New("client.Config: TLS.KeyData must have a PEM private key")
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

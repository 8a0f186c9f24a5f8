package kubeconfig

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/directive"
)

// maxOutput bounds a plugin's output, in bytes.
const maxOutput = 1 << 20

// credential returns the credential that a plugin has printed: an ExecCredential of the requested version, as JSON, or
// as YAML, which clients have always accepted too. The credential expires when its certificate does, if that is
// earlier. No error quotes the output, except a version of the protocol.
func credential(version string, printed []byte) (client.Credential, error) {
	n, err := outputNode(printed)
	if err == nil && n.Kind != yaml.MappingNode {
		err = errNoDocument
	}
	if err != nil {
		return client.Credential{}, err
	}
	top := &stanza{src: &source{}}
	top.read(n, "apiVersion", "kind", "status")
	switch got := top.text("apiVersion"); {
	case top.err != nil:
	case got == "":
		top.fail("apiVersion", fmt.Errorf("is not set; it must be %s", version))
	case got != version && (got == v1 || got == v1beta1 || got == v1alpha1):
		top.fail("apiVersion", fmt.Errorf("must be %s, as in the kubeconfig, got %s", version, got))
	case got != version:
		top.fail("apiVersion", fmt.Errorf("must be %s", version))
	}
	if top.text("kind") != "ExecCredential" {
		top.fail("kind", errors.New("must be ExecCredential"))
	}
	body := top.value("status")
	if body == nil {
		top.fail("status", errors.New("is not set"))
	}
	if top.err != nil {
		return client.Credential{}, printedError(top.err)
	}
	status := &stanza{src: &source{}, path: "status"}
	status.read(body, "token", "clientCertificateData", "clientKeyData", "expirationTimestamp")
	c := status.credential()
	if status.err != nil {
		return client.Credential{}, printedError(status.err)
	}
	return c, nil
}

// credential returns the credential of a status.
func (s *stanza) credential() client.Credential {
	c := client.Credential{Token: client.Secret(s.text("token"))}
	cert, key, expires := s.text("clientCertificateData"), s.text("clientKeyData"), s.text("expirationTimestamp")
	switch {
	case s.err != nil:
		return client.Credential{}
	case c.Token == "" && cert == "" && key == "":
		s.fail("", errors.New("has no token and no clientCertificateData with clientKeyData"))
	case cert != "" && key == "":
		s.fail("clientCertificateData", errors.New("needs clientKeyData"))
	case cert == "" && key != "":
		s.fail("clientKeyData", errors.New("needs clientCertificateData"))
	case conn.HasControl(c.Token):
		s.fail("token", errors.New("must have no spaces or control characters"))
	}
	if expires != "" {
		at, err := time.Parse(time.RFC3339, expires)
		if err != nil {
			s.fail("expirationTimestamp", errors.New("must be an RFC 3339 time"))
		}
		c.Expires = at
	}
	if s.err == nil && cert != "" {
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err == nil && pair.Leaf == nil {
			pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0])
		}
		if err != nil {
			s.fail("clientKeyData", errors.New("is not the private key of clientCertificateData, or one of them is not PEM"))
			return client.Credential{}
		}
		c.Certificate = &pair
		if c.Expires.IsZero() || pair.Leaf.NotAfter.Before(c.Expires) {
			c.Expires = pair.Leaf.NotAfter
		}
	}
	return c
}

// outputNode parses a plugin's output, which must be one document. Its errors quote nothing of it.
func outputNode(printed []byte) (*yaml.Node, error) {
	if len(bytes.TrimSpace(printed)) == 0 {
		return nil, errors.New("printed nothing")
	}
	text := bytes.TrimPrefix(printed, []byte("\ufeff"))
	if tooManyMarks(text) {
		return nil, errNoDocument
	}
	if json.Valid(text) {
		return decodeJSON(text)
	}
	if err := directive.Check(text); err != nil {
		return nil, fmt.Errorf("printed a document that cannot be read: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if decode(d, &doc) != nil || weigh(&doc, map[*yaml.Node]int{}) > maxValues {
		return nil, errNoDocument
	}
	if !errors.Is(decode(d, &more), io.EOF) {
		return nil, errNoDocument
	}
	return doc.Content[0], nil
}

var errNoDocument = errors.New("printed something other than one ExecCredential in JSON")

// printedError describes an error in a field of the output.
func printedError(err error) error {
	f, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	field := f.stanza
	if f.field != "" && field != "" {
		field += "."
	}
	if field += f.field; field != "" {
		field += " "
	}
	return fmt.Errorf("printed an ExecCredential that cannot be used: %s%w", field, f.err)
}

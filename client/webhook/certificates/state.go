package certificates

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// secret is a Secret. It has every member, so that an update loses nothing.
type secret struct {
	meta.ObjectMeta `json:"metadata"`
	Type            string            `json:"type,omitempty"`
	Immutable       *bool             `json:"immutable,omitempty"`
	Data            map[string][]byte `json:"data,omitempty"`
}

var secrets = client.Type[*secret]{Version: "v1", Kind: "Secret", Resource: "secrets"}

// state is the content of the Secret, which is a stage of a rotation.
//
//	authority A, no next     the usual stage: A has signed the certificate of the servers
//	authority A, next B      the configurations get B beside A, and the servers still show what A has signed
//	authority B, trusting A  the servers show what B has signed, and A stays in the configurations until it has expired
type state struct {
	authority, next *pair // nil if there is none
	serving         *pair
	trusted         []*x509.Certificate // the authorities that the configurations must have; authority and next too
}

// The keys of the Secret's data. Every Secret of its type has tls.crt and tls.key, and ca.crt is the usual key for
// authorities.
const (
	keyServing   = "tls"
	keyAuthority = "authority"
	keyNext      = "next"
	keyTrusted   = "ca.crt"
)

// decode reads the data of a Secret. A part that decode cannot read is missing from the state, and err says why.
func decode(data map[string][]byte) (s state, err error) {
	read := func(name string) *pair {
		cert, key := data[name+".crt"], data[name+".key"]
		if len(cert) == 0 && len(key) == 0 {
			return nil
		}
		p, failed := parse(cert, key)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s.crt and %s.key: %w", name, name, failed))
		}
		return p
	}
	s.authority, s.next, s.serving = read(keyAuthority), read(keyNext), read(keyServing)
	s.trusted = certificatesIn(data[keyTrusted])
	s.trust(s.authority, s.next)
	return s, err
}

// trust adds authorities to s.trusted.
func (s *state) trust(all ...*pair) {
	for _, p := range all {
		if p != nil {
			_, s.trusted = bundle(append(s.trusted, p.cert)...)
		}
	}
}

// encode returns the new data of a Secret whose present data is before. It keeps data under other keys.
func (s state) encode(before map[string][]byte) map[string][]byte {
	data := maps.Clone(before)
	if data == nil {
		data = map[string][]byte{}
	}
	for name, p := range map[string]*pair{keyAuthority: s.authority, keyNext: s.next, keyServing: s.serving} {
		delete(data, name+".crt")
		delete(data, name+".key")
		if p != nil {
			data[name+".crt"], data[name+".key"] = p.certPEM, p.keyPEM
		}
	}
	data[keyTrusted], _ = bundle(s.trusted...)
	return data
}

// signer returns the authority that has signed the certificate of the servers; nil if the Secret does not have it.
func (s state) signer() *x509.Certificate {
	if s.serving != nil {
		for _, c := range s.trusted {
			if s.serving.signed(c) {
				return c
			}
		}
	}
	return nil
}

package warm_test

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
)

var errBad = errors.New("this one does not fit")

func marshal(m map[string]string) ([]byte, error) { return json.Marshal(m) }

func unmarshal(b []byte) (m map[string]string, err error) { return m, json.Unmarshal(b, &m) }

// gcm is AES-GCM with a fixed key.
func gcm() cipher.AEAD {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

func seal(plain []byte) ([]byte, error)  { return gcm().Seal(nil, nil, plain, nil), nil }
func open(sealed []byte) ([]byte, error) { return gcm().Open(nil, nil, sealed, nil) }

package kubeconfig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// environment empties what this package reads from its environment, and returns a home directory for the test.
func environment(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for name, value := range map[string]string{
		"KUBECONFIG": "", "HOME": home, "USERPROFILE": home,
		"KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": "",
	} {
		t.Setenv(name, value)
	}
	return home
}

// write makes a file, with the folders that it needs, and returns its path.
func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// simple is a kubeconfig with one context, cluster and user of the given name, whose server has it too.
func simple(name string) string {
	return "current-context: " + name + `
contexts:
- name: ` + name + `
  context: {cluster: ` + name + `, user: ` + name + `}
clusters:
- name: ` + name + `
  cluster: {server: "https://` + name + `"}
users:
- name: ` + name + `
  user: {token: token-of-` + name + `}
`
}

// keyPair returns a certificate for a name and its key, as PEM. The certificate vouches for itself.
func keyPair(t testing.TB, name string) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func base(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

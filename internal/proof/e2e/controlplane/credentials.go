package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
)

// writeTokens writes the users in the form that kube-apiserver wants: token, user, uid, groups. The administrator has no
// uid, like one with a client certificate.
func writeTokens(path, admin, outsider string) error {
	text := fmt.Sprintf("%s,admin,,system:masters\n%s,outsider,2\n", admin, outsider)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the token file: %w", err)
	}
	return nil
}

// writeKey writes a new private key, with which the API server signs service account tokens.
func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	if err := os.WriteFile(path, encode("EC PRIVATE KEY", der), 0o600); err != nil {
		return fmt.Errorf("write the service account key: %w", err)
	}
	return nil
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: admin
clusters:
- name: e2e
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user:
    token: %s
- name: outsider
  user:
    token: %s
contexts:
- name: admin
  context:
    cluster: e2e
    user: admin
- name: outsider
  context:
    cluster: e2e
    user: outsider
`

func writeKubeconfig(p *ControlPlane) error {
	text := fmt.Sprintf(kubeconfig, p.Server, base64.StdEncoding.EncodeToString(p.CA), p.Token, p.OutsiderToken)
	if err := os.WriteFile(p.Kubeconfig, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}

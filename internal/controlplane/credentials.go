package controlplane

import (
	"crypto/rand"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The files of the credentials, in the directory of the run.
const (
	tokens             = "tokens.csv"
	accountKey         = "service-account.key" // the API server signs tokens with it
	clientAuthority    = "client-authority.crt"
	clientAuthorityKey = "client-authority.key"
	serverAuthority    = "server-authority.crt"
	servingCert        = "serving.crt"
	servingKey         = "serving.key"
)

// path returns the path of a file in the directory of the run.
func (p *ControlPlane) path(name string) string { return filepath.Join(p.dir, name) }

// day is how long the certificates of the control plane are valid. No test runs longer.
const day = 24 * time.Hour

// writeCredentials makes the authorities, keys and tokens of the control plane, and writes them into files.
func (p *ControlPlane) writeCredentials() (err error) {
	if p.clients, err = newAuthority("client authority"); err != nil {
		return err
	}
	serving, err := newAuthority("server authority")
	if err != nil {
		return err
	}
	p.ClientAuthority, p.CA = encode("CERTIFICATE", p.clients.cert.Raw), encode("CERTIFICATE", serving.cert.Raw)
	p.Token, p.OutsiderToken = rand.Text(), rand.Text()
	clientKey, err := p.clients.keyPEM()
	if err != nil {
		return fmt.Errorf("encode the key of the client authority: %w", err)
	}
	cert, key, err := serving.pair(ofServer(), day)
	if err != nil {
		return fmt.Errorf("make the certificate of the API server: %w", err)
	}
	_, account, err := p.clients.pair(ofClient(pkix.Name{CommonName: "unused"}), day) // only the key matters
	if err != nil {
		return fmt.Errorf("make the service account key: %w", err)
	}
	for name, text := range map[string][]byte{
		// Token, user, uid, groups. The administrator has no uid, like one with a client certificate.
		tokens:          fmt.Appendf(nil, "%s,admin,,system:masters\n%s,outsider,2\n", p.Token, p.OutsiderToken),
		clientAuthority: p.ClientAuthority, clientAuthorityKey: clientKey,
		serverAuthority: p.CA, servingCert: cert, servingKey: key, accountKey: account,
	} {
		if err := os.WriteFile(p.path(name), text, 0o600); err != nil {
			return fmt.Errorf("write the credentials: %w", err)
		}
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

package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// startServer starts kube-apiserver and waits until it is ready and has made the namespace "default".
func (p *ControlPlane) startServer(ctx context.Context, path string, o Options) error {
	p.Token, p.OutsiderToken = rand.Text(), rand.Text()
	tokens := filepath.Join(p.dir, "tokens.csv")
	if err := writeTokens(tokens, p.Token, p.OutsiderToken); err != nil {
		return err
	}
	key := filepath.Join(p.dir, "service-account.key")
	if err := writeKey(key); err != nil {
		return err
	}
	var err error
	if p.clients, err = newAuthority(); err != nil {
		return err
	}
	p.ClientAuthority = encode("CERTIFICATE", p.clients.cert.Raw)
	authority := filepath.Join(p.dir, "client-authority.crt")
	if err := os.WriteFile(authority, p.ClientAuthority, 0o600); err != nil {
		return fmt.Errorf("write the client authority: %w", err)
	}
	network, err := p.startCluster()
	if err != nil {
		return err
	}
	return onFreePort(func(port string) error {
		p.Server = "https://127.0.0.1:" + port
		p.serverPath, p.serverFlags = path, append([]string{
			"--etcd-servers=" + p.Etcd,
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--secure-port=" + port,
			"--cert-dir=" + p.certificates(),
			"--token-auth-file=" + tokens,
			"--client-ca-file=" + authority,
			"--egress-selector-config-file=" + network,
			"--authorization-mode=RBAC",
			"--allow-privileged=true", // as in most clusters: the nodes' own programs need it
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + key, // takes a private key too, and uses the public half
			"--service-account-signing-key-file=" + key,
			"--service-cluster-ip-range=10.0.0.0/24",
			// Without a controller manager nobody makes the service accounts that this plugin wants for each pod.
			"--disable-admission-plugins=ServiceAccount",
			// The only endpoint would be a loopback address, which the server itself refuses in Endpoints.
			"--endpoint-reconciler-type=none",
		}, o.ServerFlags...)
		s, err := p.launchServer(ctx)
		if err == nil {
			p.servers = append(p.servers, s)
		}
		return err
	})
}

// certificates is the directory where the API server keeps the certificate that it makes for itself. A later API
// server with the same directory uses the same certificate.
func (p *ControlPlane) certificates() string { return filepath.Join(p.dir, "certs") }

// launchServer starts kube-apiserver, with the flags that startServer has chosen, and waits until it serves.
func (p *ControlPlane) launchServer(ctx context.Context) (*server, error) {
	s, err := launch("kube-apiserver", p.serverPath, p.dir, p.serverFlags...)
	if err != nil {
		return nil, err
	}
	err = s.await(ctx, func(ctx context.Context) (err error) {
		if p.CA, err = readAuthority(filepath.Join(p.certificates(), "apiserver.crt")); err != nil {
			return err
		}
		for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
			if err := p.check(ctx, p.Server+path); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = s.stop() // has nothing to add to err
		return nil, err
	}
	return s, nil
}

// RestartServer kills kube-apiserver, as a crash does, and starts it again, with the same data, address, certificate
// and tokens. It returns once the new one serves. If down is not nil, it is called while no API server runs.
//
// It may not be called by several goroutines at once, or together with Stop. After an error there may be no API
// server.
func (p *ControlPlane) RestartServer(ctx context.Context, down func()) error {
	last := len(p.servers) - 1
	if err := p.servers[last].stop(); err != nil {
		return fmt.Errorf("restart kube-apiserver: %w", err)
	}
	p.servers = p.servers[:last]
	if down != nil {
		down()
	}
	s, err := p.launchServer(ctx)
	if err != nil {
		return fmt.Errorf("restart kube-apiserver: %w", err)
	}
	p.servers = append(p.servers, s)
	return nil
}

// check returns nil if the API server answers a GET with 200. No other server accepts the token.
func (p *ControlPlane) check(ctx context.Context, url string) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	client := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true},
		Timeout:   5 * time.Second,
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.Token)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // an explanation, or part of one
		return fmt.Errorf("%s: %s: %s", req.URL.Path, resp.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// readAuthority returns the authority's part of a file of certificates in PEM. The API server writes that file: its
// serving certificate first, then the authority that it made for itself.
func readAuthority(path string) ([]byte, error) {
	rest, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var authority []byte
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if cert.IsCA {
			authority = append(authority, pem.EncodeToMemory(block)...)
		}
	}
	if authority == nil {
		return nil, fmt.Errorf("read %s: no certificate authority in it", path)
	}
	return authority, nil
}

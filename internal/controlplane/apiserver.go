package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// startServer starts kube-apiserver and waits until it is ready and has made the namespace "default".
func (p *ControlPlane) startServer(ctx context.Context, o Options) error {
	if err := p.writeCredentials(); err != nil {
		return err
	}
	var more []string
	if o.Network {
		network, err := p.startCluster()
		if err != nil {
			return err
		}
		more = append(more, "--egress-selector-config-file="+network)
	}
	if !o.ControllerManager || len(o.Controllers) > 0 {
		// This plugin requires a service account for each pod, and only a controller manager with its default
		// controllers makes them.
		more = append(more, "--disable-admission-plugins=ServiceAccount")
	}
	return onFreePort(func(port string) error {
		p.Server = "https://127.0.0.1:" + port
		p.flags = slices.Concat([]string{
			"--etcd-servers=" + p.Etcd,
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--secure-port=" + port,
			"--tls-cert-file=" + p.path(servingCert),
			"--tls-private-key-file=" + p.path(servingKey),
			"--token-auth-file=" + p.path(tokens),
			"--client-ca-file=" + p.path(clientAuthority),
			"--authorization-mode=RBAC",
			"--allow-privileged=true", // as in most clusters: the nodes' own programs need it
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + p.path(accountKey), // takes a private key too, and uses the public half
			"--service-account-signing-key-file=" + p.path(accountKey),
			"--service-cluster-ip-range=10.0.0.0/24",
			// The only endpoint would be a loopback address, which the server itself refuses in Endpoints.
			"--endpoint-reconciler-type=none",
		}, more, o.ServerFlags)
		return p.launchServer(ctx)
	})
}

// launchServer starts kube-apiserver, with the flags that startServer has chosen, and waits until it serves.
func (p *ControlPlane) launchServer(ctx context.Context) error {
	s, err := p.launch("kube-apiserver", p.flags...)
	if err != nil {
		return err
	}
	err = s.await(ctx, func(ctx context.Context) (err error) {
		for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
			if err := p.check(ctx, p.Server+path); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = s.stop() // has nothing to add to err
		return err
	}
	p.servers, p.apiServer = append(p.servers, s), s
	return nil
}

// RestartServer kills kube-apiserver, as a crash does, and starts it again, with the same data, address, certificate
// and tokens. It returns once the new one serves. If down is not nil, it is called while no API server runs.
//
// It may not be called by several goroutines at once, or together with Stop. After an error there may be no API
// server.
func (p *ControlPlane) RestartServer(ctx context.Context, down func()) error {
	if err := p.apiServer.stop(); err != nil {
		return fmt.Errorf("restart kube-apiserver: %w", err)
	}
	p.servers = slices.DeleteFunc(p.servers, func(s *server) bool { return s == p.apiServer })
	if down != nil {
		down()
	}
	if err := p.launchServer(ctx); err != nil {
		return fmt.Errorf("restart kube-apiserver: %w", err)
	}
	return nil
}

// check returns nil if a server of this control plane answers a GET with 200. No other server has a certificate of CA.
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

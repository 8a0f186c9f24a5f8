package controlplane

import "context"

// startControllerManager starts kube-controller-manager and waits until all of its controllers run. It is alone, so it
// elects no leader, and it signs the certificates of clients as the controller manager of a cluster does.
func (p *ControlPlane) startControllerManager(ctx context.Context) error {
	return onFreePort(func(port string) error {
		s, err := p.launch("kube-controller-manager",
			"--kubeconfig="+p.Kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port="+port,
			"--tls-cert-file="+p.path(servingCert),
			"--tls-private-key-file="+p.path(servingKey),
			"--leader-elect=false",
			"--use-service-account-credentials=true",
			"--service-account-private-key-file="+p.path(accountKey),
			"--root-ca-file="+p.path(serverAuthority),
			"--cluster-signing-cert-file="+p.path(clientAuthority),
			"--cluster-signing-key-file="+p.path(clientAuthorityKey),
		)
		if err != nil {
			return err
		}
		ready := func(ctx context.Context) error {
			if err := p.check(ctx, "https://127.0.0.1:"+port+"/healthz"); err != nil {
				return err
			}
			// A pod of the namespace needs it from now on.
			return p.check(ctx, p.Server+"/api/v1/namespaces/default/serviceaccounts/default")
		}
		if err := s.await(ctx, ready); err != nil {
			_ = s.stop() // has nothing to add to err
			return err
		}
		p.servers = append(p.servers, s)
		return nil
	})
}

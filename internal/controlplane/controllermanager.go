package controlplane

import (
	"cmp"
	"context"
	"strings"
)

// startControllerManager starts kube-controller-manager, and waits until it is healthy. If only is not empty, no other
// controllers run; otherwise it also waits for the service account of the namespace "default". There is one controller
// manager, so it elects no leader. It signs the certificates of clients as the controller manager of a cluster does.
func (p *ControlPlane) startControllerManager(ctx context.Context, only []string) error {
	return onFreePort(func(port string) error {
		s, err := p.launch("kube-controller-manager",
			"--kubeconfig="+p.Kubeconfig,
			"--bind-address=127.0.0.1",
			"--secure-port="+port,
			"--tls-cert-file="+p.path(servingCert),
			"--tls-private-key-file="+p.path(servingKey),
			"--controllers="+cmp.Or(strings.Join(only, ","), "*"),
			"--leader-elect=false",
			// The rates of a cluster with many nodes: a test makes the changes of days in minutes.
			"--kube-api-qps=5000",
			"--kube-api-burst=10000",
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
			if err := p.check(ctx, "https://127.0.0.1:"+port+"/healthz"); err != nil || len(only) > 0 {
				return err
			}
			// A pod of the namespace needs this service account from now on.
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

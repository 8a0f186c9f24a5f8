package controlplane

import (
	"context"
	"strings"
)

// StartControllers starts kube-controller-manager with the given controllers, such as "garbage-collector-controller", and
// no others. It does not wait until they work. Stop ends them. There is no kube-controller-manager for other releases
// than the usual one.
func (p *ControlPlane) StartControllers(ctx context.Context, controllers ...string) error {
	path, err := Executable(ctx, "kube-controller-manager", p.Kubernetes, p.dir)
	if err != nil {
		return err
	}
	s, err := launch("kube-controller-manager", path, p.dir,
		"--kubeconfig="+p.Kubeconfig,
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		// The rates of a cluster with many nodes: a test makes the changes of days in minutes.
		"--kube-api-qps=5000",
		"--kube-api-burst=10000",
	)
	if err != nil {
		return err
	}
	// The API server stays the last one, which RestartServer relies on. Stop ends the controllers after it.
	p.servers = append([]*server{s}, p.servers...)
	return nil
}

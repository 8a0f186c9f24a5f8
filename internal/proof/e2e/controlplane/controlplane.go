package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Options says how a control plane differs from the usual one. The zero value is a good default.
type Options struct {
	// Kubernetes is the release of the servers and of kubectl, one of Releases. Empty means the first of them.
	Kubernetes string
	// ServerFlags are further flags of kube-apiserver, such as "--event-ttl=1m". They come last, and if a flag is given
	// twice, the last one counts.
	ServerFlags []string
}

// Releases returns the releases of Kubernetes that Start knows, the usual one first. Each is a file of modules:
// go.mod, or go-1.36.mod for "1.36".
func Releases() []string { return []string{"1.37", "1.36"} }

// ControlPlane is a running etcd and kube-apiserver. Its fields are set by Start and do not change; its methods may be
// called from several goroutines, except RestartServer.
type ControlPlane struct {
	// Kubernetes is the release of the server, such as "1.37".
	Kubernetes string
	// Server is the URL of the API server: "https://127.0.0.1:" and a port.
	Server string
	// Etcd is the URL of etcd, plain HTTP without authentication. Etcd's JSON gateway answers there too.
	Etcd string
	// CA is the certificate authority of Server, in PEM.
	CA []byte
	// ClientAuthority is the certificate authority of the users' certificates, in PEM. Issue and Sign make them.
	ClientAuthority []byte
	// Token is a bearer token of the user "admin", who belongs to system:masters and so may do everything.
	Token string
	// OutsiderToken is a bearer token of the user "outsider", who has no rights but discovery and asking about
	// themselves. The server answers everything else with Forbidden (403).
	OutsiderToken string
	// Kubeconfig is the path of a file with the contexts "admin", which is current, and "outsider".
	Kubeconfig string

	dir     string
	kubectl string
	clients *authority // of the users' certificates
	cluster *cluster   // nil until it is started
	servers []*server  // in the order of their start; the API server is the last

	serverPath  string // kube-apiserver's executable and flags, to start it again
	serverFlags []string

	stopOnce sync.Once
	stopErr  error
}

// Start builds what is missing, starts etcd and kube-apiserver, and returns once they serve. It takes seconds, and
// minutes where the Go build cache has nothing yet.
//
// The context bounds the start only. When it ends early, or anything else fails, Start leaves nothing running and
// nothing on disk; the error says what it was waiting for and ends in the last lines that the process in question
// wrote.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	p := &ControlPlane{Kubernetes: cmp.Or(o.Kubernetes, Releases()[0])}
	if err := p.start(ctx, o); err != nil {
		return nil, fmt.Errorf("start control plane: %w", errors.Join(err, p.Stop()))
	}
	return p, nil
}

func (p *ControlPlane) start(ctx context.Context, o Options) error {
	if !slices.Contains(Releases(), p.Kubernetes) {
		return fmt.Errorf("Options.Kubernetes must be one of %q, got %q", Releases(), p.Kubernetes)
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "bowline-e2e-"); err != nil {
		return fmt.Errorf("make the directory of the run: %w", err)
	}
	paths := map[string]string{}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		path, err := Executable(ctx, name, p.Kubernetes, p.dir)
		if err != nil {
			return err
		}
		paths[name] = path
	}
	p.kubectl = paths["kubectl"]

	if err := p.startEtcd(ctx, paths["etcd"]); err != nil {
		return err
	}
	if err := p.startServer(ctx, paths["kube-apiserver"], o); err != nil {
		return err
	}
	p.Kubeconfig = filepath.Join(p.dir, "kubeconfig")
	return writeKubeconfig(p)
}

// Stop ends both processes, waits until they are gone, and removes what they left on disk. It returns an error if one
// of them had ended before, with the last lines that it wrote. Calling it again does nothing and returns the same.
func (p *ControlPlane) Stop() error {
	p.stopOnce.Do(func() {
		var errs []error
		// The API server first: it would only complain about a missing etcd.
		for i := len(p.servers) - 1; i >= 0; i-- {
			errs = append(errs, p.servers[i].stop())
		}
		if p.cluster != nil {
			errs = append(errs, p.cluster.stop())
		}
		if p.dir != "" {
			errs = append(errs, os.RemoveAll(p.dir))
		}
		p.stopErr = errors.Join(errs...)
	})
	return p.stopErr
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// Options says how a control plane differs from the usual one. The zero value is a good default.
type Options struct {
	// Kubernetes is the minor release of the programs, one of build.Minors. Empty means the newest.
	Kubernetes string
	// ServerFlags are further flags of kube-apiserver, such as "--event-ttl=1m". They come last, and if a flag is given
	// twice, the last one counts.
	ServerFlags []string
	// ControllerManager also starts kube-controller-manager. Then pods get the service account of their namespace.
	ControllerManager bool
	// Controllers are the only controllers that kube-controller-manager runs, such as "garbage-collector-controller".
	// Pods then get no service account. Empty means those that it runs by default.
	Controllers []string
	// Kubectl also builds kubectl, which Kubectl and KubectlPath need.
	Kubectl bool
	// Network gives the API server a network of pods, services and nodes, whose addresses are those of Listen. Without
	// it, the API server opens its connections itself, also to loopback addresses of webhooks.
	Network bool
	// Progress gets a line every ten seconds while programs are built. If it is nil, no lines are written.
	Progress io.Writer
	// Bin is a directory with the programs, instead of those that would be built. Tests put others there.
	Bin string
}

// Programs returns the names of the programs that the options need.
func (o Options) Programs() []string {
	programs := []string{"etcd", "kube-apiserver"}
	if o.ControllerManager {
		programs = append(programs, "kube-controller-manager")
	}
	if o.Kubectl {
		programs = append(programs, "kubectl")
	}
	return programs
}

// ControlPlane is a running etcd and kube-apiserver. Its fields are set by Start and do not change; its methods may be
// called from several goroutines, except RestartServer.
type ControlPlane struct {
	// Kubernetes is the minor release of the server, such as "1.37".
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
	// OutsiderToken is a bearer token of the user "outsider", who may only use discovery and ask for reviews of their
	// own access. The server answers everything else with Forbidden (403).
	OutsiderToken string
	// Kubeconfig is the path of a file with the contexts "admin", which is current, and "outsider".
	Kubeconfig string

	dir     string
	bin     string     // the directory of the programs
	clients *authority // of the users' certificates
	cluster *cluster   // nil without Options.Network
	servers []*server  // in the order of their start

	apiServer *server  // also in servers
	flags     []string // of kube-apiserver, to start it again

	stopOnce sync.Once
	stopErr  error
}

// Start builds what is missing, starts the servers, and returns once they serve. It takes seconds, and minutes where
// programs have to be built.
//
// The context bounds the start only. When it ends early, or anything else fails, Start leaves nothing running and
// nothing on disk but the programs; the error says what it was waiting for and ends in the last lines that the process
// in question wrote.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	p := &ControlPlane{}
	if err := p.start(ctx, o); err != nil {
		return nil, fmt.Errorf("start control plane: %w", errors.Join(err, p.Stop()))
	}
	return p, nil
}

func (p *ControlPlane) start(ctx context.Context, o Options) error {
	var err error
	if p.Kubernetes, err = build.Resolve(o.Kubernetes); err != nil {
		return fmt.Errorf("Options.Kubernetes: %w", err)
	}
	if p.bin = o.Bin; p.bin == "" {
		if p.bin, err = build.Programs(ctx, p.Kubernetes, o.Programs(), o.Progress); err != nil {
			return err
		}
	}
	if p.dir, err = os.MkdirTemp("", "bowline-"); err != nil {
		return fmt.Errorf("make the directory of the run: %w", err)
	}
	if err := p.startEtcd(ctx); err != nil {
		return err
	}
	if err := p.startServer(ctx, o); err != nil {
		return err
	}
	p.Kubeconfig = filepath.Join(p.dir, "kubeconfig")
	if err := writeKubeconfig(p); err != nil {
		return err
	}
	if o.ControllerManager {
		return p.startControllerManager(ctx, o.Controllers)
	}
	return nil
}

// Wait waits until ctx ends, and then returns nil. If a server ends by itself before, it returns an error that names
// the server and has the end of its log. It does not know servers that RestartServer starts later.
func (p *ControlPlane) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan error, len(p.servers))
	var waiting sync.WaitGroup
	for _, s := range p.servers {
		waiting.Go(func() {
			select {
			case <-s.exited:
				if !s.stopping.Load() {
					ends <- s.ended()
					cancel()
				}
			case <-ctx.Done():
			}
		})
	}
	waiting.Wait()
	close(ends)
	return <-ends // nil if none has ended
}

// Log returns the last lines that the API server wrote.
func (p *ControlPlane) Log() string { return p.apiServer.tail() }

// Stop ends the servers, waits until they are gone, and removes what they left on disk. It returns an error if one
// of them had ended before, with the last lines that it wrote. Calling it again does nothing and returns the same.
func (p *ControlPlane) Stop() error {
	p.stopOnce.Do(func() {
		var errs []error
		// The last one first: the API server would only complain about a missing etcd.
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

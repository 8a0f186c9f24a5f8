package clienttest

import (
	"context"
	"net"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
)

// ListenService returns a listener for a program that serves webhooks with TLS of its own: the server's calls to the
// service arrive there, in memory, if Options.Services does not have the service. As in a cluster, the program's
// certificate must be for NAME.NAMESPACE.svc, and its authority in the caBundle of the configuration. If several
// listeners for one service are open, as of several replicas, they get the calls in turn. Close the listener when the
// program no longer gets calls. The listener works under testing/synctest, in the bubble of the caller.
func (s *Server) ListenService(service meta.Key) net.Listener {
	l := &serviceListener{Listener: memnet.Listen(), of: &s.webhooks.programs, host: service.Name + "." + service.Namespace + ".svc"}
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.of.open = append(l.of.open, l)
	return l
}

// programs are listeners for services.
type programs struct {
	mu   sync.Mutex
	open []*serviceListener // the next one to be called first
}

// serviceListener is a listener of ListenService.
type serviceListener struct {
	*memnet.Listener
	of   *programs
	host string
}

// Close closes the listener, and ends the calls to it.
func (l *serviceListener) Close() error {
	l.of.mu.Lock()
	l.of.open = slices.DeleteFunc(l.of.open, func(o *serviceListener) bool { return o == l })
	l.of.mu.Unlock()
	return l.Listener.Close()
}

// dial connects to the next program that serves a host. served is false if there is none.
func (p *programs) dial(ctx context.Context, network, host string) (conn net.Conn, served bool, err error) {
	p.mu.Lock()
	i := slices.IndexFunc(p.open, func(l *serviceListener) bool { return l.host == host })
	if i < 0 {
		p.mu.Unlock()
		return nil, false, nil
	}
	l := p.open[i]
	p.open = append(slices.Delete(p.open, i, i+1), l)
	p.mu.Unlock()
	conn, err = l.DialContext(ctx, network, l.Addr().String())
	return conn, true, err
}

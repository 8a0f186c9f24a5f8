package apiserver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/undertest"
)

// startLimit is how long built servers may take until they are ready. They take seconds.
const startLimit = 2 * time.Minute

// Server is an API server with its etcd. Its methods may be called by several goroutines at once.
type Server struct {
	options Options
	invalid error // why the options cannot be used; Run returns it
	content read
	running atomic.Bool
	test    *undertest.Test // set by Start; nil otherwise

	settled chan struct{}              // closed when the server is ready, or cannot be
	plane   *controlplane.ControlPlane // set before settled is closed, if the server is ready
	failure error                      // set before settled is closed, if it is not
}

// New returns a server that does nothing until Run. If the options are invalid, Run returns the error.
func New(o Options) *Server {
	content, err := o.readFiles()
	return &Server{options: o, content: content, invalid: errors.Join(o.validate(), err), settled: make(chan struct{})}
}

// Run builds the servers if they are missing, starts them, and runs them until ctx ends. When it returns, they have
// ended and their data is gone. It returns nil if ctx ends while the server is ready. Otherwise the error says why the
// server is not ready, or which server ended by itself, with the end of its log. Call it only once.
func (s *Server) Run(ctx context.Context) error {
	if s.running.Swap(true) {
		return errors.New("apiserver: Run was called twice: a Server runs only once")
	}
	plane, err := s.start(ctx)
	if err != nil {
		s.failure = err
		close(s.settled)
		return err
	}
	s.plane = plane
	close(s.settled)
	err = plane.Wait(ctx)
	if stopped := plane.Stop(); err == nil {
		err = stopped
	}
	return err
}

// start returns a control plane that has the objects that the options name.
func (s *Server) start(ctx context.Context) (*controlplane.ControlPlane, error) {
	if s.invalid != nil {
		return nil, s.invalid
	}
	if time.Now().Year() < 2020 { // the clock of a bubble begins in the year 2000
		return nil, errors.New("apiserver: the clock is before 2020: real servers do not run in a bubble of testing/synctest; " +
			"call synctest.Test with a clienttest server instead")
	}
	if err := s.options.build(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("the servers are not ready after %s", startLimit))
	defer cancel()
	plane, err := controlplane.Start(ctx, s.options.plane())
	if err != nil {
		return nil, err
	}
	if err := s.content.install(ctx, configOf(plane)); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return nil, errors.Join(err, plane.Stop())
	}
	return plane, nil
}

// WaitReady waits until the server serves and has everything that the options name. The error says why Run ended
// instead, or why ctx did.
func (s *Server) WaitReady(ctx context.Context) error {
	select {
	case <-s.settled:
		return s.failure
	case <-ctx.Done():
		return fmt.Errorf("wait for the API server: %w", context.Cause(ctx))
	}
}

// ready returns the control plane, or nil before the server is ready.
func (s *Server) ready() *controlplane.ControlPlane {
	select {
	case <-s.settled:
		return s.plane
	default:
		return nil
	}
}

// Config returns the configuration of a client that may do everything. Before the server is ready, Config returns an
// empty configuration, which client.New refuses. A server that Start returned is ready.
func (s *Server) Config() client.Config {
	plane := s.ready()
	if plane == nil {
		return client.Config{}
	}
	config := configOf(plane)
	config.BelongTo(s.test)
	return config
}

func configOf(plane *controlplane.ControlPlane) client.Config {
	return client.Config{
		Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token),
	}
}

// Kubeconfig returns the path of a kubeconfig for kubectl and other programs, whose user may do everything. The file
// exists while the server runs. The path is empty before the server is ready.
func (s *Server) Kubeconfig() string {
	plane := s.ready()
	if plane == nil {
		return ""
	}
	return plane.Kubeconfig
}

package clienttest

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/network"
	"github.com/bowline-go/bowline/internal/memnet"
)

// webhookServer serves the handlers of Options.Services over HTTPS in memory. Only this server's own calls reach it.
type webhookServer struct {
	handlers  map[string]http.Handler // by the host of the service
	listener  *memnet.Listener
	authority *network.Authority
	programs  programs // that serve TLS themselves
}

// newWebhookServer returns a server for the handlers of Options.Services.
func newWebhookServer(services map[string]http.Handler) *webhookServer {
	s := &webhookServer{handlers: map[string]http.Handler{}, listener: memnet.Listen()}
	if len(services) == 0 {
		return s
	}
	var hosts []string
	for name, handler := range services {
		namespace, service, _ := strings.Cut(name, "/")
		host := service + "." + namespace + ".svc"
		hosts, s.handlers[host] = append(hosts, host), handler
	}
	slices.Sort(hosts)
	s.authority = network.NewAuthority(s.listener.Addr(), false, hosts...)
	return s
}

// caller returns the Caller that calls webhooks.
func (s *webhookServer) caller() admission.Caller {
	return admission.Caller{Dial: s.dial, CA: func(host string) []byte {
		if s.authority == nil || s.handlers[host] == nil {
			return nil
		}
		return s.authority.PEM()
	}}
}

// dial connects to a service.
func (s *webhookServer) dial(ctx context.Context, netw, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	if s.handlers[host] == nil {
		if conn, served, err := s.programs.dial(ctx, netw, host); served {
			return conn, err
		}
		service, rest, _ := strings.Cut(host, ".")
		return nil, fmt.Errorf("service %q not found: Options.Services has no %q, and no ListenService is open", service, strings.TrimSuffix(rest, ".svc")+"/"+service)
	}
	return s.listener.DialContext(ctx, netw, s.listener.Addr().String())
}

// serve starts the server. end stops it, and waits for the handlers.
func (s *webhookServer) serve(ctx context.Context) (end func()) {
	if s.authority == nil {
		return func() { _ = s.listener.Close() }
	}
	var work network.Traffic
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			work.Add(1)
			defer work.Add(-1)
			s.handlers[r.TLS.ServerName].ServeHTTP(w, r)
		}),
		TLSConfig:   s.authority.Config(),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.ServeTLS(s.listener, "", "")
	}()
	return func() {
		_ = srv.Close()
		<-done
		<-work.Done()
	}
}

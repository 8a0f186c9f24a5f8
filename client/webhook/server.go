package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server serves webhooks over TLS, as a Runner of an informer.Group. Set Handler, Listener, CertFile and KeyFile. A
// Server runs once. Its methods may be called by several goroutines at once.
type Server struct {
	// Handler answers the calls, such as a http.ServeMux with the handlers of this package.
	Handler http.Handler
	// Listener accepts the connections of the API server, such as from net.Listen("tcp", ":9443"). Run closes it.
	Listener net.Listener
	// CertFile and KeyFile are the server's certificate, with those that it was signed by, and its private key, as PEM.
	// The certificate must be for NAME.NAMESPACE.svc of the service in the webhook's configuration. The files are read
	// again when they change, as those of a mounted Secret do; new connections then have the new certificate. While the
	// new files do not fit together, the old certificate stays, and Ready says why.
	CertFile, KeyFile string

	mu      sync.Mutex // guards what follows
	begun   bool
	serving bool
	cert    certificate
}

// Run serves until ctx ends, and then waits for the calls that are under way, for at most ten seconds. It returns an
// error if a field is missing, if the certificate cannot be read, or if the listener fails.
func (s *Server) Run(ctx context.Context) error {
	if err := s.begin(); err != nil {
		if s.Listener != nil {
			_ = s.Listener.Close()
		}
		return fmt.Errorf("webhook: %w", err)
	}
	server := &http.Server{
		Handler: s.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(lines{ctx}, "", 0),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.certificate()
		}},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(s.Listener, "", "") }()
	s.setServing(true)
	defer s.setServing(false)
	select {
	case err := <-ended:
		return fmt.Errorf("webhook: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// begin checks the fields, and reads the certificate.
func (s *Server) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.begun:
		return errors.New("a Server runs only once")
	case s.Handler == nil:
		return errors.New("Server.Handler must be set")
	case s.Listener == nil:
		return errors.New("Server.Listener must be set")
	case s.CertFile == "" || s.KeyFile == "":
		return errors.New("Server.CertFile and Server.KeyFile must be set")
	}
	s.begun = true
	s.cert = certificate{certFile: s.CertFile, keyFile: s.KeyFile}
	_, err := s.cert.get(time.Now())
	return err
}

func (s *Server) setServing(serving bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving = serving
}

// certificate returns the present certificate: the last one that could be read.
func (s *Server) certificate() (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, _ := s.cert.get(time.Now()); c != nil {
		return c, nil
	}
	return nil, errors.New("there is no certificate")
}

// Ready returns nil while the server serves with a certificate that is valid now. The error says what is wrong: the
// server does not run, the files cannot be read or do not fit together, or the certificate is not valid any more or not
// yet. informer.Group.Ready asks it.
func (s *Server) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.serving {
		return errors.New("webhook: the server does not run")
	}
	now := time.Now()
	c, err := s.cert.get(now)
	if err == nil {
		err = valid(c, now)
	}
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// String names the server in logs.
func (s *Server) String() string { return "webhook server" }

// lines writes what net/http has to say to the logger of a context.
type lines struct{ ctx context.Context }

// Write implements io.Writer.
func (l lines) Write(b []byte) (int, error) {
	logError(l.ctx, errors.New(string(b)), "a connection to the webhook server fails")
	return len(b), nil
}

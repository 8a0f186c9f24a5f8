package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/report"
)

// Server serves webhooks over TLS, as a Runner of an informer.Group. Set Handler, Listener, and either Certificates, or
// CertFile and KeyFile. A Server runs once. Its methods may be called by several goroutines at once.
type Server struct {
	// Handler answers the calls, such as a http.ServeMux with the handlers of this package.
	Handler http.Handler
	// Listener accepts the connections of the API server, such as from net.Listen("tcp", ":9443"). Run closes it.
	Listener net.Listener
	// CertFile is a PEM file with the server's certificate and the certificates of its signers. KeyFile is a PEM file
	// with the private key. The certificate must be for NAME.NAMESPACE.svc of the service in the webhook's
	// configuration. Run reads the files again every ten seconds, so the files of a mounted Secret may change; new
	// connections then get the new certificate. While the new files cannot be read or do not fit together, the old
	// certificate stays, and Ready and the log say why.
	CertFile, KeyFile string
	// Certificates supplies the certificate instead of files. An Issuer of package client/webhook/certificates, for
	// example, makes it. The Server runs Certificates until the last call has been answered, so nothing else may run
	// it. The Server refuses connections until there is a certificate.
	Certificates Source
	// MustBeCalled makes Ready also return an error until the first call. A pod that is not ready gets calls only if
	// its Service has spec.publishNotReadyAddresses. Also, somebody must write an object about which the webhook is
	// asked, for example the program itself with a dry run. Without both, the program never becomes ready.
	MustBeCalled bool

	mu      sync.Mutex // guards the fields below
	begun   bool
	serving bool
	source  Source // Certificates, or the files
	calls   int64
	called  time.Time
}

// Run serves until ctx ends, and then waits for the calls that are under way, for at most ten seconds. It returns an
// error if a field is missing, if the files cannot be read at the start, or if the listener or Certificates fails.
func (s *Server) Run(ctx context.Context) error {
	if err := s.begin(); err != nil {
		if s.Listener != nil {
			_ = s.Listener.Close()
		}
		return fmt.Errorf("webhook: %w", err)
	}
	said := report.New(logr.Logger{})
	said.Start(ctx)
	defer said.Stop()
	server := &http.Server{
		Handler: http.HandlerFunc(s.answer), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(lines{said}, "", 0),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return s.source.Certificate()
		}},
	}
	keeping, endKeeping := context.WithCancel(context.WithoutCancel(ctx))
	defer endKeeping()
	kept, ended := make(chan error, 1), make(chan error, 1)
	go func() { kept <- s.source.Run(keeping) }()
	go func() { ended <- server.ServeTLS(s.Listener, "", "") }()
	s.setServing(true)
	defer s.setServing(false)
	var failed error // of the source
	select {
	case err := <-ended: // the listener
		endKeeping()
		<-kept
		return fmt.Errorf("webhook: %w", err)
	case failed = <-kept:
		if failed == nil {
			failed = errors.New("the Run of Certificates has ended by itself")
		}
		kept <- nil
	case <-ctx.Done():
	}
	err := shutdown(ctx, server, ended)
	endKeeping()
	if err = errors.Join(failed, err, <-kept); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// shutdown ends a server, and waits for its calls.
func shutdown(ctx context.Context, server *http.Server, ended <-chan error) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// begin checks the fields, and reads the files.
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
	case s.Certificates != nil && (s.CertFile != "" || s.KeyFile != ""):
		return errors.New("Server.Certificates must not be set with CertFile and KeyFile")
	case s.Certificates == nil && (s.CertFile == "" || s.KeyFile == ""):
		return errors.New("Server.CertFile and Server.KeyFile, or Server.Certificates, must be set")
	}
	s.begun, s.source = true, s.Certificates
	if s.source == nil {
		f := &files{certFile: s.CertFile, keyFile: s.KeyFile}
		s.source = f
		return f.look()
	}
	return nil
}

func (s *Server) setServing(serving bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving = serving
}

// answer answers a request, and counts the calls that the Handler has answered with success.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	seen := &answered{ResponseWriter: w}
	s.Handler.ServeHTTP(seen, r)
	if r.Method != http.MethodPost || seen.code/100 != 2 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.called = s.calls+1, time.Now()
}

// answered records the status code of an answer.
type answered struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write implements io.Writer.
func (a *answered) Write(b []byte) (int, error) {
	if a.code == 0 {
		a.code = http.StatusOK
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Ready returns nil while the server serves with a certificate that is valid now and, with Certificates, trusted by the
// configurations. The error says what is wrong: the server does not run, the files cannot be read or do not fit
// together, or the certificate has expired or is not valid yet. informer.Group.Ready calls Ready. See also
// MustBeCalled.
func (s *Server) Ready() error {
	s.mu.Lock()
	serving, source, calls := s.serving, s.source, s.calls
	s.mu.Unlock()
	if !serving {
		return errors.New("webhook: the server does not run")
	}
	if err := source.Ready(); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	if s.MustBeCalled && calls == 0 {
		return errors.New("webhook: the API server has not called yet")
	}
	return nil
}

// Permissions returns the permissions that Certificates needs, if it has a method Permissions, as an Issuer of package
// client/webhook/certificates has. The webhooks themselves need no permissions.
func (s *Server) Permissions() []client.Access {
	if p, ok := s.Certificates.(interface{ Permissions() []client.Access }); ok {
		return p.Permissions()
	}
	return nil
}

// Status is a snapshot of a [Server].
type Status struct {
	// Serving says that the server accepts connections.
	Serving bool
	// Expires is when the certificate expires; zero if there is none.
	Expires time.Time
	// Calls is the number of calls that the Handler has answered with success, and Called the time of the last one.
	Calls  int64
	Called time.Time
}

// Status returns the present state.
func (s *Server) Status() Status {
	s.mu.Lock()
	is, source := Status{Serving: s.serving, Calls: s.calls, Called: s.called}, s.source
	s.mu.Unlock()
	if source == nil {
		return is
	}
	if c, err := source.Certificate(); err == nil && c != nil && c.Leaf != nil {
		is.Expires = c.Leaf.NotAfter
	}
	return is
}

// String names the server in logs.
func (s *Server) String() string { return "webhook server" }

// lines logs the errors of net/http, for example that a caller does not trust the certificate: the first at once, and
// repeated ones at growing intervals.
type lines struct{ log *report.Log }

// Write implements io.Writer.
func (l lines) Write(b []byte) (int, error) {
	l.log.Failed(report.Topic{Key: "connections", Fails: "a connection to the webhook server fails"}, errors.New(strings.TrimSpace(string(b))), nil)
	return len(b), nil
}

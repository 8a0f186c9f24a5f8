package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// hungUp is a connection whose server closes it as soon as it has seen the client's certificate: by then the client's side of
// the handshake of TLS 1.3 is over, so that it is a write that fails, and no alert that is read.
type hungUp struct {
	net.Conn
	writes int
}

func (r *hungUp) Write(p []byte) (int, error) {
	if r.writes++; r.writes > 2 { // the hello, and the flight with the certificate
		_ = r.Close()
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return r.Conn.Write(p)
}

// A refused certificate that shows as a broken connection was not taken for one: renewed files were not read for up to 30 s.
// A read is sent again at once with the new ones. A write may have been handled, so the next request is the first to use them.
func TestARefusedCertificateThatShowsAsABrokenConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, verb := range []string{"get", "create"} {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{TLS: true, HTTP2: http2, Token: "secret"})
				cfg := server.Config()
				cfg.BearerToken = ""
				dir := t.TempDir()
				cfg.TLS.CertFile, cfg.TLS.KeyFile = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
				renew := func() {
					cert, key := server.ClientCertificate("jane")
					for file, data := range map[string][]byte{cfg.TLS.CertFile: cert, cfg.TLS.KeyFile: key} {
						if err := os.WriteFile(file, data, 0o600); err != nil {
							t.Error(err)
						}
					}
				}
				renew()
				dial, dials := cfg.Dial, 0
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if dials++; dials == 1 && err == nil {
						renew() // somebody else does that meanwhile
						return &hungUp{Conn: conn}, nil
					}
					return conn, err
				}
				cfg.Retry.Attempts = 1
				c := must[*client.Client](t)(client.New(cfg))
				t.Cleanup(c.Close)
				r := client.For(c, slims)
				call := func() error {
					if verb == "get" {
						_, err := r.List(t.Context(), client.ListOptions{Namespace: "default"})
						return err
					}
					_, err := r.Create(t.Context(), &Slim{Identity: meta.Identity{Namespace: "default", Name: "a"}})
					return err
				}
				switch err := call(); {
				case verb == "get" && err != nil:
					t.Errorf("HTTP/2 %v: a read failed: %v", http2, err)
				case verb == "create" && !errors.Is(err, syscall.EPIPE) && dials != 1:
					t.Errorf("HTTP/2 %v: a write ended with %v after %d dials, want the broken connection", http2, err, dials)
				}
				if err := call(); err != nil {
					t.Errorf("HTTP/2 %v: %s with the new certificate: %v", http2, verb, err)
				}
			})
		}
	}
}

// Only a connection that breaks in its first write may be a refused certificate. After another failure, and without a certificate
// in a file, the files are read at their time, and the request is not sent again.
func TestAFailureOtherThanARefusedCertificateIsReturned(t *testing.T) {
	for _, test := range []struct {
		name string
		ca   bool // the files have the authority alone
		fail func(conn net.Conn) (net.Conn, error)
		want error
	}{
		{"a refused connection", false, func(conn net.Conn) (net.Conn, error) {
			_ = conn.Close()
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}, syscall.ECONNREFUSED},
		{"a broken connection without a certificate", true, func(conn net.Conn) (net.Conn, error) {
			return &hungUp{Conn: conn}, nil
		}, syscall.EPIPE},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{TLS: true, Token: "secret"})
				cfg := server.Config()
				authority, dir := []byte(cfg.TLS.CAData), t.TempDir()
				write := func(file string, text []byte) string {
					if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
						t.Error(err)
					}
					return filepath.Join(dir, file)
				}
				renew := func() {
					if test.ca {
						authority = slices.Concat(authority, authority)
						cfg.TLS.CAData, cfg.TLS.CAFile = "", write("ca", authority)
						return
					}
					cert, key := server.ClientCertificate("jane")
					cfg.TLS.CertFile, cfg.TLS.KeyFile = write("cert", cert), write("key", key)
				}
				renew()
				dial, dials := cfg.Dial, 0
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if dials++; dials == 1 && err == nil {
						renew() // somebody else does that meanwhile
						return test.fail(conn)
					}
					return conn, err
				}
				cfg.Retry.Attempts = 1
				c := must[*client.Client](t)(client.New(cfg))
				t.Cleanup(c.Close)
				_, err := client.For(c, slims).List(t.Context(), client.ListOptions{Namespace: "default"})
				if !errors.Is(err, test.want) || dials != 1 {
					t.Errorf("got %v after %d dials, want %v after one", err, dials, test.want)
				}
			})
		})
	}
}

package e2e

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
)

// servingCertificate returns a certificate of a server on loopback, and the same as its own authority, in PEM. That of
// package httptest has a key of RSA, which is slow.
func servingCertificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// crowdServer answers with the name of the client's certificate. open counts its connections.
func crowdServer(t *testing.T) (cfg client.Config, open *atomic.Int64) {
	t.Helper()
	open = new(atomic.Int64)
	authority := x509.NewCertPool()
	authority.AppendCertsFromPEM(plane.ClientAuthority)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	serving, servingAuthority := servingCertificate(t)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{serving}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority,
	}
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return client.Config{Server: server.URL, TLS: client.TLS{CAData: client.Secret(servingAuthority)}}, open
}

// census counts what has been made and is in memory still.
type census struct{ clients, connections atomic.Int64 }

// crowd is the label of the goroutines of a crowd, and of those that they start.
var crowd = pprof.Labels("crowd", "clients")

// labelled returns how many goroutines of the crowd there are.
func labelled(t *testing.T) int64 {
	t.Helper()
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	return int64(bytes.Count(text.Bytes(), []byte(`"crowd":"clients"`)))
}

// counted is a connection that is missed until it is garbage.
type counted struct{ net.Conn }

// visit makes a client that is somebody of its own, uses it once, and closes it.
func (c *census) visit(ctx context.Context, cfg client.Config, user string) error {
	cert, key, err := plane.Issue(user, nil, time.Hour)
	if err != nil {
		return err
	}
	cfg.TLS.CertData, cfg.TLS.KeyData = client.Secret(cert), client.Secret(key)
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		made := &counted{conn}
		c.connections.Add(1)
		runtime.AddCleanup(made, func(n *atomic.Int64) { n.Add(-1) }, &c.connections)
		return made, nil
	}
	visitor, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer visitor.Close()
	c.clients.Add(1)
	runtime.AddCleanup(visitor, func(n *atomic.Int64) { n.Add(-1) }, &c.clients)
	resp, err := visitor.Raw(ctx, client.RawRequest{Path: "/"})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		return fmt.Errorf("the answer is of %s, want HTTP/2", resp.Proto)
	}
	name, err := io.ReadAll(resp.Body)
	if err == nil && string(name) != user {
		err = fmt.Errorf("the server has seen %q, want %s", name, user)
	}
	return err
}

// Ten thousand clients come, each with a certificate of its own, and go. No connection of theirs stays open, no goroutine
// goes on, and all that they had becomes garbage: of HTTP/2 the last half a minute later, when a timer of net/http passes
// that it sets when it reads and does not stop when a connection ends.
func TestClientsLeaveNothingBehind(t *testing.T) {
	const clients, hands = 10_000, 4
	cfg, open := crowdServer(t)
	var left census
	pprof.Do(t.Context(), crowd, func(ctx context.Context) {
		if labelled(t) == 0 {
			t.Error("the goroutines of the crowd are not found")
		}
		var wait sync.WaitGroup
		for hand := range hands {
			wait.Go(func() {
				for i := hand; i < clients; i += hands {
					if err := left.visit(ctx, cfg, fmt.Sprint("user-", i)); err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
				}
			})
		}
		wait.Wait()
	})
	eventually(t, func() error {
		if n, goroutines := open.Load(), labelled(t); n > 0 || goroutines > 0 {
			return fmt.Errorf("%d connections are open, and %d goroutines run", n, goroutines)
		}
		return nil
	})

	t.Parallel() // what is counted now are things of the crowd alone
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	limit := time.After(patience)
	for left.clients.Load() > 0 || left.connections.Load() > 0 {
		select {
		case <-tick.C:
			runtime.GC()
		case <-limit:
			t.Fatalf("%d clients and %d connections are no garbage yet", left.clients.Load(), left.connections.Load())
		}
	}
}

package webhook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/internal/memnet"
)

// write writes a new certificate that is valid for an hour, and its key. serial tells certificates apart.
func write(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "hooks"}, DNSNames: []string{"hooks.web.svc"},
		NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if name == "" {
			continue
		}
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serial connects, and returns the serial number of the server's certificate.
func serial(t *testing.T, l *memnet.Listener) int64 {
	t.Helper()
	conn, err := l.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the test compares the certificate
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTheServerReadsItsCertificateAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, l := t.TempDir(), memnet.Listen()
		certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		write(t, certFile, keyFile, 1)
		s := &webhook.Server{Handler: hooks(), Listener: l, CertFile: certFile, KeyFile: keyFile}
		ready := func(want string) {
			t.Helper()
			if err := s.Ready(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("Ready: got %v, want %q", err, want)
			}
		}
		ready("the server does not run")
		ctx, stop := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		ready("")
		if n := serial(t, l); n != 1 {
			t.Errorf("the certificate is %d, want the first", n)
		}
		write(t, certFile, "", 2) // its key comes later
		time.Sleep(20 * time.Second)
		ready("private key does not match public key")
		if n := serial(t, l); n != 1 {
			t.Errorf("between the two files the certificate is %d, want the first", n)
		}
		write(t, certFile, keyFile, 3)
		time.Sleep(20 * time.Second)
		ready("")
		if n := serial(t, l); n != 3 {
			t.Errorf("the certificate is %d, want the third", n)
		}
		time.Sleep(2 * time.Hour)
		ready("the certificate has expired at")
		if err := os.Remove(certFile); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		ready("no such file")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ready("the server does not run")
		if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "runs only once") {
			t.Errorf("a second Run: %v", err)
		}
	})
}

// A call that is under way is answered after the end.
func TestTheEndWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, l := t.TempDir(), memnet.Listen()
		certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		write(t, certFile, keyFile, 1)
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(5 * time.Second)
			_, _ = io.WriteString(w, "done")
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- (&webhook.Server{Handler: slow, Listener: l, CertFile: certFile, KeyFile: keyFile}).Run(ctx)
		}()
		caller := &http.Client{Transport: &http.Transport{DialContext: l.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		time.AfterFunc(time.Second, stop)
		answer, err := caller.Post("https://"+l.Addr().String(), "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(answer.Body); err != nil || string(b) != "done" {
			t.Errorf("got %q, %v", b, err)
		}
		_ = answer.Body.Close()
		caller.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAServerThatLacksSomethingDoesNotRun(t *testing.T) {
	certFile := filepath.Join(t.TempDir(), "tls.crt")
	for want, s := range map[string]*webhook.Server{
		"Server.Handler must be set":   {Listener: memnet.Listen(), CertFile: "a", KeyFile: "b"},
		"Server.Listener must be set":  {Handler: hooks(), CertFile: "a", KeyFile: "b"},
		"Server.Certificates must not": {Handler: hooks(), Listener: memnet.Listen(), CertFile: "a", Certificates: failing{}},
		"it has no certificate":        {Handler: hooks(), Listener: memnet.Listen(), Certificates: failing{errors.New("it has no certificate")}},
		"the Run of Certificates has":  {Handler: hooks(), Listener: memnet.Listen(), Certificates: failing{}},
		"Server.CertFile and":          {Handler: hooks(), Listener: memnet.Listen(), CertFile: "a"},
		"read the certificate: ":       {Handler: hooks(), Listener: memnet.Listen(), CertFile: certFile, KeyFile: certFile},
	} {
		if err := s.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "webhook: "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if s.Listener != nil {
			if _, err := s.Listener.Accept(); err == nil || !strings.Contains(err.Error(), net.ErrClosed.Error()) {
				t.Errorf("%s: the listener is open: %v", want, err)
			}
		}
	}
}

// failing is a Source that ends at once.
type failing struct{ err error }

func (f failing) Run(context.Context) error              { return f.err }
func (f failing) Certificate() (*tls.Certificate, error) { return nil, f.err }
func (f failing) Ready() error                           { return f.err }

// lines are what a program logs.
type lines struct {
	mu   sync.Mutex
	text []string
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(b))
	return len(b), nil
}

// A pair that does not fit together is named in the log once, and then rarely; so is the next good one.
func TestTheLogNamesAPairThatDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, l, said := t.TempDir(), memnet.Listen(), &lines{}
		certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
		write(t, certFile, keyFile, 1)
		s := &webhook.Server{Handler: hooks(), Listener: l, CertFile: certFile, KeyFile: keyFile}
		ctx, stop := context.WithCancel(logr.NewContext(t.Context(), logr.FromSlogHandler(slog.NewTextHandler(said, nil))))
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait() // it has read the first pair
		write(t, certFile, "", 2)
		time.Sleep(19 * time.Second)
		if n := len(said.text); n != 1 || !strings.Contains(said.text[0], "private key does not match public key") {
			t.Errorf("the log is %q", said.text)
		}
		time.Sleep(time.Hour)
		if n := len(said.text); n > 10 {
			t.Errorf("%d lines in an hour", n)
		}
		write(t, certFile, keyFile, 3)
		time.Sleep(11 * time.Second)
		if last := said.text[len(said.text)-1]; !strings.Contains(last, "the certificate can be read again") || serial(t, l) != 3 {
			t.Errorf("the last line is %q", last)
		}
		if is := s.Status(); !is.Serving || is.Calls != 0 || is.Expires.IsZero() {
			t.Errorf("the status is %+v", is)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestConvertPanicsWithStepsThatDoNotFit(t *testing.T) {
	for want, s := range map[string][]webhook.Step{
		"must have at least one step": nil,
		"two steps join v1 and v2":    append(steps(), steps()[0]),
		"the function from v1 to v2":  {webhook.Between(version[*siteV1]("v1"), version[*siteV2]("v2"), nil, nil)},
		"got v1 twice":                {webhook.Between(version[*siteV1]("v1"), version[*siteV1]("v1"), same, same)},
		"no steps lead from v1 to v5": append(steps(), webhook.Between(version[*siteV1]("v5"), version[*siteV1]("v6"), same, same)),
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(v.(string), want) {
					t.Errorf("got %v, want %q", v, want)
				}
			}()
			webhook.Convert(s...)
		}()
	}
}

func same(context.Context, *siteV1, *siteV1) error { return nil }

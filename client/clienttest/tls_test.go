package clienttest_test

import (
	"crypto/tls"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// fault F30: certificates and the CA are swapped while the server runs.
func TestSwapCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{HTTP2: true})
		serial := func(config client.Config) (string, error) {
			transport := newTransport(config)
			defer transport.CloseIdleConnections()
			resp, err := (&http.Client{Transport: transport}).Get(h.base + "/readyz")
			if err != nil {
				return "", err
			}
			resp.Body.Close()
			return resp.TLS.PeerCertificates[0].SerialNumber.String(), nil
		}
		config := h.server.Config()
		first, err := serial(config)
		if err != nil {
			t.Fatal(err)
		}
		w := h.watch(t, configMaps)
		h.server.SwapCertificate()
		if second, err := serial(config); err != nil || second == first {
			t.Errorf("another certificate of the same CA: got serial %s and %v, the first was %s", second, err, first)
		}
		h.server.SwapCA()
		if _, err := serial(config); err == nil {
			t.Error("who trusts the old CA alone still connects")
		}
		if _, err := serial(h.server.Config()); err != nil {
			t.Errorf("with the new CA: %v", err)
		}
		h.create(t, "a") // on a connection that is open
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("the watch brings %s", got)
		}
	})
}

func TestClientCertificates(t *testing.T) {
	h := newHarness(t, clienttest.Options{HTTP2: true, Token: "secret"})
	code := func(cert, key []byte) int {
		config := h.server.Config()
		transport := newTransport(config)
		defer transport.CloseIdleConnections()
		if cert != nil {
			pair, err := tls.X509KeyPair(cert, key)
			if err != nil {
				t.Fatal(err)
			}
			transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
		}
		resp, err := (&http.Client{Transport: transport}).Get(h.base + configMaps)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	cert, key := h.server.ClientCertificate("jane")
	for _, test := range []struct {
		name string
		swap func()
		want int
	}{
		{"one of the CA", func() {}, 200},
		{"one of the CA, after another serving certificate", h.server.SwapCertificate, 200},
		{"one of an earlier CA", h.server.SwapCA, 0},
		{"none", func() { cert = nil }, 401},
	} {
		if test.swap(); code(cert, key) != test.want {
			t.Errorf("%s: got %d, want %d", test.name, code(cert, key), test.want)
		}
	}
	if cert, key := clienttest.New(clienttest.Options{}).ClientCertificate("jane"); cert != nil || key != nil {
		t.Error("a server without TLS has certificates")
	}
}

// The real client trusts what Config carries.
func TestConfigCarriesTheCA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{HTTP2: true, Token: "secret"})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := client.For(c, conformance.ConfigMaps).Get(t.Context(), meta.Key{Namespace: "default", Name: "a"}); err == nil {
			t.Error("got an object that is not there")
		}
	})
}

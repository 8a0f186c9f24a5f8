package strategy_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/strategy"
	"github.com/bowline-go/bowline/client/meta"
)

// A signer ends a request with a certificate for its key, of now. The certificates in testdata of the test against a
// real server are old, so this case is here.
func TestAPodCertificateRequestEndsWithACertificateForItsKey(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	for name, c := range map[string]struct {
		key    ed25519.PrivateKey
		from   time.Time
		length time.Duration
		want   string // the field that is wrong
	}{
		"its own key": {key, now, 2 * time.Hour, ""},
		"another key": {other, now, 2 * time.Hour, "status.certificateChain"},
		"an old one":  {key, now.Add(-time.Hour), 2 * time.Hour, "status.notBefore"},
		"a short one": {key, now, 30 * time.Minute, "status.certificateChain"},
		"a long one":  {key, now, 25 * time.Hour, "status.certificateChain"},
	} {
		t.Run(name, func(t *testing.T) {
			to := c.from.Add(c.length)
			leaf := certificate(t, c.key, c.from, to)
			old := jsontree.Object{"spec": jsontree.Object{
				"stubPKCS10Request": request(t, key), "maxExpirationSeconds": jsontree.Of(86400),
			}, "status": jsontree.Object{}}
			after := jsontree.Object{"spec": old["spec"], "status": jsontree.Object{
				"conditions": []any{jsontree.Object{
					"type": "Issued", "status": "True", "reason": "Issued", "lastTransitionTime": now.Format(time.RFC3339),
				}},
				"certificateChain": leaf,
				"notBefore":        c.from.Format(time.RFC3339),
				"notAfter":         to.Format(time.RFC3339),
				"beginRefreshAt":   c.from.Add(15 * time.Minute).Format(time.RFC3339),
			}}
			causes := strategy.New().Check(strategy.Write{
				Kind:        meta.GVK{Group: "certificates.k8s.io", Version: "v1", Kind: "PodCertificateRequest"},
				Subresource: "status", New: after, Old: old,
			})
			switch {
			case c.want == "" && len(causes) == 0:
			case len(causes) != 1 || causes[0].Field != c.want:
				t.Errorf("got %v, want one at %q", causes, c.want)
			}
		})
	}
}

// certificate returns a certificate in PEM that a key signs for itself.
func certificate(t *testing.T, key ed25519.PrivateKey, from, to time.Time) string {
	t.Helper()
	wanted := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, wanted, wanted, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// request returns a request for a certificate of a key, in base64.
func request(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

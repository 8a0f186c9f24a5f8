package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// signingRequest is a CertificateSigningRequest.
type signingRequest struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Request           []byte   `json:"request"`
		SignerName        string   `json:"signerName"`
		Usages            []string `json:"usages"`
		ExpirationSeconds int      `json:"expirationSeconds,omitempty"`
		Username          string   `json:"username,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions  []signingCondition `json:"conditions,omitempty"`
		Certificate []byte             `json:"certificate,omitempty"`
	} `json:"status,omitzero"`
}

type signingCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

var signingRequests = client.Type[*signingRequest]{
	Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Resource: "certificatesigningrequests",
	Scope: meta.Cluster,
}

// requestCertificate gets a client certificate and its key, in PEM, through the API: asker asks for it, and the test approves
// and signs, which people and the controller manager do in a cluster. It is good for life.
func requestCertificate(t *testing.T, asker *client.Client, subject pkix.Name, life time.Duration) (cert, key []byte) {
	t.Helper()
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	csr := must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, private))(t)
	asked := &signingRequest{ObjectMeta: meta.ObjectMeta{GenerateName: "e2e-"}}
	asked.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr})
	asked.Spec.SignerName = "kubernetes.io/kube-apiserver-client"
	asked.Spec.Usages = []string{"client auth"}
	asked.Spec.ExpirationSeconds = 600
	asked = must(client.For(asker, signingRequests).Create(t.Context(), asked))(t)

	requests := client.For(open(t, adminConfig()), signingRequests)
	isApproved := func(r *signingRequest) bool {
		return len(r.Status.Conditions) > 0 && r.Status.Conditions[0].Type == "Approved"
	}
	approved := must(requests.Sub("approval").Modify(t.Context(), meta.KeyOf(asked), func(r *signingRequest) error {
		r.Status.Conditions = []signingCondition{{Type: "Approved", Status: "True", Reason: "Test", Message: "a test"}}
		return nil
	}))(t)
	if !isApproved(approved) {
		t.Errorf("after the approval the conditions are %+v", approved.Status.Conditions)
	}
	must(requests.Status().Modify(t.Context(), meta.KeyOf(asked), func(r *signingRequest) (err error) {
		r.Status.Certificate, err = plane.Sign(r.Spec.Request, life)
		return err
	}))(t)

	signed := must(client.WaitFor(t.Context(), client.For(asker, signingRequests), meta.KeyOf(asked),
		client.Until("signed", func(r *signingRequest) (bool, error) { return len(r.Status.Certificate) > 0, nil })))(t)
	der := must(x509.MarshalECPrivateKey(private))(t)
	return signed.Status.Certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func TestACertificateIsSignedThroughTheAPI(t *testing.T) {
	t.Parallel()
	cert, key := requestCertificate(t, open(t, adminConfig()), pkix.Name{CommonName: "carol", Organization: []string{"gardeners"}}, time.Hour)
	cfg := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA), CertData: client.Secret(cert), KeyData: client.Secret(key)}}
	got := must(client.For(open(t, cfg), selfReviews).Create(t.Context(), &review{}))(t)
	equal(t, "user", got.Status.UserInfo.Username, "carol")
	equal(t, "groups", strings.Join(got.Status.UserInfo.Groups, " "), "gardeners system:authenticated")
	if !strings.HasPrefix(got.credential(), "X509SHA256=") {
		t.Errorf("the credential is %q, want a certificate", got.credential())
	}
}

// A certificate in files is replaced shortly before it expires, while a watch runs. The server refuses the old one, also on
// the connections that were made with it, and the client must notice by itself; the watch goes on where it is.
func TestACertificateIsRotatedWhileAWatchRuns(t *testing.T) {
	t.Parallel()
	const life = 8 * time.Second
	c, ns := admin(t)
	grant(t, c, ns, "sailors", `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["watch"]}]`)
	subject := pkix.Name{CommonName: "dave", Organization: []string{"sailors"}}
	dir := t.TempDir()
	cfg := client.Config{Server: plane.Server, TLS: client.TLS{
		CAData: client.Secret(plane.CA), CertFile: filepath.Join(dir, "tls.crt"), KeyFile: filepath.Join(dir, "tls.key"),
	}}
	install := func(cert, key []byte) {
		t.Helper()
		for path, text := range map[string][]byte{cfg.TLS.CertFile: cert, cfg.TLS.KeyFile: key} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	next, nextKey := requestCertificate(t, c, subject, time.Hour)
	install(requestCertificate(t, c, subject, life))
	expired := time.Now().Add(life)
	user := open(t, cfg)
	reviews := client.For(user, selfReviews)
	first := must(reviews.Create(t.Context(), &review{}))(t).credential()

	eventually(t, func() error {
		may, err := client.CanI(t.Context(), user, client.Access{
			Verb: "watch", Resource: client.For(user, configMaps).GVR(), Key: meta.Key{Namespace: ns},
		})
		if err == nil && !may.Allowed {
			err = errors.New("the user may not watch yet")
		}
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	events, watched := make(chan string), make(chan error, 1)
	var watching sync.WaitGroup
	t.Cleanup(watching.Wait)
	t.Cleanup(cancel)
	watching.Go(func() {
		for event, err := range client.For(user, conformance.ConfigMaps).Watch(ctx, client.WatchOptions{Namespace: ns, Timeout: time.Minute}) {
			if err != nil {
				watched <- err
				return
			}
			select {
			case events <- event.Identity.Name:
			case <-ctx.Done():
				return
			}
		}
		watched <- errors.New("it ended")
	})
	configMaps := client.For(c, conformance.ConfigMaps)
	see := func(name string) {
		t.Helper()
		must(configMaps.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: name}}))(t)
		select {
		case got := <-events:
			equal(t, "the object of the event", got, name)
		case err := <-watched:
			t.Fatalf("the watch ends: %v", err)
		case <-time.After(patience):
			t.Fatal("the watch brings nothing")
		}
	}
	see("before")
	install(next, nextKey)
	eventually(t, func() error {
		// No request fails at any time.
		got := must(reviews.Create(t.Context(), &review{}))(t)
		if got.credential() == first {
			return fmt.Errorf("the user still comes with %s", first)
		}
		return nil
	})
	select {
	case <-time.After(time.Until(expired)):
	case <-t.Context().Done():
	}
	must(reviews.Create(t.Context(), &review{}))(t)
	see("after")
}

package certificates_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Secret is a Secret as the tests see it.
type Secret struct {
	meta.ObjectMeta `json:"metadata"`
	Type            string            `json:"type,omitempty"`
	Data            map[string][]byte `json:"data,omitempty"`
}

// Configuration is a webhook configuration as the tests see it.
type Configuration struct {
	meta.ObjectMeta `json:"metadata"`
	Webhooks        []map[string]any `json:"webhooks,omitempty"`
}

var (
	secrets  = client.Type[*Secret]{Version: "v1", Kind: "Secret", Resource: "secrets"}
	validate = client.Type[*Configuration]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration",
		Resource: "validatingwebhookconfigurations", Scope: meta.Cluster,
	}
	mutate = client.Type[*Configuration]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration",
		Resource: "mutatingwebhookconfigurations", Scope: meta.Cluster,
	}

	secretKey  = meta.Key{Namespace: "web", Name: "hooks-certificate"}
	serviceKey = meta.Key{Namespace: "web", Name: "hooks"}
	sites      = meta.Key{Name: "sites"}
)

const host = "hooks.web.svc"

// options are those of the replicas.
func options() certificates.Options {
	return certificates.Options{
		Secret: secretKey, Service: serviceKey, Validating: []string{"sites"}, Mutating: []string{"sites"}, Definitions: []string{"sites.example.com"},
	}
}

// world is a cluster with the configurations of sites.
type world struct {
	t      *testing.T
	server *clienttest.Server
	c      *client.Client // of the test
}

// newWorld starts a server with the definition of sites.
func newWorld(t *testing.T, o clienttest.Options) *world {
	t.Helper()
	o.CRDs = append(o.CRDs, "../testdata/sites.yaml")
	return newSmallWorld(t, o)
}

// newSmallWorld starts a server with the webhook configurations, and with the namespace of the Secret.
func newSmallWorld(t *testing.T, o clienttest.Options) *world {
	t.Helper()
	o.Objects = append(o.Objects, "../testdata/hooks.yaml", "testdata/namespace.yaml")
	w := &world{t: t, server: clienttest.Start(t, o)}
	w.c = w.client("")
	return w
}

// client returns a client with a name. Its requests have that User-Agent.
func (w *world) client(name string) *client.Client {
	cfg := w.server.Config()
	if name != "" {
		cfg.UserAgent = name
	}
	c, err := client.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// replica returns an Issuer of a new process.
func (w *world) replica(name string, change ...func(*certificates.Options)) *certificates.Issuer {
	o := options()
	o.OnError, o.Logger = func(error) {}, logr.FromSlogHandler(slog.DiscardHandler)
	for _, f := range change {
		f(&o)
	}
	return certificates.New(w.client(name), o)
}

// quiet is a context whose log nobody reads.
func (w *world) quiet() context.Context { return logr.NewContext(w.t.Context(), logr.Discard()) }

// look lets replicas look once, one after the other.
func (w *world) look(all ...*certificates.Issuer) {
	w.t.Helper()
	for _, i := range all {
		if err := i.Look(w.quiet()); err != nil {
			w.t.Error(err)
		}
	}
}

// pass lets time pass, in which replicas look now and then.
func (w *world) pass(d time.Duration, all ...*certificates.Issuer) {
	w.t.Helper()
	for range 4 {
		time.Sleep(d / 4)
		w.look(all...)
	}
}

// secret returns the Secret.
func (w *world) secret() *Secret {
	w.t.Helper()
	s, err := client.For(w.c, secrets).Get(w.t.Context(), secretKey)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// replace writes the data of the Secret.
func (w *world) replace(data map[string][]byte) {
	w.t.Helper()
	s := w.secret()
	s.Data = data
	if _, err := client.For(w.c, secrets).Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) deleteSecret() {
	w.t.Helper()
	if err := client.For(w.c, secrets).Delete(w.t.Context(), secretKey, client.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// overwrite sets the caBundle of a configuration.
func (w *world) overwrite(text []byte) {
	w.t.Helper()
	if _, err := client.For(w.c, validate).Patch(w.t.Context(), sites, patch.JSON(patch.Add("/webhooks/0/clientConfig/caBundle", text))); err != nil {
		w.t.Fatal(err)
	}
}

// bundles returns the caBundles of all configurations.
func (w *world) bundles() map[string][]byte {
	w.t.Helper()
	all := map[string][]byte{}
	for _, of := range []client.Type[*Configuration]{validate, mutate} {
		all[of.Kind] = w.bundle(of)
	}
	d, err := client.For(w.c, crd.Definitions()).Get(w.t.Context(), meta.Key{Name: "sites.example.com"})
	if err != nil {
		w.t.Fatal(err)
	}
	all[d.Name] = d.Spec.Conversion.Webhook.Client.CABundle
	return all
}

// bundle returns the caBundle of a webhook configuration; nil if it does not exist.
func (w *world) bundle(of client.Type[*Configuration]) []byte {
	w.t.Helper()
	c, err := client.For(w.c, of).Get(w.t.Context(), sites)
	if errors.Is(err, apierrors.NotFound) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	at, _ := c.Webhooks[0]["clientConfig"].(map[string]any)
	text, _ := at["caBundle"].(string)
	return unbase64(w.t, text)
}

// trusts returns why an API server would refuse the certificate that a replica shows; nil if all
// configurations trust it.
func (w *world) trusts(i *certificates.Issuer) error {
	w.t.Helper()
	leaf, _ := i.Served()
	if leaf == nil {
		return errors.New("the replica has no certificate")
	}
	return trusted(leaf, w.bundles())
}

func trusted(leaf *x509.Certificate, bundles map[string][]byte) error {
	for name, text := range bundles {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(text)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// authorities returns how many certificates each bundle has; -1 if they differ.
func (w *world) authorities() int {
	w.t.Helper()
	n := -2
	for _, text := range w.bundles() {
		if here := count(text); n == -2 {
			n = here
		} else if n != here {
			return -1
		}
	}
	return n
}

// same reports whether replicas show the same certificate.
func same(a, b *certificates.Issuer) bool {
	one, _ := a.Served()
	other, _ := b.Served()
	return one != nil && other != nil && one.Equal(other)
}

// counter counts requests by verb and resource, and can refuse some.
type counter struct {
	mu     sync.Mutex
	writes int
	refuse func(clienttest.Request) http.HandlerFunc
}

func (c *counter) see(r *http.Request) http.HandlerFunc {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := clienttest.RequestOf(r)
	switch is.Verb {
	case "create", "update", "patch", "delete":
		c.writes++
	}
	if c.refuse != nil {
		return c.refuse(is)
	}
	return nil
}

// shown returns a value as JSON.
func shown(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

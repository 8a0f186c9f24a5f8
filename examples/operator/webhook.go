package main

import (
	"context"
	"net"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
)

// maxText is how many bytes a ConfigMap holds. A definition cannot say that, because its maxLength counts characters.
const maxText = 1 << 20

// validate is asked about each page before the server stores it.
func validate(_ context.Context, r *webhook.Request[*Page]) error {
	if r.Operation == webhook.Update && r.Object.Spec.Text == r.Old.Spec.Text {
		return nil // so that the finalizer of a page that is older than the webhook can be removed
	}
	if n := len(r.Object.Spec.Text); n > maxText {
		return webhook.Invalid("spec.text", "must have at most %d bytes, as a ConfigMap holds no more; got %d", maxText, n)
	}
	return nil
}

// newWebhook returns a server that answers the API server. It makes its own certificate, which the replicas share in a
// Secret, and writes the certificate authority into the webhook configuration.
func newWebhook(c *client.Client, namespace string, calls net.Listener) *webhook.Server {
	mux := http.NewServeMux()
	mux.Handle("/validate-page", webhook.Validate(Pages, validate))
	return &webhook.Server{
		Handler: mux, Listener: calls,
		Certificates: certificates.New(c, certificates.Options{
			Secret:     meta.Key{Namespace: namespace, Name: "page-operator-webhook"},
			Service:    meta.Key{Namespace: namespace, Name: "page-operator"},
			Validating: []string{"pages.example.com"},
		}),
	}
}

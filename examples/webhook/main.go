// Webhook refuses changes of a Site's host. It makes its own certificate, and writes the authority into its
// configuration, so it needs nothing but the API server. Its replicas share the certificate in a Secret.
//
//	kubectl apply -f examples/webhook/deployment.yaml -f examples/webhook/webhook.yaml -f examples/webhook/role.yaml
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	"github.com/bowline-go/bowline/informer"
)

// Site is the custom resource as this program sees it.
type Site struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Host string `json:"host"`
	} `json:"spec"`
}

// Sites is the resource on the server.
var Sites = client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}

// validate is asked about each create and update of a Site.
func validate(_ context.Context, r *webhook.Request[*Site]) error {
	if r.Operation == webhook.Update && r.Object.Spec.Host != r.Old.Spec.Host {
		return webhook.Invalid("spec.host", "must not change")
	}
	return nil
}

// run serves the webhook until ctx ends. probes may be nil.
func run(ctx context.Context, cfg client.Config, listener, probes net.Listener) error {
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	mux := http.NewServeMux()
	mux.Handle("/validate-site", webhook.Validate(Sites, validate))
	group := &informer.Group{StopTimeout: 20 * time.Second}
	group.Services = []informer.Runner{&webhook.Server{
		Handler: mux, Listener: listener,
		Certificates: certificates.New(c, certificates.Options{
			Secret:     meta.Key{Namespace: "default", Name: "site-webhook-certificate"},
			Service:    meta.Key{Namespace: "default", Name: "site-webhook"},
			Validating: []string{"sites"},
		}),
	}}
	if probes != nil {
		group.Services = append(group.Services, serve(probes, group.Handler()))
	}
	return group.Run(ctx)
}

// serve answers HTTP requests until its context ends.
func serve(l net.Listener, h http.Handler) informer.RunnerFunc {
	return func(ctx context.Context) error {
		s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
		defer context.AfterFunc(ctx, func() { _ = s.Close() })()
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}
}

func main() {
	address := flag.String("webhook", ":9443", "the address for the calls of the API server")
	probes := flag.String("probes", ":8081", "the address for /livez and /readyz")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	loaded, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		log.Fatal(err)
	}
	calls, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	health, err := net.Listen("tcp", *probes)
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, loaded.Config, calls, health); err != nil {
		log.Fatal(err)
	}
}

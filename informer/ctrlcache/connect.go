package ctrlcache

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// connect returns a client that sends its requests through the transport of an HTTP client, which has the TLS, the
// credentials, the proxy and the wrappers of cfg.
func connect(cfg *rest.Config, through *http.Client) (*client.Client, error) {
	server, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("rest.Config: Host: %w", err)
	}
	transport := through.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	if cfg.RateLimiter != nil {
		transport = &limited{transport, cfg.RateLimiter}
	}
	return client.New(client.Config{
		Server:    strings.TrimSuffix(server.String(), "/"),
		UserAgent: cmp.Or(cfg.UserAgent, rest.DefaultKubernetesUserAgent()),
		Wrap:      func(http.RoundTripper) http.RoundTripper { return transport },
		Protobuf:  protobuf.New(all.Tables()...),
		Hooks:     client.Hooks{Warning: warn(cfg)},
	})
}

// limited delays requests, except watches, as client-go does.
type limited struct {
	http.RoundTripper
	limiter flowcontrol.RateLimiter
}

func (l *limited) RoundTrip(r *http.Request) (*http.Response, error) {
	if !r.URL.Query().Has("watch") {
		if err := l.limiter.Wait(r.Context()); err != nil {
			return nil, fmt.Errorf("wait for rest.Config's RateLimiter: %w", err)
		}
	}
	return l.RoundTripper.RoundTrip(r)
}

// warn returns the function that receives the server's warnings. It is nil if cfg has none. The client then logs them,
// deduplicated, to controller-runtime's logger, which is in the context of the informers.
func warn(cfg *rest.Config) func(context.Context, client.Warning) {
	const miscellaneous = 299 // the only code of Kubernetes' warnings
	switch {
	case cfg.WarningHandlerWithContext != nil:
		return func(ctx context.Context, w client.Warning) {
			cfg.WarningHandlerWithContext.HandleWarningHeaderWithContext(ctx, miscellaneous, w.Agent, w.Text)
		}
	case cfg.WarningHandler != nil:
		return func(_ context.Context, w client.Warning) {
			cfg.WarningHandler.HandleWarningHeader(miscellaneous, w.Agent, w.Text)
		}
	}
	return nil
}

// wantsJSON reports whether cfg asks for JSON.
func wantsJSON(cfg *rest.Config) bool {
	return cfg.ContentType != "" && !strings.Contains(cfg.ContentType, "protobuf")
}

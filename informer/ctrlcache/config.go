package ctrlcache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/all"
	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"
)

// Config returns a configuration of package client that reaches the same server as cfg, with the same authorities,
// identity, proxy and wrapper: a program that has a manager gets a client of this module with it. [RESTConfig] is the
// reverse.
//
//   - The client reads certificates and token files again when they change, as client-go does.
//   - With ExecProvider, AuthProvider, Transport or NextProtos, requests go through client-go's transport, because only
//     client-go supports them.
//   - If QPS is positive, QPS and Burst become a Limiter. RateLimiter delays requests as it does in client-go. Neither
//     delays watches. If all three are zero, nothing limits the rate, whereas client-go limits it to 5 requests a
//     second.
//   - A ContentType or AcceptContentTypes with protobuf becomes Protobuf. Types of custom resources and all writes stay
//     JSON.
//   - WarningHandler and WarningHandlerWithContext become Hooks.Warning.
//
// Config returns an error that names every field of cfg that would have no effect. Timeout must be zero, because a
// context limits how long a call takes. APIPath, GroupVersion and NegotiatedSerializer must be zero, because a
// client.Type says where a resource is and how its objects are decoded. It also returns an error if cfg is nil, if Host
// is no URL, or if client-go refuses its transport.
func Config(cfg *rest.Config) (client.Config, error) {
	if cfg == nil {
		return client.Config{}, errors.New("rest.Config must not be nil")
	}
	if err := withoutEffect(cfg); err != nil {
		return client.Config{}, err
	}
	server, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return client.Config{}, fmt.Errorf("rest.Config: Host: %w", err)
	}
	made := client.Config{
		Server:       strings.TrimSuffix(server.String(), "/"),
		UserAgent:    cmp.Or(cfg.UserAgent, rest.DefaultKubernetesUserAgent()),
		Uncompressed: cfg.DisableCompression,
		Hooks:        client.Hooks{Warning: warn(cfg)},
	}
	if isProtobuf(cfg) {
		made.Protobuf = protobuf.New(all.Tables()...)
	}
	if cfg.Transport != nil || cfg.ExecProvider != nil || cfg.AuthProvider != nil || len(cfg.NextProtos) > 0 {
		through, err := rest.TransportFor(cfg)
		if err != nil {
			return client.Config{}, fmt.Errorf("rest.Config: make its transport: %w", err)
		}
		made.Wrap = func(http.RoundTripper) http.RoundTripper { return through }
	} else {
		identify(&made, cfg)
	}
	limit(&made, cfg)
	return made, nil
}

// identify copies the settings that client-go's transport would apply.
func identify(made *client.Config, cfg *rest.Config) {
	made.BearerToken, made.BearerTokenFile = client.Secret(cfg.BearerToken), cfg.BearerTokenFile
	made.Username, made.Password = cfg.Username, client.Secret(cfg.Password)
	made.TLS = client.TLS{
		Insecure: cfg.Insecure, ServerName: cfg.ServerName,
		CAFile: cfg.CAFile, CertFile: cfg.CertFile, KeyFile: cfg.KeyFile,
		CAData: client.Secret(cfg.CAData), CertData: client.Secret(cfg.CertData), KeyData: client.Secret(cfg.KeyData),
	}
	made.Dial, made.Proxy, made.Wrap = cfg.Dial, cfg.Proxy, cfg.WrapTransport
	if as := cfg.Impersonate; as.UserName != "" || as.UID != "" || len(as.Groups) > 0 || len(as.Extra) > 0 {
		made.Impersonate = &client.Subject{
			User: as.UserName, UID: as.UID, Groups: slices.Clone(as.Groups), Extra: maps.Clone(as.Extra),
		}
	}
}

// limit limits the rate of requests as cfg says.
func limit(made *client.Config, cfg *rest.Config) {
	switch wrap := made.Wrap; {
	case cfg.RateLimiter != nil:
		made.Wrap = func(rt http.RoundTripper) http.RoundTripper {
			if wrap != nil {
				rt = wrap(rt)
			}
			return &limited{rt, cfg.RateLimiter}
		}
	case cfg.QPS > 0:
		made.Limiter = rate.NewLimiter(rate.Limit(cfg.QPS), cmp.Or(cfg.Burst, rest.DefaultBurst))
	}
}

// isProtobuf reports whether cfg asks for protobuf.
func isProtobuf(cfg *rest.Config) bool {
	return strings.Contains(cmp.Or(cfg.AcceptContentTypes, cfg.ContentType), "protobuf")
}

// withoutEffect names the fields that package client has no counterpart for.
func withoutEffect(cfg *rest.Config) error {
	var errs []error
	for _, field := range []struct {
		name    string
		set     bool
		instead string
	}{
		{"Timeout", cfg.Timeout != 0, "give each call a context with a deadline"},
		{"APIPath", cfg.APIPath != "", "a client.Type says where a resource is"},
		{"GroupVersion", cfg.GroupVersion != nil, "a client.Type says which version a resource has"},
		{"NegotiatedSerializer", cfg.NegotiatedSerializer != nil, "a client.Type says how objects are decoded"},
		{"AuthConfigPersister", cfg.AuthConfigPersister != nil && cfg.AuthProvider == nil, "it has no effect without AuthProvider"},
	} {
		if field.set {
			errs = append(errs, fmt.Errorf("rest.Config: %s must be zero for package client: %s", field.name, field.instead))
		}
	}
	return errors.Join(errs...)
}

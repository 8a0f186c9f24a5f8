package ctrlcache

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client"
	"k8s.io/client-go/rest"
)

// RESTConfig returns a configuration of client-go that reaches the same server as cfg: over the same connections, proxy
// and wrapper, and with the same authorities, identity and user agent. It sets no limit on the rate of requests, as
// [client.Config] has none by default. To limit the rate, set QPS and Burst of the result. [Config] is the reverse.
//
// RESTConfig returns an error that names every field of cfg that client-go cannot honor: Credentials, Limiter, Retry,
// StallTimeout, MaxObject, Protobuf, Hooks and Logger must be zero.
func RESTConfig(cfg client.Config) (*rest.Config, error) {
	if err := refused(cfg); err != nil {
		return nil, err
	}
	made := &rest.Config{
		Host:            cfg.Server,
		BearerToken:     string(cfg.BearerToken),
		BearerTokenFile: cfg.BearerTokenFile,
		Username:        cfg.Username,
		Password:        string(cfg.Password),
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: cfg.TLS.Insecure, ServerName: cfg.TLS.ServerName,
			CAFile: cfg.TLS.CAFile, CertFile: cfg.TLS.CertFile, KeyFile: cfg.TLS.KeyFile,
			CAData: bytesOf(cfg.TLS.CAData), CertData: bytesOf(cfg.TLS.CertData), KeyData: bytesOf(cfg.TLS.KeyData),
		},
		UserAgent:          cmp.Or(cfg.UserAgent, rest.DefaultKubernetesUserAgent()),
		DisableCompression: cfg.Uncompressed,
		Dial:               cfg.Dial,
		Proxy:              cfg.Proxy,
		WrapTransport:      cfg.Wrap,
		QPS:                -1,
	}
	if as := cfg.Impersonate; as != nil {
		made.Impersonate = rest.ImpersonationConfig{
			UserName: as.User, UID: as.UID, Groups: slices.Clone(as.Groups), Extra: maps.Clone(as.Extra),
		}
	}
	return made, nil
}

// bytesOf returns nil for an empty secret, which client-go takes for one that is not set.
func bytesOf(s client.Secret) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// refused names the fields that client-go has no counterpart for.
func refused(cfg client.Config) error {
	var errs []error
	for _, field := range []struct {
		name    string
		set     bool
		instead string
	}{
		{"Credentials", cfg.Credentials != nil, "set AuthProvider or ExecProvider of the rest.Config"},
		{"Limiter", cfg.Limiter != nil, "set RateLimiter of the rest.Config"},
		{"Retry", cfg.Retry != client.Retry{}, "client-go has its own rules for retries"},
		{"StallTimeout", cfg.StallTimeout != 0, "client-go does not bound pauses"},
		{"MaxObject", cfg.MaxObject != 0, "client-go does not bound the size of an object"},
		{"Protobuf", cfg.Protobuf != nil, "set ContentType of the rest.Config"},
		{"Hooks", !reflect.ValueOf(cfg.Hooks).IsZero(), "set WarningHandler and WrapTransport of the rest.Config"},
		{"Logger", !cfg.Logger.IsZero(), "client-go logs by klog"},
	} {
		if field.set {
			errs = append(errs, fmt.Errorf("client.Config: %s must be zero for client-go: %s", field.name, field.instead))
		}
	}
	return errors.Join(errs...)
}

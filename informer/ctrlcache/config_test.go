package ctrlcache_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func ExampleConfig() {
	// A program with a manager has a rest.Config.
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	restConfig := &rest.Config{Host: server.Config().Server, Dial: server.Config().Dial}

	config, err := ctrlcache.Config(restConfig)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	namespaces := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	namespace, err := namespaces.Get(ctx, meta.Key{Name: "default"})
	fmt.Println(namespace.Name, err)
	c.Close()
	stop()
	fmt.Println(<-ended)
	// Output:
	// default <nil>
	// <nil>
}

// asks sends a list and a watch with a configuration, and returns the headers of the list.
func asks(t *testing.T, cfg *rest.Config) http.Header {
	t.Helper()
	var seen atomic.Pointer[http.Header]
	wrap := cfg.WrapTransport
	cfg.WrapTransport = func(rt http.RoundTripper) http.RoundTripper {
		if wrap != nil {
			rt = wrap(rt)
		}
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if !r.URL.Query().Has("watch") {
				seen.Store(&r.Header)
			}
			return rt.RoundTrip(r)
		})
	}
	made, err := ctrlcache.Config(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(made)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pods := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "Pod", Resource: "pods"})
	list, err := pods.List(t.Context(), client.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range pods.Watch(ctx, client.WatchOptions{ResourceVersion: list.ResourceVersion}) {
		continue
	}
	if header := seen.Load(); header != nil {
		return *header
	}
	t.Fatal("no request came through the wrapper")
	return nil
}

func TestAClientOfAConfigHasItsIdentity(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{TLS: true, Token: "secret"})
	c := server.Config()
	plain := func() *rest.Config {
		return &rest.Config{
			Host: c.Server, Dial: c.Dial, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.TLS.CAData)}, UserAgent: "program",
			Impersonate: rest.ImpersonationConfig{UserName: "anna", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"scope": {"x"}}},
		}
	}
	for name, identify := range map[string]func(*rest.Config){
		"a token": func(cfg *rest.Config) { cfg.BearerToken = "secret" },
		"a plugin": func(cfg *rest.Config) {
			cfg.ExecProvider = &clientcmdapi.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode, Command: "echo",
				Args: []string{`{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"secret"}}`},
			}
		},
		"protocols":   func(cfg *rest.Config) { cfg.BearerToken, cfg.NextProtos = "secret", []string{"http/1.1"} },
		"a transport": func(cfg *rest.Config) { throughTransport(t, cfg); cfg.BearerToken = "secret" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := plain()
			identify(cfg)
			header := asks(t, cfg)
			for name, want := range map[string][]string{
				"User-Agent": {"program"}, "Impersonate-User": {"anna"}, "Impersonate-Uid": {"1"}, "Impersonate-Group": {"a", "b"},
				"Impersonate-Extra-Scope": {"x"},
			} {
				var got []string
				for key, values := range header {
					if strings.EqualFold(key, name) {
						got = append(got, values...)
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

// throughTransport replaces the TLS and the dialer of a configuration by a transport that has them.
func throughTransport(t *testing.T, cfg *rest.Config) {
	t.Helper()
	tls, err := rest.TLSConfigFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: tls, DialContext: cfg.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	cfg.Transport, cfg.TLSClientConfig, cfg.Dial = transport, rest.TLSClientConfig{}, nil
}

// There and back, a configuration is the same.
func TestAConfigThatComesBackIsTheSame(t *testing.T) {
	want := client.Config{
		Server: "https://example.com/prefix", BearerToken: "t", BearerTokenFile: "token", UserAgent: "program", Uncompressed: true,
		Impersonate: &client.Subject{User: "anna", UID: "1", Groups: []string{"a"}, Extra: map[string][]string{"scope": {"x"}}},
		TLS:         client.TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key", CAData: "a", CertData: "b", KeyData: "c", ServerName: "name"},
		Proxy:       func(*http.Request) (*url.URL, error) { return nil, nil },
		Dial:        clienttest.New(clienttest.Options{}).Config().Dial,
		Wrap:        func(rt http.RoundTripper) http.RoundTripper { return rt },
	}
	for _, want := range []client.Config{want, {Server: "http://example.com", Username: "u", Password: "p", UserAgent: "a", TLS: client.TLS{Insecure: true}}} {
		there, err := ctrlcache.RESTConfig(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ctrlcache.Config(there)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Proxy == nil) != (want.Proxy == nil) || (got.Dial == nil) != (want.Dial == nil) || (got.Wrap == nil) != (want.Wrap == nil) {
			t.Errorf("functions are missing in %+v", got)
		}
		got.Proxy, got.Dial, got.Wrap, want.Proxy, want.Dial, want.Wrap = nil, nil, nil, nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, want %#v", got, want)
		}
	}
}

func TestAConfigLimitsTheRateAsItSays(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	limiter := &counting{}
	asks(t, &rest.Config{Host: server.Config().Server, Dial: server.Config().Dial, RateLimiter: limiter, QPS: 1})
	if waits := limiter.waits.Load(); waits != 1 {
		t.Errorf("%d requests have waited, want 1 of a list and a watch", waits)
	}
	for _, test := range []struct {
		qps         float32
		burst       int
		limit, most float64
	}{{0, 0, 0, 0}, {-1, 3, 0, 0}, {2.5, 0, 2.5, 10}, {7, 3, 7, 3}} {
		made, err := ctrlcache.Config(&rest.Config{Host: "example.com", QPS: test.qps, Burst: test.burst})
		if err != nil {
			t.Fatal(err)
		}
		if test.limit == 0 {
			if made.Limiter != nil {
				t.Errorf("QPS %v has the limiter %v, want none", test.qps, made.Limiter)
			}
		} else if made.Limiter == nil || float64(made.Limiter.Limit()) != test.limit || float64(made.Limiter.Burst()) != test.most {
			t.Errorf("QPS %v and Burst %d have the limiter %+v", test.qps, test.burst, made.Limiter)
		}
	}
}

func TestAConfigAsksForProtobufIfItSaysSo(t *testing.T) {
	const protobuf = "application/vnd.kubernetes.protobuf"
	for content, want := range map[rest.ContentConfig]bool{
		{}:                                false,
		{ContentType: "application/json"}: false,
		{ContentType: protobuf}:           true,
		{ContentType: protobuf, AcceptContentTypes: "application/json"}: false,
		{AcceptContentTypes: protobuf + ",application/json"}:            true,
	} {
		made, err := ctrlcache.Config(&rest.Config{Host: "example.com", ContentConfig: content})
		if err != nil || (made.Protobuf != nil) != want {
			t.Errorf("%+v: protobuf is %v, want %t; error %v", content, made.Protobuf, want, err)
		}
	}
}

func TestAConfigPassesWarningsOn(t *testing.T) {
	heard := warnings{make(chan string, 1)}
	made, err := ctrlcache.Config(&rest.Config{Host: "example.com", WarningHandler: heard})
	if err != nil {
		t.Fatal(err)
	}
	made.Hooks.Warning(t.Context(), client.Warning{Text: "deprecated"})
	if got := <-heard.got; got != "deprecated" {
		t.Errorf("the handler has heard %q", got)
	}
}

func TestFieldsOfAConfigWithoutEffectAreRefusedByName(t *testing.T) {
	for name, cfg := range map[string]*rest.Config{
		"rest.Config must not be nil":       nil,
		"rest.Config: Host":                 {Host: "http://[::1"},
		"Timeout must be zero":              {Timeout: time.Second},
		"APIPath must be zero":              {APIPath: "/api"},
		"GroupVersion must be zero":         {ContentConfig: rest.ContentConfig{GroupVersion: &schema.GroupVersion{Version: "v1"}}},
		"NegotiatedSerializer must be zero": {ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs}},
		"AuthConfigPersister must be zero":  {AuthConfigPersister: persister{}},
		"rest.Config: make its transport": {
			Transport: http.DefaultTransport, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x"), Insecure: true},
		},
	} {
		if _, err := ctrlcache.Config(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	for of, fields := range map[reflect.Type]int{
		reflect.TypeFor[rest.Config](): 24, reflect.TypeFor[rest.TLSClientConfig](): 9, reflect.TypeFor[rest.ContentConfig](): 4,
		reflect.TypeFor[rest.ImpersonationConfig](): 4,
	} {
		if of.NumField() != fields {
			t.Errorf("%v has %d fields: Config must carry or refuse each of them", of, of.NumField())
		}
	}
}

type persister struct {
	rest.AuthProviderConfigPersister
}

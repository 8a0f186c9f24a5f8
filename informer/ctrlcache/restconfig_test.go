package ctrlcache_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func ExampleRESTConfig() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	cfg, err := ctrlcache.RESTConfig(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	clientset, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	namespace, err := clientset.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
	fmt.Println(namespace.Name, err)
	stop()
	fmt.Println(<-ended)
	// Output:
	// default <nil>
	// <nil>
}

func TestAConfigurationReachesTheSameServerWithTheSameIdentity(t *testing.T) {
	var last *http.Request
	server := clienttest.Start(t, clienttest.Options{Token: "secret"})
	cfg := server.Config()
	cfg.UserAgent = "program"
	cfg.Impersonate = &client.Subject{User: "anna", UID: "1", Groups: []string{"a", "b"}, Extra: map[string][]string{"scope": {"x"}}}
	cfg.Uncompressed = true
	cfg.Wrap = func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			last = r
			return inner.RoundTrip(r)
		})
	}
	made, err := ctrlcache.RESTConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	clientset, err := kubernetes.NewForConfig(made)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clientset.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"Authorization": {"Bearer secret"}, "User-Agent": {"program"}, "Impersonate-User": {"anna"}, "Impersonate-Uid": {"1"},
		"Impersonate-Group": {"a", "b"}, "Impersonate-Extra-Scope": {"x"},
	} {
		if got := last.Header.Values(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if made.QPS >= 0 || !made.DisableCompression {
		t.Errorf("QPS is %v and DisableCompression is %v, want a negative number and true", made.QPS, made.DisableCompression)
	}
}

func TestAConfigurationKeepsFilesCertificatesPasswordsAndTheProxy(t *testing.T) {
	proxy := func(*http.Request) (*url.URL, error) { return nil, nil }
	made, err := ctrlcache.RESTConfig(client.Config{
		Server: "https://example.com/prefix", BearerTokenFile: "token", Username: "u", Password: "p", Proxy: proxy,
		TLS: client.TLS{
			CAFile: "ca", CertFile: "cert", KeyFile: "key", CAData: "a", CertData: "b", KeyData: "c", ServerName: "name", Insecure: true,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := rest.TLSClientConfig{
		CAFile: "ca", CertFile: "cert", KeyFile: "key", CAData: []byte("a"), CertData: []byte("b"), KeyData: []byte("c"),
		ServerName: "name", Insecure: true,
	}
	if made.Host != "https://example.com/prefix" || made.BearerTokenFile != "token" || made.Username != "u" || made.Password != "p" ||
		made.Proxy == nil || made.UserAgent != rest.DefaultKubernetesUserAgent() || !reflect.DeepEqual(made.TLSClientConfig, want) {
		t.Errorf("the configuration is %#v", made)
	}
}

func TestFieldsThatClientGoCannotHonorAreRefusedByName(t *testing.T) {
	refused := map[string]client.Config{
		"Limiter":      {Limiter: rate.NewLimiter(1, 1)},
		"Retry":        {Retry: client.Retry{Attempts: 1}},
		"StallTimeout": {StallTimeout: time.Second},
		"MaxObject":    {MaxObject: 1},
		"Protobuf":     {Protobuf: protobuf.New()},
		"Hooks":        {Hooks: client.Hooks{Warning: func(context.Context, client.Warning) {}}},
		"Logger":       {Logger: logr.Discard().WithName("a")},
		"Credentials":  {Credentials: client.NewCredentials(nil)},
	}
	refused["Logger"] = client.Config{Logger: logr.FromSlogHandler(nil)}
	for name, cfg := range refused {
		if _, err := ctrlcache.RESTConfig(cfg); err == nil || !strings.Contains(err.Error(), "client.Config: "+name+" must be zero") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if fields := reflect.TypeFor[client.Config]().NumField(); fields != 21 {
		t.Errorf("client.Config has %d fields: RESTConfig must carry or refuse each of them", fields)
	}
}

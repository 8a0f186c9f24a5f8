package ctrlcache_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// counting is a rate limiter that counts.
type counting struct{ waits atomic.Int32 }

func (l *counting) Wait(context.Context) error { l.waits.Add(1); return nil }
func (l *counting) TryAccept() bool            { return true }
func (l *counting) Accept()                    {}
func (l *counting) Stop()                      {}
func (l *counting) QPS() float32               { return 1 }

// warnings notes the server's warnings.
type warnings struct{ got chan string }

func (w warnings) HandleWarningHeader(_ int, _, text string) { w.got <- text }

func (w warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.got <- "in a context: " + text
}

func TestTheCacheUsesTheSettingsOfTheConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{Token: "secret"})
		transport := w.http.Transport
		limiter, warned := &counting{}, warnings{make(chan string, 10)}
		w.config.RateLimiter, w.config.WarningHandler = limiter, warned
		w.config.BearerToken = "not used, because the HTTP client has the token"
		w.config.UserAgent = "operator/1"
		w.http = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer secret")
			return transport.RoundTrip(r)
		})}
		var agents, accepts atomic.Value
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Resource.Resource != "pods" {
				return nil
			}
			agents.Store(r.UserAgent())
			accepts.Store(r.Header.Get("Accept"))
			if r.URL.Query().Has("watch") && r.URL.Query().Has("sendInitialEvents") { // so that it lists
				return func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Warning", `299 - "pods are old"`)
					w.WriteHeader(http.StatusUnprocessableEntity)
				}
			}
			return nil
		})
		for _, test := range []struct{ contentType, want string }{
			{"", "application/vnd.kubernetes.protobuf"},
			{"application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf"},
			{"application/json", "application/json"},
		} {
			w.config.ContentType = test.contentType
			c := w.started(ctrlcache.Options{}, cache.Options{})
			waits := limiter.waits.Load()
			must(t, c.List(t.Context(), &corev1.PodList{}))
			if got, _ := accepts.Load().(string); !strings.HasPrefix(got, test.want) {
				t.Errorf("with %q it asks for %q", test.contentType, got)
			}
			if limiter.waits.Load() == waits {
				t.Error("the limiter is not asked")
			}
			if got := <-warned.got; got != "pods are old" {
				t.Errorf("the warning is %q", got)
			}
		}
		if got := agents.Load(); got != "operator/1" {
			t.Errorf("the agent is %q", got)
		}
		w.config.WarningHandlerWithContext = warned
		c := w.started(ctrlcache.Options{}, cache.Options{})
		must(t, c.Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{}))
		must(t, c.List(t.Context(), &corev1.PodList{}))
		if got := <-warned.got; got != "in a context: pods are old" {
			t.Errorf("the warning is %q", got)
		}
	})
}

// roundTripper is a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheHTTPClientIsMadeOfTheConfig(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{TLS: true, Token: "secret"})
	c := server.Config()
	made, err := ctrlcache.New(&rest.Config{
		Host: c.Server, Dial: c.Dial, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.TLS.CAData)},
	}, cache.Options{})
	must(t, err)
	if _, err := made.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- made.Start(ctx) }()
	if !made.WaitForCacheSync(ctx) {
		t.Error("it does not sync")
	}
	stop()
	must(t, <-done)
}

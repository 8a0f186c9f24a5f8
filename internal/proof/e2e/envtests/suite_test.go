package envtests

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/bowline-go/bowline/internal/controlplane"
)

// crds is the folder of the project with its definitions.
const crds = "config/crd"

// environment is a server, and the operator with one cache.
type environment struct {
	name   string
	server func(t *testing.T) *rest.Config
	cache  cache.NewCacheFunc
}

// environments are those in which the suite runs. A real server is shared by its two.
func environments(real func(t *testing.T) *rest.Config) []environment {
	return []environment{
		{"clienttest", inside, cache.New},
		{"clienttest, ctrlcache", inside, ctrlcache.New},
		{"clienttest, definitions of envtest", installed(empty), cache.New},
		{"kube-apiserver", real, cache.New},
		{"kube-apiserver, ctrlcache", real, ctrlcache.New},
	}
}

// inside starts clienttest with the definitions of the project.
func inside(t *testing.T) *rest.Config {
	return configOf(clienttest.Start(t, clienttest.Options{CRDs: []string{crds}, Rules: cel.Rules()}))
}

// empty starts clienttest without definitions.
func empty(t *testing.T) *rest.Config {
	return configOf(clienttest.Start(t, clienttest.Options{Rules: cel.Rules()}))
}

func configOf(s *clienttest.Server) *rest.Config {
	c := s.Config()
	return &rest.Config{Host: c.Server, Dial: c.Dial, QPS: -1}
}

// installed lets envtest install the definitions in a server.
func installed(server func(t *testing.T) *rest.Config) func(t *testing.T) *rest.Config {
	return func(t *testing.T) *rest.Config {
		e := &envtest.Environment{Config: server(t), UseExistingCluster: new(true), CRDDirectoryPaths: []string{crds}, ErrorIfCRDPathMissing: true}
		config, err := e.Start()
		must(t, err)
		t.Cleanup(func() { must(t, e.Stop()) })
		return config
	}
}

// startReal starts a kube-apiserver.
func startReal(t *testing.T) *rest.Config {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, plane.Stop()) })
	return &rest.Config{Host: plane.Server, BearerToken: plane.Token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA}}
}

// start starts the operator, and returns a client that has no cache.
func (e environment) start(t *testing.T) client.Client {
	t.Helper()
	config := e.server(t)
	s := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(s))
	addToScheme(s)
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: s, NewCache: e.cache, Metrics: metricsserver.Options{BindAddress: "0"}})
	must(t, err)
	must(t, reconciler{mgr.GetClient()}.setup(mgr))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	c, err := client.New(config, client.Options{Scheme: s})
	must(t, err)
	return c
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually reads an object until it is as a condition says.
func eventually[T client.Object](t *testing.T, c client.Client, o T, what string, met func(o T) bool) T {
	t.Helper()
	const patience, interval = 30 * time.Second, 50 * time.Millisecond
	for begin := time.Now(); ; time.Sleep(interval) {
		err := c.Get(t.Context(), keyOf(o), o)
		if err == nil && met(o) {
			return o
		}
		if time.Since(begin) > patience {
			t.Fatalf("%s of %T %s: it is %+v, %v", what, o, o.GetName(), o, err)
		}
	}
}

package clusters_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

// configMap is an object of the clusters.
type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var configMaps = client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// site is a cluster: its server, and what the controller has of it.
type site struct {
	name   string
	server *clienttest.Server
	client *client.Client
	maps   client.Resource[*configMap]
	cache  *informer.Informer[*configMap]
}

// newSite starts a server in the bubble of t.
func newSite(t *testing.T, name string) *site {
	t.Helper()
	s := &site{name: name, server: clienttest.Start(t, clienttest.Options{})}
	s.connect(t)
	return s
}

// connect makes a new client and a new informer, as a program does for a cluster that comes.
func (s *site) connect(t *testing.T) {
	t.Helper()
	c, err := client.New(s.server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.client, s.maps = c, client.For(c, configMaps)
	s.cache = informer.New(s.maps, informer.Options{Name: s.name, Namespace: "default", OnError: func(error) {}})
}

// watch is the source of the site.
func (s *site) watch() controller.Source[meta.Key] { return controller.Watch(s.cache) }

// create makes a config map, with the admin's own client, which no fault of the server concerns.
func (s *site) create(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := s.maps.Create(t.Context(), &configMap{ObjectMeta: at(name).ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
}

func at(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

func in(cluster, name string) clusters.Key { return clusters.Key{Cluster: cluster, Key: at(name)} }

// log notes reconciles.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// take returns what was noted since the last call, in order of the alphabet.
func (l *log) take() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.lines)
	all := strings.Join(l.lines, ", ")
	l.lines = nil
	return all
}

func (l *log) want(t *testing.T, what, want string) {
	t.Helper()
	if got := l.take(); got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// note is a function that notes its keys.
func (l *log) note(_ context.Context, _ *site, k clusters.Key) (controller.Result, error) {
	l.add("%s:%s", k.Cluster, k.Name)
	return controller.Result{}, nil
}

// start runs r until the function that it returns is called, which checks that it returned nil.
func start(t *testing.T, r informer.Runner) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, r) }()
	synctest.Wait()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	}
}

func mustAdd(t *testing.T, c *clusters.Controller[*site], s *site, more ...controller.Source[meta.Key]) {
	t.Helper()
	if err := c.Add(s.name, s, append(more, s.watch())...); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func mustRemove(t *testing.T, c *clusters.Controller[*site], name string) {
	t.Helper()
	if err := c.Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// wantQuiet checks that a server has no watches. It learns of their end last: net/http may read on for 50 ms when a body is closed.
func wantQuiet(t *testing.T, s *site) {
	t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	if n := s.server.Watches(); n != 0 {
		t.Errorf("%d watches of %s, want none", n, s.name)
	}
	if state := s.cache.Status().State; state != informer.Idle {
		t.Errorf("the informer of %s is %v", s.name, state)
	}
}

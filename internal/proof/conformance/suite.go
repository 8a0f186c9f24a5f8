package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	tables "github.com/bowline-go/bowline/client/protobuf"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Run runs the suite against the server of cfg, which serves [Widgets], [Gadgets] and [Gizmos], and whose credentials
// may do everything. It leaves namespaces behind whose names begin with "conformance-".
func Run(t *testing.T, cfg client.Config) {
	s := newSuite(t, cfg)
	for _, test := range []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"create", testCreate},
		{"get", testGet},
		{"list", testList},
		{"paging", testPaging},
		{"shard selectors that are ignored", testIgnoredShards},
		{"selectors", testSelectors},
		{"update", testUpdate},
		{"modify", testModify},
		{"projection", testProjection},
		{"ensure", testEnsure},
		{"ensure together", testEnsureTogether},
		{"finalizer calls", testFinalizerCalls},
		{"finalizers together", testFinalizersTogether},
		{"owners", testOwners},
		{"patch", testPatch},
		{"patches", testPatches},
		{"delete", testDelete},
		{"what a deletion waits for", testPropagation},
		{"grace period", testGracePeriod},
		{"preconditions of a deletion", testDeletePreconditions},
		{"finalizers", testFinalizers},
		{"status", testStatus},
		{"a subresource that is missing", testMissingSubresource},
		{"what is not served", testNotServed},
		{"metadata of a subresource", testMetadataOfASubresource},
		{"deletecollection", testDeleteCollection},
		{"versions of a list", testVersions},
		{"scale", testScale},
		{"eviction", testEviction},
		{"binding", testBinding},
		{"resize", testResize},
		{"finalize", testFinalize},
		{"token", testToken},
		{"approval", testApproval},
		{"records", testRecords},
		{"reviews", testReviews},
		{"field validation", testFieldValidation},
		{"unknown fields", testUnknownFields},
		{"dry run", testDryRun},
		{"managed fields", testManagedFields},
		{"ownership of fields", testOwnership},
		{"apply", testApply},
		{"watch", testWatch},
		{"watch with a selector", testWatchSelector},
		{"bookmarks", testBookmarks},
		{"streaming list", testStreamingList},
		{"too large version", testTooLargeVersion},
		{"shape of bookmarks", testBookmarkShape},
		{"bad requests", testBadRequests},
		{"metadata that is refused", testMetadata},
		{"odd requests", testOddRequests},
		{"numbers", testNumbers},
		{"YAML", testYAML},
		{"forms of objects", testForms},
		{"protobuf", testProtobuf},
		{"protobuf of custom resources", testProtobufOfCustomResources},
		{"watches in protobuf", testProtobufWatch},
		{"members that are always there", testWritten},
		{"generated names", testGeneratedNames},
		{"timeout", testTimeout},
		{"tables", testTables},
		{"drop is ignored", testDropIsIgnored},
		{"one object, and counts", testOneAndCount},
		{"reviews of selectors", testReviewsOfSelectors},
		{"discovery", testDiscovery},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s)
		})
	}
}

// RunProtobuf runs the suite with a client that asks for lists and watches as protobuf. It fails if the client gets
// none.
func RunProtobuf(t *testing.T, cfg client.Config) {
	cfg.Protobuf = tables.New(groupTables()...)
	var answers atomic.Int64
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper { return protobufCounter{next, &answers} }
	t.Run("suite", func(t *testing.T) { Run(t, cfg) }) // returns after the parallel tests in it
	if answers.Load() == 0 {
		t.Error("no answer came as protobuf; a part of the suite that reads no list, by -run, has none")
	}
}

// RunDefinitions is the part of the suite about CustomResourceDefinitions, which change what discovery says while they
// come and go.
func RunDefinitions(t *testing.T, cfg client.Config) {
	s := newSuite(t, cfg)
	for _, test := range []struct {
		name string
		run  func(*testing.T, suite)
	}{
		{"versions, status and scale", testDefinition},
		{"changes", testChangedDefinition},
		{"names", testNamesOfDefinitions},
		{"deletion", testDeletedDefinition},
		{"what is refused", testWrongDefinitions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, s)
		})
	}
}

// RunExpired is the part of the suite about lists and watches that the server cannot continue. forget makes the server
// forget everything until now, which would disturb the rest of the suite.
func RunExpired(t *testing.T, cfg client.Config, forget func()) {
	s := newSuite(t, cfg)
	t.Run("a watch", func(t *testing.T) { testExpiredWatch(t, s, forget) })
	t.Run("a list", func(t *testing.T) { testExpiredList(t, s, forget) })
}

func newSuite(t *testing.T, cfg client.Config) suite {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	version, err := discovery.New(c, discovery.Options{}).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return suite{
		cfg: cfg, client: c, is136: !version.AtLeast(1, 37),
		namespaces: client.For(c, Namespaces), configMaps: client.For(c, ConfigMaps),
		deployments: client.For(c, Deployments), leases: client.For(c, Leases),
	}
}

type suite struct {
	cfg         client.Config
	client      *client.Client
	is136       bool // the server is Kubernetes 1.36, some of whose errors have other words
	namespaces  client.Resource[*Namespace]
	configMaps  client.Resource[*ConfigMap]
	deployments client.Resource[*Deployment]
	leases      client.Resource[*Lease]
}

// in136 joins two texts into one: that of the latest server, and that of Kubernetes 1.36.
func in136(today, then string) string { return today + separator136 + then }

const separator136 = "\x00in 1.36: "

// words returns the text of this server: text itself unless in136 has made it.
func (s suite) words(text string) string {
	today, then, found := strings.Cut(text, separator136)
	if found && s.is136 {
		return then
	}
	return today
}

// namespace makes a namespace for one test.
func (s suite) namespace(t *testing.T) string {
	t.Helper()
	ns, err := s.namespaces.Create(t.Context(), &Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "conformance-"}})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// warned returns a new client, and a function that returns the warnings that it has received so far.
func (s suite) warned(t *testing.T) (c *client.Client, warnings func() []string) {
	t.Helper()
	var mu sync.Mutex
	var texts []string
	cfg := s.cfg
	cfg.Hooks.Warning = func(_ context.Context, w client.Warning) {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, w.Text)
	}
	c = must[*client.Client](t)(client.New(cfg))
	t.Cleanup(c.Close)
	return c, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(texts)
	}
}

// configMap creates a ConfigMap.
func (s suite) configMap(t *testing.T, namespace, name string, labels map[string]string) *ConfigMap {
	t.Helper()
	c, err := s.configMaps.Create(t.Context(), newConfigMap(namespace, name, labels))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newConfigMap(namespace, name string, labels map[string]string) *ConfigMap {
	return &ConfigMap{
		ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Data:       map[string]string{"k": "v"},
	}
}

// wantReason fails the test unless err is a Status of the server with the reason and the code.
func wantReason(t *testing.T, err error, reason apierrors.Reason, code int) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("error is %v, want %s (%d) from the server", err, reason, code)
	}
	if !errors.Is(err, reason) || status.Status.Code != code || status.Status.Reason != string(reason) {
		t.Fatalf("error is %v (reason %q, code %d), want %s (%d)", err, status.Status.Reason, status.Status.Code, reason, code)
	}
}

// wantStatus fails the test unless err is an answer of the server with the code.
func wantStatus(t *testing.T, err error, code int) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.Status.Code != code {
		t.Fatalf("error is %v, want code %d from the server", err, code)
	}
}

func equal[V comparable](t *testing.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%03d", prefix, i)
	}
	return names
}

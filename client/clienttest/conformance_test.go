package clienttest_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/proof/conformance"
	"github.com/bowline-go/bowline/internal/proof/conformance/calls"
)

// A server answers some requests of the suites only after seconds, so as many of them wait together as there are.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "100"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// The same suite runs against a real kube-apiserver in internal/proof/e2e.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, startForSuite(t).Config())
}

func TestConformanceInProtobuf(t *testing.T) {
	t.Parallel()
	conformance.RunProtobuf(t, startForSuite(t).Config())
}

func TestConformanceOfShards(t *testing.T) {
	t.Parallel()
	server := startForSuite(t)
	server.SetShardedLists(clienttest.ShardsServed)
	conformance.RunShards(t, server.Config())
}

func TestConformanceOfDefinitions(t *testing.T) {
	t.Parallel()
	conformance.RunDefinitions(t, startForSuite(t).Config())
}

func TestConformanceOfInstalls(t *testing.T) {
	t.Parallel()
	conformance.RunInstalls(t, clienttest.Start(t, clienttest.Options{}).Config())
}

func TestConformanceOfRoles(t *testing.T) {
	t.Parallel()
	conformance.RunRoles(t, clienttest.Start(t, clienttest.Options{RBAC: true}).Config())
}

// startForSuite starts a server that has the custom resources of the suite.
func startForSuite(t *testing.T) *clienttest.Server {
	t.Helper()
	text := strings.Join([]string{conformance.WidgetDefinition, conformance.GadgetDefinition, conformance.GizmoDefinition}, "\n---\n")
	return clienttest.Start(t, clienttest.Options{CRDs: []string{write(t, "definitions.yaml", text)}})
}

func TestConformanceOfExpiry(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	conformance.RunExpired(t, server.Config(), server.Compact)
}

// The same calls go to a real kube-apiserver in internal/proof/e2e. This server has no rules to list.
func TestEveryCallIsAccepted(t *testing.T) {
	t.Parallel()
	server := clienttest.Start(t, clienttest.Options{})
	calls.Run(t, server.Config(), "rules")
}

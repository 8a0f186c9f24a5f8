package clienttest_test

import (
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/conformance"
	"github.com/bowline-go/bowline/internal/wire"
)

// The same suite runs against a real kube-apiserver in internal/e2e.
func TestConformance(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	conformance.Run(t, server.Config())
}

func TestConformanceOfExpiry(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	conformance.RunExpired(t, server.Config(), server.Compact)
}

// The same calls go to a real kube-apiserver in internal/e2e. This server has no server-side apply, and no rules to list.
func TestEveryCallIsAccepted(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	wire.Run(t, server.Config(), "apply", "apply-options", "apply-paths", "apply-unstructured", "patch-apply", "patch-migrate", "status-apply", "rules")
}

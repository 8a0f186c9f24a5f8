package clienttest_test

import (
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/conformance"
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
